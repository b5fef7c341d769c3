# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Memory regions that change and memory in large pages; address handles."""
import os
import re

import pytest

import device

GUEST = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'guest')
SCRIPTS = ('regions', 'addresses')
RESULTS = {}


def cases():
    """(script, case) of all cases of all scripts."""
    for script in SCRIPTS:
        with open('%s/%s.py' % (GUEST, script), encoding='utf-8') as file:
            for name in re.findall(r'^@case\ndef (\w+)\(', file.read(), re.M):
                yield script, name


def run_all(vm, script):
    """Run a script once for all its cases: case -> 'ok' or the reason."""
    if script not in RESULTS:
        out = vm.run('echo 4 >/proc/sys/vm/nr_hugepages; python3 /tests/%s.py vcx0; '
                     'echo 0 >/proc/sys/vm/nr_hugepages' % script, timeout=240).out
        RESULTS[script] = {'whole': out}
        for match in re.finditer(r'^(?:ok (\w+)|FAILED (\w+): (.*))$', out, re.M):
            RESULTS[script][match[1] or match[2]] = match[3] or 'ok'
    return RESULTS[script]


@pytest.mark.parametrize('script,case', cases())
def test_case(one, script, case):
    """One of guest/regions.py or guest/addresses.py."""
    found = run_all(one, script)
    assert found.get(case, 'did not run:\n' + found['whole']) == 'ok'


def test_regions_leave_nothing_behind(one):
    """No object in the kernel or the device outlives the processes."""
    counts = device.resource_counts(one)
    assert not any(counts.values()), counts
    assert not {'objects_qp', 'objects_mkey'} & set(device.objects(one))
