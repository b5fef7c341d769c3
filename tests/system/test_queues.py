# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Queues and completions as the provider keeps them."""
import os
import re

import pytest

import device

SCRIPT = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'guest', 'queues.py')
with open(SCRIPT, encoding='utf-8') as file:
    CASES = re.findall(r'^@case\ndef (\w+)\(', file.read(), re.M)
RESULTS = {}


def run_all(vm):
    """Run the script once for all cases: case -> 'ok' or the reason."""
    out = vm.run('python3 /tests/queues.py vcx0', timeout=240).out
    for line in out.splitlines():
        match = re.match(r'ok (\w+)$|FAILED (\w+): (.*)', line)
        if match:
            RESULTS[match[1] or match[2]] = 'ok' if match[1] else match[3]
    RESULTS.setdefault('whole', out)


@pytest.mark.parametrize('case', CASES)
def test_case(one, case):
    """One of guest/queues.py."""
    if not RESULTS:
        run_all(one)
    assert RESULTS.get(case, 'did not run:\n' + RESULTS['whole']) == 'ok'


def test_queues_leave_nothing_behind(one):
    """No object in the kernel or the device outlives the process."""
    counts = device.resource_counts(one)
    assert not any(counts.values()), counts
    assert 'objects_qp' not in device.objects(one)
