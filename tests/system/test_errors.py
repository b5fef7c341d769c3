# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""What goes wrong is reported as verbs say, by status and by event, and does no
harm beyond its queue pair."""
import pytest

from vmlib import programs

import device
from guest_script import GuestScript
import xfer

SCRIPT = GuestScript('errors')


@pytest.mark.parametrize('case', SCRIPT.cases)
def test_case(one, case):
    """One of guest/errors.py."""
    assert SCRIPT.result(one, case) == 'ok'


def test_errors_leave_nothing_behind(one):
    """After all that: no object, no complaint, and data still moves."""
    counts = device.resource_counts(one)
    assert not any(counts.values()), counts
    assert 'objects_qp' not in device.objects(one)
    xfer.alone(one, '--bytes', '1M')


def test_a_killed_peer_is_noticed(pair):
    """The peer's process ends in the middle of the traffic: its queue pair is gone,
    the requests of the other side exceed their retries, and both devices can go on."""
    command = 'ib_write_bw -d vcx0 -F -D 60'
    server = pair[1].start(command)
    programs.wait_listening(pair[1], server)
    client = pair[0].start('%s %s' % (command, pair[1].address))
    before = device.counters(pair[1])['bytes_received']
    pair[0].check('sleep 2')
    assert device.counters(pair[1])['bytes_received'] > before, client.output()
    server.kill('KILL')
    ended = client.wait(30)
    assert ended.rc != 0 and 'Failed status 12' in ended.out, ended.out
    for vm in pair:
        assert device.resource_counts(vm)['qp'] == 0
    xfer.between(pair[1], pair[0], '--bytes', '1M')


def test_a_silent_peer_is_noticed_and_comes_back(pair):
    """The peer's VM stops for a while: shorter than the retries last, so that
    the traffic goes on; then for longer. The VM that stops is the one whose end
    of the wire listens: QEMU 7.2 leaves the connection that it accepts blocking,
    so the listening side would stand still with its peer."""
    server = pair[0].start([xfer.TOOL, '--serve'])
    client = pair[1].start([xfer.TOOL, '--to', pair[0].address, '--op', 'write,read',
                            '--bytes', '100G', '--qps', '8'])
    pair[1].check('sleep 1')
    before = device.counters(pair[1])
    pair[0].qmp('stop')
    pair[1].check('sleep 0.2')
    pair[0].qmp('cont')
    pair[1].check('sleep 1')
    after = device.counters(pair[1])
    assert client.poll() is None and server.poll() is None
    assert after['bytes_sent'] > before['bytes_sent']
    pair[0].qmp('stop')
    ended = client.wait(60)
    pair[0].qmp('cont')
    # Where no request was on its way when the peer stopped, no retry is counted:
    # then it is the tool that notices.
    retries = 'transport retry counter exceeded' in ended.out
    assert ended.rc == 1 and (retries or 'nothing has completed for' in ended.out), ended.out
    assert server.wait(60).rc == 1
    if retries:
        assert device.counters(pair[1])['timeouts'] > before['timeouts']
    xfer.between(pair[0], pair[1], '--bytes', '1M')


def set_link(vm, state):
    """Plug or unplug the device's wire."""
    assert vm.qmp_client().monitor('set_link rdma ' + state) == ''


def test_the_link_goes_down_and_up(pair):
    """Port events, the port's state, and traffic that survives a short break."""
    vm = pair[0]
    monitor = vm.start('timeout 60 ibv_asyncwatch -d vcx0')
    monitor.wait_output('async event FD')
    client, server = None, pair[1].start([xfer.TOOL, '--serve'])
    try:
        client = vm.start([xfer.TOOL, '--to', pair[1].address, '--bytes', '100G',
                           '--qps', '8'])
        vm.check('sleep 1')
        set_link(vm, 'off')
        set_link(vm, 'on')
        monitor.wait_output('IBV_EVENT_PORT_ACTIVE')
        assert 'IBV_EVENT_PORT_ERR' in monitor.output()
        before = device.counters(vm)['bytes_sent']
        vm.check('sleep 1')
        assert device.counters(vm)['bytes_sent'] > before, client.output()
        set_link(vm, 'off')
        vm.check('for i in 1 2 3 4 5; do grep -q DOWN '
                 '/sys/class/infiniband/vcx0/ports/1/state && exit 0; sleep 0.3; done; exit 1')
        assert client.wait(60).rc == 1
    finally:
        set_link(vm, 'on')
        for job in (server, client, monitor):
            if job and job.poll() is None:
                job.kill('KILL')
    assert 'PORT_ACTIVE' in vm.check('sleep 1; ibv_devinfo -d vcx0')
    xfer.between(pair[1], pair[0], '--bytes', '1M')
