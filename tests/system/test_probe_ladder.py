# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The driver's start and end with each firmware command refused in its turn: the
device's property x-fail-cmd refuses the Nth command from when it is set."""
import re
import time

import pytest

import device
from test_reload import SLACK_KB, kernel_memory

GUESTS = pytest.mark.parametrize('guest', ('trixie', 'bookworm'))
DRIVER = '/sys/bus/pci/drivers/vcx'
# A command that follows itself this often is not looked at each time any more.
SAME, STRIDE = 4, 25
# Commands of the start that the driver can do without.
OPTIONAL = {'ALLOC_Q_COUNTER'}
START = {'ENABLE_HCA', 'SET_ISSI', 'QUERY_PAGES', 'MANAGE_PAGES', 'QUERY_HCA_CAP',
         'SET_HCA_CAP', 'INIT_HCA', 'QUERY_ADAPTER', 'ALLOC_UAR', 'CREATE_EQ',
         'QUERY_HCA_VPORT_CONTEXT', 'QUERY_HCA_VPORT_GID', 'QUERY_HCA_VPORT_PKEY',
         'ACCESS_REG'}
END = {'DESTROY_EQ', 'DEALLOC_UAR', 'TEARDOWN_HCA', 'MANAGE_PAGES', 'DISABLE_HCA'}


def a_vm(vms, guest):
    """A VM whose device asks for pages at both times."""
    return vms(count=1, guest=guest, mem=768, device_opts='boot-pages=5,init-pages=9')[0]


def switch(vm, verb):
    """Bind or unbind; the exit code of the write."""
    return vm.run('echo %s >%s/%s' % (device.PCI, DRIVER, verb), timeout=60).rc


def is_bound(vm):
    """Whether the driver has the device."""
    return vm.run('[ -e %s/%s ]' % (DRIVER, device.PCI)).rc == 0


def refused(vm, nth, verb):
    """Bind or unbind with the nth command refused. What was refused (None: there
    are not so many commands), the exit code, the log."""
    for _ in range(3):
        said, failed = len(vm.kernel_log()), device.counters(vm)['commands_failed']
        vm.qmp('qom-set', path='/machine/peripheral/vcx', property='x-fail-cmd', value=nth)
        rc = switch(vm, verb)
        vm.qmp('qom-set', path='/machine/peripheral/vcx', property='x-fail-cmd', value=0)
        log = vm.kernel_log()[said:]
        if device.counters(vm)['commands_failed'] == failed:
            return None, rc, log
        found = re.findall(r'vcx %s: (\w+) failed: INTERNAL' % device.PCI, log)
        if found:
            return found[0], rc, log
        # The kernel limits how often a message comes.
        if verb == 'bind' and is_bound(vm):
            switch(vm, 'unbind')
        elif verb == 'unbind':
            switch(vm, 'bind')
        time.sleep(5)
    raise AssertionError('command %d was refused, and the log does not say it:\n%s' % (nth, log))


def next_rung(nth, names):
    """The next command to be refused."""
    same = len(names) >= SAME and len(set(names[-SAME:])) == 1
    return nth + (STRIDE if same else 1)


def assert_works(vm):
    """The driver comes up, and the port with it."""
    assert switch(vm, 'bind') == 0, vm.kernel_log()[-2000:]
    assert 'ACTIVE' in vm.check('cat /sys/class/infiniband/vcx0/ports/1/state')


@GUESTS
def test_the_start_fails_at_every_rung(vms, guest):
    """Refused, the start ends with an error that names the command; nothing stays
    behind, and the next start works."""
    vm = a_vm(vms, guest)
    switch(vm, 'unbind')
    device.assert_empty(vm)
    nth, names, before = 1, [], None
    while True:
        name, rc, log = refused(vm, nth, 'bind')
        if name is None:
            break
        if is_bound(vm):
            assert rc == 0 and name in OPTIONAL, (nth, name, log)
            assert switch(vm, 'unbind') == 0
        else:
            assert rc != 0, (nth, name)
            assert re.search(r'error -\w+: the device cannot be used', log), (nth, log)
        device.assert_empty(vm)
        names.append(name)
        nth = next_rung(nth, names)
        if before is None and nth > 10:
            before = kernel_memory(vm)
    assert START <= set(names), START - set(names)
    assert is_bound(vm)
    switch(vm, 'unbind')
    after = kernel_memory(vm)
    for kind, value in before.items():
        assert after[kind] - value < SLACK_KB, (kind, before, after)
    assert_works(vm)
    print('%s: %d commands, %d of them refused: %s' % (
        guest, nth, len(names), ', '.join(sorted(set(names)))))


@GUESTS
def test_the_end_succeeds_whatever_is_refused(vms, guest):
    """A driver cannot stay: what the device refuses to destroy goes with its reset."""
    vm = a_vm(vms, guest)
    if not is_bound(vm):
        assert_works(vm)
    nth, names = 1, []
    while True:
        name, rc, log = refused(vm, nth, 'unbind')
        assert rc == 0 and not is_bound(vm), (nth, name, log)
        device.assert_empty(vm)
        assert_works(vm)
        if name is None:
            break
        names.append(name)
        nth = next_rung(nth, names)
    assert END <= set(names), END - set(names)
    print('%s: %d commands, %d of them refused: %s' % (
        guest, nth - 1, len(names), ', '.join(sorted(set(names)))))
