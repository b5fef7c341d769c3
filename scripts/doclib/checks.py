# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The checks of scripts/check-docs: generators of findings."""
import fnmatch
import os
import re
import subprocess

from . import markup
from .headers import Headers

WORD = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')
HYPHENATED = re.compile(r'[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)+')
IDENTIFIER = re.compile(r'(?:(?:struct|enum|class) )?~?(\w+(?:(?:::|\.|->)~?\w+)*)(?:\(\))?$')
FILE_NAME = re.compile(r'[\w.-]+\.(?:c|h|cc|py|rst|sh|txt|md|build|erofs|cpio|log)$')
PATH = re.compile(r'[\w.{},*+-]*/[\w.{},*+/-]*$')
# Made by builds, or of another machine: nothing that the tree could have.
NOT_OURS = re.compile(r'(/|~|build/|\$|providers/|drivers/net/)')


class Tree:
    """The files of a source tree, and the documents among them."""

    def __init__(self, top):
        self.top = top
        self.files = self._list()
        self.documents = {name: self._read(name) for name in self.files
                          if name == 'README.md' or
                          re.match(r'Documentation/[\w-]+\.rst$', name)}
        self.sources = {name: self._read(name) for name in self.files
                        if not re.match(r'README|Documentation/|LICENSES/|tests/docs/', name)}
        self.words, self.hyphenated = set(), set()
        for text in self.sources.values():
            self.words.update(WORD.findall(text))
            self.hyphenated.update(HYPHENATED.findall(text))
        self.paths = set(self.files)
        for name in self.files:
            while '/' in name:
                name = name.rpartition('/')[0]
                self.paths.add(name)
        self.headers = Headers([text for name, text in sorted(self.sources.items())
                                if re.match(r'include/vcx/\w+\.h$', name)])

    def _list(self):
        run = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others',
                              '--exclude-standard'], cwd=self.top, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if run.returncode == 0:
            names = run.stdout.decode().split('\0')
        else:
            names = [os.path.relpath(os.path.join(folder, name), self.top)
                     for folder, _, files in os.walk(self.top) for name in files]
            names = [name for name in names if not name.startswith(('build/', '.git/'))]
        return sorted(name for name in set(names)
                      if name and os.path.isfile(os.path.join(self.top, name)))

    def _read(self, name):
        with open(os.path.join(self.top, name), 'rb') as file:
            return file.read().decode('utf-8', errors='replace')

    def source(self, name):
        """A source's text; '' if there is no such file."""
        return self.sources.get(name, '')

    def make_targets(self):
        """Names of the targets of the Makefile."""
        return set(re.findall(r'^([a-z-]+):', self.source('Makefile'), re.M))

    def commands(self):
        """Commands: name -> (opcode, states, input, output)."""
        cmd = 'qemu-device/core/cmd/'
        handlers = {name: structures for name, *structures in re.findall(
            r'^CmdVerdict (\w+)\(Firmware& fw, const (\w+)& in,\s*const Call& call,\s*(\w+)& out',
            self.source(cmd + 'handlers.h'), re.M)}
        states = {'kBeforeEnable': 'D', 'kBeforeInit': 'E', 'kAfterInit': 'I',
                  'kAfterEnable': 'EI'}
        return {name: ('0x%03x' % self.headers.values['VCX_CMD_' + name], states[state],
                       *handlers.get(handler, ('?', '?')))
                for handler, name, state in re.findall(
                    r'Entry<(\w+)>::Make\(\s*VCX_CMD_(\w+),\s*"\w+",\s*(\w+)',
                    self.source(cmd + 'dispatch.cc'))}

    def counters(self):
        """Names of the counters: those of the core, and of its objects."""
        return set(re.findall(r'return "(\w+)"', self.source(
            'qemu-device/core/stats/counters.cc'))) - {'unknown'} | set(
                re.findall(r'"(objects_\w+)"', self.source('qemu-device/core/device.cc')))

    def properties(self):
        """Properties of the device: name -> limits as (min, max), or None."""
        text = self.source('qemu-device/glue/vcx_props.c')
        header = self.source('qemu-device/glue/vcx_pci.h')
        found = dict.fromkeys(('netdev', 'mac'))
        for name in re.findall(r'(?:DEFINE_PROP_\w+\(|property_add_str\(\w+, )"([\w-]+)"', text):
            found[name] = None
        for name, low, high in re.findall(
                r'\{ "([\w-]+)", (?:NULL|"\w+"),\s*offsetof\([^)]*\),\s*(\w+), ([^,]+),', text):
            found[name] = (_value(low, header), _value(high, header))
        return found


