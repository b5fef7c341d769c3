# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Queues and completions as the provider keeps them."""
import pytest

import device
from guest_script import GuestScript

SCRIPT = GuestScript('queues')


@pytest.mark.parametrize('case', SCRIPT.cases)
def test_case(one, case):
    """One of guest/queues.py."""
    assert SCRIPT.result(one, case) == 'ok'


def test_queues_leave_nothing_behind(one):
    """No object in the kernel or the device outlives the process."""
    counts = device.resource_counts(one)
    assert not any(counts.values()), counts
    assert 'objects_qp' not in device.objects(one)
