# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Reads the logs of guest kernels and devices; finds what must not be there."""
import re

# Each is a failure of the test in which it appears. A message that a test
# provokes on purpose is allowed by that test alone, with a pattern.
COMPLAINTS = re.compile('|'.join((
    r'\bWARNING: ', r'\bBUG: ', r'kernel BUG at', r'\bOops: ', r'Call Trace:',
    r'general protection fault', r'Kernel panic', r'double fault',
    r'stack segment fault', r'[uU]nable to handle', r'invalid opcode:',
    r'KASAN:', r'KCSAN:', r'KFENCE:', r'UBSAN:', r'kmemleak: [1-9]',
    r'unreferenced object', r'refcount_t: ', r'possible .* locking dependency',
    r'possible recursive locking', r'inconsistent lock state',
    r'suspicious RCU usage', r'held lock freed', r'lock held when returning',
    r'scheduling while atomic', r'sleeping function called from',
    r'blocked for more than \d+ seconds', r'(soft lockup|hard LOCKUP)',
    r'rcu.*detected.*stall', r'(list|hlist)_(add|del).*corruption',
    r'slab.*: (redzone|poison|object) ', r'page allocation failure',
    r'Out of memory', r'Bad page state', r'non-zero (dead|refcount)',
    r'sysfs: cannot create duplicate', r'kobject.*tried to init an initialized',
    r'DMA-API: ', r'irq \d+: nobody cared', r'NETDEV WATCHDOG',
    r'ib_device.*(leaked|still in use)', r'restrack:.*leak',
    r'mlx5_core(?i:.*(health (compromised|recovery)|device.s health|'
    r'assert_(var|exit_ptr)|firmware (fatal|internal) error|synd(rome)? 0x[1-9a-f]|'
    r'(timeout|leak)\b.*command|will cause a leak|reclaim.*fail))',
)))

SANITIZER = re.compile(r'(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error: ')

# The kernel's level and time, as a console prints them: "[    1.234567] ".
TIME = re.compile(r'^\s*\[\s*\d+\.\d+\]\s?')

# /dev/kmsg writes a byte that is not printable, a tab for instance, so: \x09.
ESCAPE = re.compile(r'\\x([0-9a-f]{2})')


def from_kmsg(data):
    """Lines from records of /dev/kmsg ("6,12,345678,-;text"), with times."""
    lines = []
    for record in data.split('\n'):
        head, semicolon, text = record.partition(';')
        fields = head.split(',')
        if not semicolon or len(fields) < 3 or not fields[2].isdigit():
            continue        # a continuation line: key=value pairs of the record
        stamp = int(fields[2])
        text = ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), text)
        lines.append('[%5d.%06d] %s' % (stamp // 1000000, stamp % 1000000, text))
    return lines


def complaints(lines, allowed=()):
    """The complaints in the lines: a list of excerpts, each some lines long.

    A complaint and what follows it closely (its registers and call trace) is
    one excerpt. Lines that match one of the allowed patterns do not count.
    """
    permit = re.compile('|'.join('(?:%s)' % a for a in allowed)) if allowed else None
    found, until = [], -1
    for number, line in enumerate(lines):
        if not COMPLAINTS.search(line):
            continue
        if permit and permit.search(line):
            until = max(until, number + 40)     # its call trace is allowed too
            continue
        if number <= until:
            continue
        before = max(0, number - 1)
        found.append('\n'.join(lines[before:number + 25]))
        until = number + 40
    return found


def last_words(text, lines=40):
    """The end of a console's text; and, when a complaint comes before that,
    its beginning, since the end of a call trace does not say what happened."""
    every = text.splitlines()
    start = max(0, len(every) - lines)
    first = next((number for number, line in enumerate(every[:start])
                  if COMPLAINTS.search(line)), None)
    head = [] if first is None else every[max(0, first - 2):min(first + 20, start)]
    return '\n'.join(head + (['...'] if head else []) + every[start:])


def sanitizer_reports(lines):
    """Excerpts of QEMU's messages that a sanitizer wrote."""
    found, until = [], -1
    for number, line in enumerate(lines):
        if number > until and SANITIZER.search(line):
            found.append('\n'.join(lines[number:number + 25]))
            until = number + 25
    return found


def same_text(line):
    """A line without its time, to compare the two sources of a log."""
    return TIME.sub('', line.rstrip('\r'))
