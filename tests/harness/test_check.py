# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""scripts/check sums honestly: nothing that went wrong looks like success."""
import os
import shutil
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
GOOD = 'echo "level x: 3 passed, 0 failed, 1 skipped"; echo "skipped one: no such thing"'


@pytest.fixture(name='check')
def check_fixture(tmp_path):
    """A function that runs scripts/check on a tree with one level of ours."""
    os.makedirs(tmp_path / 'scripts')
    os.makedirs(tmp_path / 'tests/levels')
    shutil.copy(TOP + '/scripts/check', tmp_path / 'scripts')

    def run(body, *words, names=('35-mine',)):
        for name in names:
            level = tmp_path / 'tests/levels' / name
            level.write_text('#!/bin/sh\n%s\n' % body)
            level.chmod(0o755)
        done = subprocess.run([tmp_path / 'scripts/check', *(words or ['mine'])], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout.splitlines()
    return run


def test_a_good_level(check):
    """Counts are added, skips explained."""
    code, lines = check(GOOD)
    assert (code, lines[-1]) == (0, '3 passed, 0 failed, 1 skipped')
    assert any('skipped one: no such thing' in line for line in lines)


@pytest.mark.parametrize('body, says', [
    ('echo "level x: 3 passed, 2 failed, 0 skipped"; exit 1', '2 failed'),
    ('echo "level x: 3 passed, 1 failed, 0 skipped"', '1 failed'),
    ('echo "level x: 3 passed, 0 failed, 0 skipped"; exit 3', 'ended with code 3'),
    ('echo "level x: 0 passed, 0 failed, 5 skipped"', 'executed nothing'),
    ('echo "all good"', 'without a result'),
    ('kill -9 $$', 'without a result'),
])
def test_a_bad_level(check, body, says):
    """Each way to go wrong is a failure and names itself."""
    code, lines = check(body)
    assert code == 1
    assert any('FAILED' in line and says in line for line in lines)
    assert ' 0 failed' not in lines[-1]


def test_a_missing_level_is_a_failure(check):
    """Only ours exists in the invented tree."""
    code, lines = check(GOOD, 'core')
    assert code == 1
    assert any('30-core is missing' in line for line in lines)
    assert lines[-1] == '0 passed, 1 failed, 0 skipped'


# Each of two levels is done when both have begun.
MEET = 'touch $0.here; for i in $(seq 50); do set -- "${0%/*}"/*.here; ' \
    '[ $# = 2 ] && exec echo "level x: 1 passed, 0 failed, 0 skipped"; sleep 0.1; done; exit 1'


@pytest.mark.parametrize('jobs, result', [('2', '2 passed, 0 failed, 0 skipped'),
                                          ('1', '1 passed, 1 failed, 0 skipped')])
def test_levels_at_the_same_time(check, jobs, result):
    """Two jobs are two at a time, one is not; the sum has both."""
    _, lines = check(MEET, '--jobs', jobs, 'one', 'two', names=('36-one', '37-two'))
    assert lines[-1] == result


@pytest.mark.parametrize('words', [('--jobs',), ('--jobs', '0'), ('--jobs', 'x'), ('nothing',)])
def test_a_wrong_word_is_named(check, words):
    """Nothing runs, and the message has the word."""
    code, lines = check(GOOD, *words)
    assert code == 1 and len(lines) == 1 and words[0] in lines[0]
