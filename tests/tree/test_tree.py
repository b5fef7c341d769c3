# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""What every file of the tree must obey."""
import os
import re
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

DUAL_KERNEL = 'GPL-2.0 OR BSD-2-Clause'
DUAL_OPENIB = '(GPL-2.0-only OR Linux-OpenIB)'
QEMU = 'GPL-2.0-or-later'
# The first prefix that matches decides; tests and scripts beside QEMU's code may
# be QEMU's or the project's.
LICENCES = (
    ('include/uapi/', '((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause)'),
    ('include/', DUAL_KERNEL), ('drivers/', DUAL_KERNEL), ('Kbuild', DUAL_KERNEL),
    ('Documentation/', DUAL_KERNEL), ('README', DUAL_KERNEL),
    ('qemu-device/glue/tests/', (QEMU, DUAL_OPENIB)),
    ('qemu-device/intree/', (QEMU, DUAL_OPENIB)), ('qemu-device/glue/', QEMU),
    ('', DUAL_OPENIB))
# Files that are licences, or have no place for a comment.
NO_SPDX = re.compile(r'^(LICENSES/|MAINTAINERS$)|\.(json|bin|hex|pcap|png|svg)$|/corpus/')
MAX_LINES = 600
# Scripts that belong to the host: the guest and the builder roots have others.
PYTHON = '#!/usr/bin/python3'


def tree_files():
    """Files that are in the repository or will be; in an unpacked archive, all."""
    run = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others',
                          '--exclude-standard'], cwd=TOP, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if run.returncode == 0:
        names = run.stdout.decode().split('\0')
    else:
        names = [os.path.relpath(os.path.join(folder, name), TOP)
                 for folder, _, files in os.walk(TOP) for name in files
                 if not os.path.relpath(folder, TOP).startswith(('build', '.git'))]
    return sorted(name for name in names
                  if name and os.path.isfile(os.path.join(TOP, name)))


FILES = tree_files()


def text_of(name):
    """A file's text; '' for a binary one."""
    with open(os.path.join(TOP, name), 'rb') as file:
        data = file.read()
    return '' if b'\0' in data else data.decode('utf-8')


def findings(check):
    """Run a check over all text files; what it finds, with file names."""
    found = []
    for name in FILES:
        text = text_of(name)
        if text:
            found += ['%s: %s' % (name, line) for line in check(name, text)]
    return '\n'.join(found)


def test_there_are_files():
    """The other tests look at something."""
    assert len(FILES) > 20


def test_every_file_names_its_licence():
    """An SPDX line in the first lines, with the licence of its part of the tree."""
    def check(name, text):
        if NO_SPDX.search(name):
            return
        head = '\n'.join(text.splitlines()[:5])
        found = re.search(r'SPDX-License-Identifier: (.*?)\s*(\*/|-->)?$', head, re.M)
        wanted = next(licence for prefix, licence in LICENCES if name.startswith(prefix))
        if not found:
            yield 'has no SPDX line'
        elif found.group(1) not in ((wanted,) if isinstance(wanted, str) else wanted):
            yield 'SPDX says %s, not %s' % (found.group(1), wanted)
    assert not findings(check)


def test_no_file_is_too_long():
    """600 lines is the limit at which a file must be split."""
    def check(name, text):
        lines = text.count('\n')
        if lines > MAX_LINES and not name.startswith('LICENSES/'):
            yield '%d lines, more than %d' % (lines, MAX_LINES)
    assert not findings(check)


def test_lines_are_clean():
    """No trailing white space, no carriage return, an end of line at the end."""
    def check(name, text):
        if name.startswith('LICENSES/'):
            return
        if not text.endswith('\n'):
            yield 'no end of line at the end'
        for number, line in enumerate(text.split('\n'), 1):
            if line != line.rstrip():
                yield 'line %d ends with white space' % number
    assert not findings(check)


def test_python_programs_use_the_system_python():
    """Another Python in PATH need not have pytest and the like."""
    def check(_, text):
        first = text.split('\n', 1)[0]
        if first.startswith('#!') and 'python' in first and first != PYTHON:
            yield 'begins with %s, not %s' % (first, PYTHON)
    assert not findings(check)


def test_programs_are_executable():
    """What begins with #! can be run."""
    def check(name, text):
        if text.startswith('#!') and not os.access(os.path.join(TOP, name), os.X_OK):
            yield 'begins with #! but is not executable'
    assert not findings(check)


@pytest.mark.parametrize('shell', ['sh', 'bash'])
def test_shell_scripts_parse(shell):
    """The shell accepts each script."""
    scripts = [name for name in FILES
               if re.match(r'#!.*\b%s( |\n)' % shell, text_of(name)[:80])]
    assert scripts
    for name in scripts:
        subprocess.run([shell, '-n', os.path.join(TOP, name)], check=True)


def test_shell_scripts_pass_shellcheck():
    """shellcheck has no finding."""
    scripts = [name for name in FILES
               if re.match(r'#!.*\b(ba)?sh\b', text_of(name)[:80])
               or name.endswith('.sh')]
    # Left out: idioms of ours (1007, 2015, 2016), and what is wrong about this code
    # (1090 and 1091 sourced files, 2034 variables
    # for whom sources a file, 2054 commas in arrays, 2187 busybox).
    ignore = 'SC1007,SC1090,SC1091,SC2015,SC2016,SC2034,SC2054,SC2187'
    run = subprocess.run(['shellcheck', '-x', '-S', 'style', '-e', ignore, *scripts],
                         cwd=TOP, check=False, stdout=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stdout
