# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Memory regions that change and memory in large pages; address handles."""
import pytest

import device
from guest_script import GuestScript

SCRIPTS = {'regions': GuestScript('regions',
                                  before='echo 4 >/proc/sys/vm/nr_hugepages',
                                  after='echo 0 >/proc/sys/vm/nr_hugepages'),
           'addresses': GuestScript('addresses')}
CASES = [(name, case) for name, script in SCRIPTS.items() for case in script.cases]


@pytest.mark.parametrize('script,case', CASES)
def test_case(one, script, case):
    """One of guest/regions.py or guest/addresses.py."""
    assert SCRIPTS[script].result(one, case) == 'ok'


def test_regions_leave_nothing_behind(one):
    """No object in the kernel or the device outlives the processes."""
    counts = device.resource_counts(one)
    assert not any(counts.values()), counts
    assert not {'objects_qp', 'objects_mkey'} & set(device.objects(one))