def _value(text, header):
    """A number, "1u << n", or the value of a macro in the header."""
    shift = re.match(r'1u << (\d+)$', text)
    if shift:
        return 1 << int(shift.group(1))
    if re.match(r'[A-Z]', text):
        text = re.search(r'#define %s\s+(\w+)' % text, header).group(1)
    return int(text, 0)


def _expand(pattern):
    """a/{b,c}.h -> a/b.h, a/c.h"""
    brace = re.search(r'\{([^{}]*)\}', pattern)
    if not brace:
        return [pattern]
    return [path for choice in brace.group(1).split(',')
            for path in _expand(pattern[:brace.start()] + choice + pattern[brace.end():])]


def _path_exists(tree, pattern):
    pattern = pattern.rstrip('/')
    if '*' in pattern:
        return any(fnmatch.fnmatchcase(path, pattern) or
                   fnmatch.fnmatchcase(path, '*/' + pattern) for path in tree.paths)
    return pattern in tree.paths or any(path.endswith('/' + pattern) for path in tree.paths)


def _missing_in_call(tree, words):
    """make or a script with its arguments: what of it does not exist."""
    if words[0] == 'make':
        for word in words[1:]:
            name = word.partition('=')[0]
            if '=' in word and not re.search(r'^%s \?=' % name, tree.source('Makefile'), re.M):
                yield 'make has no variable ' + name
            elif '=' not in word and word not in tree.make_targets():
                yield 'make has no target ' + word
        return
    script = words[0]
    if script not in tree.paths:
        yield 'there is no ' + script
        return
    text = tree.source(script) + '\n'.join(
        text for name, text in tree.sources.items()
        if name.startswith('scripts/vmlib/') and script == 'scripts/vm')
    for before, word in zip(words, words[1:]):
        # From here on it is the command line of another program.
        if script in ('scripts/vm', 'scripts/qemu-vcx') and not (
                word.startswith('--') or before.startswith('--')):
            break
        option = word.partition('=')[0]
        if re.match(r'--[a-z]', option) and option not in text and option != '--help':
            yield '%s has no option %s' % (script, option)
        if '/' in word and not NOT_OURS.match(word) and word.startswith('scripts/'):
            yield from _missing_in_call(tree, [word])


def _missing_links(tree, name, text):
    """`Title <file>`__: files that do not exist beside the document."""
    for target in re.findall(r'`[^`<]*<([^`>:]+)>`__', text):
        if os.path.join(os.path.dirname(name), target) not in tree.paths:
            yield 'there is no ' + target


def _missing_properties(tree, text):
    """-device vcx,NAME=VALUE,...: properties that do not exist."""
    for words in re.findall(r'-device vcx,(\S+)', text):
        for word in words.split(','):
            name = word.partition('=')[0]
            if name not in set(tree.properties()) | {'help', 'id', 'bus', 'addr'}:
                yield 'the device has no property ' + name


def _missing(tree, text):
    """What a literal names and the tree does not have: sentences."""
    words = text.split()
    if words[0] == 'make' or words[0].startswith('scripts/'):
        yield from _missing_in_call(tree, words)
        return
    identifier = IDENTIFIER.match(text)
    if FILE_NAME.match(text) or (PATH.match(text) and not NOT_OURS.match(text)):
        for path in _expand(text):
            if not _path_exists(tree, path):
                yield 'there is no file ' + path
    elif re.match(r'[A-Za-z_]\w*\*$', text):
        if not any(word.startswith(text[:-1]) for word in tree.words):
            yield 'nothing begins with ' + text[:-1]
    elif identifier and not text[0].isdigit():
        parts = [part for part in re.split(r'::|\.|->', identifier.group(1)) if part]
        if not any(all(re.search(r'\b%s\b' % part, source) for part in parts)
                   for source in tree.sources.values()
                   ) if len(parts) > 1 else parts[0] not in tree.words:
            yield 'there is no ' + text
    elif HYPHENATED.fullmatch(text):
        if text not in tree.hyphenated:
            yield 'there is no ' + text
    elif len(words) > 1:
        for word in words:
            if re.match(r'(vcx|VCX)_\w+$', word) and word not in tree.words:
                yield 'there is no ' + word


