# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The usual verbs programs run, in one VM and between two."""
import pytest

from vmlib import programs

import device

pytestmark = pytest.mark.conformance
ALL = pytest.mark.parametrize('program', programs.PROGRAMS,
                              ids=[program.name.replace(' ', '_')
                                   for program in programs.PROGRAMS])


def run(program, server, client):
    """Both sides exit with 0 and the client prints numbers; nothing stays behind."""
    outcome = programs.run(program, server, client, timeout=400)
    print(programs.summary(outcome))
    assert outcome.ok, outcome.output
    for vm in {server, client}:
        assert device.resource_counts(vm)['qp'] == 0


@ALL
def test_in_one_vm(one, program):
    """Server and client in one VM: through the device's loopback."""
    run(program, one, one)


@ALL
def test_between_two_vms(pair, program):
    """Server and client in different VMs: over the wire."""
    run(program, pair[1], pair[0])


def test_one_event_for_one_message(pair):
    """perftest takes an entry without a look after each event: an event without
    one, for an entry that was told of before, ends it."""
    program = programs.Program('ib_send_lat -e', [
        'ib_send_lat', '-d', '{dev}', '-F', '-s', '2', '-n', '300', '-e'], 2, 'lat')
    run(program, pair[1], pair[0])
