# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Reads include/vcx: fields, members and values, as numbers."""
import re

BYTES = {'__u8': 1, 'char': 1, 'vcx_be16': 2, 'vcx_be32': 4, 'vcx_be64': 8}
CONSTANT = re.compile(r'(0x[0-9a-fA-F]+|\d+)u?$')
SHIFT = re.compile(r'\(1u << (\d+)\)$')


def _plain(text):
    """Without comments and continuation lines."""
    return re.sub(r'/\*.*?\*/', ' ', text.replace('\\\n', ' '), flags=re.S)


def _number(text):
    """The value of a constant that is a number; None for other text."""
    text = text.strip()
    if CONSTANT.match(text):
        return int(text.rstrip('u'), 0)
    shift = SHIFT.match(text)
    return 1 << int(shift.group(1)) if shift else None


class Headers:
    """fields: name -> (byte, high, low); values: name -> number;
    members: structure -> {member: (offset, bytes)}; enumerated: enumeration ->
    names of its values."""

    def __init__(self, texts):
        self.fields, self.values, self.members, self.enumerated = {}, {}, {}, {}
        plain = '\n'.join(_plain(text) for text in texts)
        for name, byte, high, low in re.findall(
                r'#define\s+(\w+)\s+VCX_FIELD\(\w+, (\w+), (\d+), (\d+)\)', plain):
            self.fields[name] = (int(byte, 0), int(high), int(low))
        for name, byte in re.findall(
                r'#define\s+(\w+)\s+VCX_FIELD64\(\w+, (\w+)\)', plain):
            self.fields[name] = (int(byte, 0), 63, 0)
        for name, value in re.findall(r'#define[ \t]+(VCX_\w+)[ \t]+(.+)', plain):
            if _number(value) is not None:
                self.values[name] = _number(value)
        self._read_enums(plain)
        self._read_structures(plain)

    def _read_enums(self, plain):
        for enumeration, body in re.findall(r'\benum (\w+) \{(.*?)\}', plain, re.S):
            found = re.findall(r'(VCX_\w+)\s*=\s*([^,]+),', body)
            self.enumerated[enumeration] = [name for name, _ in found]
            for name, value in found:
                if _number(value) is not None:
                    self.values[name] = _number(value)

    def _read_structures(self, plain):
        sizes = {name: int(size, 0)
                 for name, size in re.findall(r'VCX_SIZE\((\w+), (0x\w+|\d+)\)', plain)}
        for name, body in re.findall(r'^struct (\w+) \{(.*?)^\};', plain, re.S | re.M):
            self.members[name] = self._members(body, sizes)

    def _members(self, body, sizes):
        at, found = 0, {}
        # A union is as large as its array of raw bytes.
        body = re.sub(r'union \{\s*__u8\s+raw\[(\d+)\];.*?\}\s*(\w+);',
                      r'__u8 \2[\1];', body, flags=re.S)
        for kind, name, count in re.findall(
                r'((?:struct\s+)?\w+)\s+(\w+)(?:\[(\w+)\])?\s*;', body):
            each = BYTES.get(kind) or sizes.get(kind.split()[-1])
            if not each:
                return {}
            size = each * (self._count(count) if count else 1)
            found[name] = (at, size)
            at += size
        return found

    def _count(self, text):
        return self.values[text] if text in self.values else int(text, 0)