def names(tree):
    """Literals name what exists."""
    for name, text in tree.documents.items():
        for claim in [*markup.literals(name, text), *markup.block_lines(name, text)]:
            for sentence in _missing(tree, claim.text):
                yield '%s:%d: %s' % (name, claim.line, sentence)
        for number, line in enumerate(text.split('\n'), 1):
            for sentence in [*_missing_properties(tree, line),
                             *_missing_links(tree, name, line)]:
                yield '%s:%d: %s' % (name, number, sentence)


FIELD_ROW = re.compile(r'\s*(?:\* - )?``(VCX_\w+)``\s+(0x[0-9a-f]+)\s+(\d+)(?:\.\.(\d+))?(?:\s|$)')
VALUE_ROW = re.compile(r'\s*``(VCX_\w+)``\s+(0x[0-9a-f]+|\d+)(?:\s|$)')
COMMAND_ROW = re.compile(r'``(\w+)``\s+(0x[0-9a-f]{3})\s+([DEI]+)\s+``(\w+)``\s+``(\w+)``')
MEMBER_ROW = re.compile(r'\s*``(\w+)``\s+(0x[0-9a-f]+)\s+(\d+)(?:\s|$)')
STRUCTURE = re.compile(r'\.\. structure (\w+)$')


def _row_finding(headers, line):
    """What is wrong with a row about a field or a value, and the row's name."""
    field = FIELD_ROW.match(line)
    value = VALUE_ROW.match(line)
    if field and field.group(1) in headers.fields:
        low = field.group(4) or field.group(3)
        said = (int(field.group(2), 0), int(field.group(3)), int(low))
        if said != headers.fields[field.group(1)]:
            return field.group(1), '%s is at 0x%02x, bits %d..%d' % (
                (field.group(1), *headers.fields[field.group(1)]))
        return field.group(1), None
    if value:
        name, said = value.group(1), int(value.group(2), 0)
        if headers.values.get(name) != said:
            return name, '%s is %s' % (name, headers.values.get(name, 'not a constant'))
        return name, None
    return None, None


def _member_findings(headers, name, text, listed):
    """Rows of members below a line that names their structure."""
    structure, seen, bars = None, {}, 0
    for number, line in enumerate(text.split('\n'), 1):
        opened = STRUCTURE.match(line)
        if opened:
            structure, bars = opened.group(1), 0
            seen[structure] = (number, set())
            if structure not in headers.members:
                yield '%s:%d: there is no struct %s' % (name, number, structure)
                structure = None
            continue
        row = MEMBER_ROW.match(line)
        bars += line.startswith('==')
        if structure and row and bars == 2:     # between the second and third bar
            said = (int(row.group(2), 0), int(row.group(3)))
            if headers.members[structure].get(row.group(1)) != said:
                yield '%s:%d: %s.%s is at %s' % (
                    name, number, structure, row.group(1),
                    headers.members[structure].get(row.group(1), 'no place at all'))
            seen[structure][1].add(row.group(1))
    listed.update(seen)
    for structure, (number, members) in seen.items():
        for member in headers.members.get(structure, ()):
            if member not in members and not member.startswith('rsvd'):
                yield '%s:%d: %s.%s is missing' % (name, number, structure, member)


def _command_findings(tree, name, text, listed):
    """Rows of commands: opcode, states, input and output."""
    commands = tree.commands()
    for number, line in enumerate(text.split('\n'), 1):
        row = COMMAND_ROW.match(line)
        if not row:
            continue
        command, said = row.group(1), row.groups()[1:]
        listed.add('VCX_CMD_' + command)
        if commands.get(command) != said:
            yield '%s:%d: %s is %s' % (name, number, command, ' '.join(
                commands.get(command, ('not a command',))))


def tables(tree):
    """Tables of commands, fields, members and values agree with the code."""
    listed = set()
    for name, text in tree.documents.items():
        for number, line in enumerate(text.split('\n'), 1):
            subject, wrong = _row_finding(tree.headers, line)
            listed.add(subject)
            if wrong:
                yield '%s:%d: %s' % (name, number, wrong)
        yield from _member_findings(tree.headers, name, text, listed)
        yield from _command_findings(tree, name, text, listed)
    for field in sorted(set(tree.headers.fields) - listed):
        yield 'include/vcx: %s is in no table' % field
    for structure, members in tree.headers.members.items():
        # Bit-packed structures are listed by their fields.
        if list(members) != ['dw'] and structure not in listed:
            yield 'include/vcx: struct %s is in no table' % structure
    literals = _all_literals(tree) | listed
    for enumeration, values in tree.headers.enumerated.items():
        for value in values:
            if enumeration != 'vcx_refusal_object' and value not in literals:
                yield 'include/vcx: %s is in no document' % value


def _all_literals(tree):
    return {claim.text for name, text in tree.documents.items()
            for claim in markup.literals(name, text)}


def _limits(tree):
    """Limits of properties in the table of device-properties.rst."""
    document = 'Documentation/device-properties.rst'
    properties = tree.properties()
    rows = {}
    for number, line in enumerate(tree.documents.get(document, '').split('\n'), 1):
        row = re.match(r'``([\w-]+)=?``\s+(\w+) to (\w+)\s', line)
        if not row:
            continue
        limits = (int(row.group(2), 0), int(row.group(3), 0))
        rows[row.group(1)] = limits
        if properties.get(row.group(1)) != limits:
            yield '%s:%d: the limits of %s are %s' % (
                document, number, row.group(1), properties.get(row.group(1)))
    for name, limits in properties.items():
        if limits and name not in rows:
            yield '%s: the limits of %s are missing' % (document, name)


def complete(tree):
    """What the code has, the documents have."""
    literals = _all_literals(tree)
    counters = tree.documents.get('Documentation/counters.rst', '')
    listed = set(re.findall(r'^``(\w+)``', counters, re.M))
    for name in sorted(tree.counters() - listed):
        yield 'Documentation/counters.rst: the counter %s is missing' % name
    for name in sorted(listed - tree.counters()):
        yield 'Documentation/counters.rst: there is no counter %s' % name
    if not tree.counters() or not tree.properties():
        yield 'check-docs: no counters or properties found in the code'
    for name in sorted(tree.properties()):
        if name not in literals and name + '=' not in literals:
            yield 'Documentation: the property %s is missing' % name
    yield from _limits(tree)
    for what, pattern, source in (
            ('command', r'VCX_CMD_(\w+), "', 'qemu-device/core/cmd/dispatch.cc'),
            ('refusal', r'^\s+(VCX_REFUSED_\w+) =', 'include/vcx/syndrome.h'),
            ('vendor syndrome', r'^\s+(VCX_VENDOR_\w+)\s*=', 'include/vcx/cqe.h'),
            ('trace event', r'^(vcx_\w+)\(', 'qemu-device/glue/trace-events')):
        found = set(re.findall(pattern, tree.source(source), re.M))
        if not found:
            yield 'check-docs: no %s found in %s' % (what, source)
        for name in sorted(found - literals):
            yield 'Documentation: the %s %s is missing' % (what, name)
    testing = tree.documents.get('Documentation/testing.rst', '')
    for path in sorted(path for path in tree.files if path.startswith('tests/levels/')):
        if '``%s``' % path.rpartition('/')[2] not in testing:
            yield 'Documentation/testing.rst: the level %s is missing' % path


def syntax(tree):
    """docutils reads every document without a complaint."""
    try:
        from docutils import core, utils
    except ImportError:
        yield 'skipped syntax: docutils is not installed'
        return
    for name, text in tree.documents.items():
        if not name.endswith('.rst'):
            continue
        messages = []
        reporter = utils.Reporter.system_message
        def remember(self, level, message, *children, **attributes):
            if level >= 2:
                messages.append((attributes.get('line') or 0, message))
            return reporter(self, level, message, *children, **attributes)

        utils.Reporter.system_message = remember
        try:
            core.publish_doctree(text, source_path=name, settings_overrides={
                'report_level': 5, 'halt_level': 6, 'file_insertion_enabled': False})
        finally:
            utils.Reporter.system_message = reporter
        for line, message in messages:
            yield '%s:%d: %s' % (name, line, message)


CHECKS = {'names': names, 'tables': tables, 'complete': complete, 'syntax': syntax}
