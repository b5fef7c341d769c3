# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The driver comes and goes without a trace: module, binding, reset, unplug."""
import re

import pytest

from vmlib.command import port_guid

import device
import xfer

GUESTS = pytest.mark.parametrize('guest', ('trixie', 'bookworm'))
RELOADS = {'trixie': 100, 'bookworm': 30}
# What may be more after the reloads than before: the kernel's own caches move a
# little. One leaked page, or one leaked small object, for each reload is beyond it.
SLACK_KB = 300
HAS_PROVIDER = ('trixie',)


def kernel_memory(vm):
    """KiB that the kernel holds: slab that cannot be given back, per-CPU areas,
    vmalloc, page tables; after it has given back what it can."""
    out = vm.check('for i in 1 2 3; do sync; echo 3 >/proc/sys/vm/drop_caches; sleep 0.2; done; '
                   'cat /proc/meminfo')
    found = {name: int(value) for name, value in re.findall(r'^(\w+): +(\d+) kB', out, re.M)}
    return {name: found[name] for name in ('SUnreclaim', 'Percpu', 'VmallocUsed')}


def traces(vm):
    """Where a loaded driver can be seen."""
    return vm.check('''
        grep ^vcx /proc/modules
        grep vcx /proc/interrupts
        ls /sys/class/infiniband /sys/kernel/debug/vcx /sys/kernel/slab 2>/dev/null | grep vcx
        ls -d /sys/bus/pci/drivers/vcx /dev/infiniband/uverbs* 2>/dev/null
        ls /sys/module/ib_core/holders /sys/module/ib_uverbs/holders | grep vcx
        grep '[[]vcx[]]' /proc/vmallocinfo
        true''')


def references(vm):
    """Reference counts of the modules that the driver uses."""
    return vm.check('cat /sys/module/ib_core/refcnt /sys/module/ib_uverbs/refcnt').split()


def reload(vm, times):
    """rmmod and insmod, so many times, as fast as it goes."""
    vm.check('for i in $(seq %d); do rmmod vcx && insmod /opt/vcx/vcx.ko || exit 1; '
             '[ -e /sys/class/infiniband/vcx0 ] || { echo "no device at $i"; exit 1; }; done'
             % times, timeout=300)


@GUESTS
def test_many_reloads_leave_nothing(vms, guest):
    """No object in the device, no memory, no interrupt, no reference, no message."""
    vm = vms(count=1, guest=guest, mem=768)[0]
    loaded = device.objects(vm)
    reload(vm, 10)
    vm.check('rmmod vcx')
    before, users = kernel_memory(vm), references(vm)
    device.load_driver(vm)
    reload(vm, RELOADS[guest])
    assert device.objects(vm) == loaded
    vm.check('rmmod vcx')
    after = kernel_memory(vm)
    device.assert_empty(vm)
    assert traces(vm) == ''
    assert references(vm) == users
    growth = {name: after[name] - before[name] for name in before}
    print('%s: KiB more after %d reloads: %s' % (guest, RELOADS[guest], growth))
    assert sum(growth.values()) < SLACK_KB, growth
    device.load_driver(vm)
    if guest in HAS_PROVIDER:
        xfer.alone(vm, '--bytes', '1M')


@GUESTS
def test_unbind_and_bind(vms, guest):
    """Through sysfs, while the module stays."""
    vm = vms(count=1, guest=guest, mem=768)[0]
    for _ in range(5):
        vm.check('echo %s >/sys/bus/pci/drivers/vcx/unbind' % device.PCI)
        device.assert_empty(vm)
        vm.check('echo %s >/sys/bus/pci/drivers/vcx/bind' % device.PCI)
    assert 'vcx0' in vm.check('ls /sys/class/infiniband')
    assert 'ACTIVE' in vm.check('cat /sys/class/infiniband/vcx0/ports/1/state')


@pytest.mark.parametrize('guest', HAS_PROVIDER)
def test_unbinding_under_traffic(vms, guest):
    """Programs that use the device see it go; nothing is used after it is freed."""
    vm = vms(count=1, guest=guest, mem=768)[0]
    with vm.start([xfer.TOOL, '--self', '--bytes', '100G', '--qps', '4', '--max-size', '64K',
                   '--events', '--timeout', '3']) as job:
        vm.check('sleep 2')
        assert job.poll() is None, job.output()
        vm.check('echo %s >/sys/bus/pci/drivers/vcx/unbind' % device.PCI)
        device.assert_empty(vm)
        assert job.wait(60).rc == 1
    vm.check('echo %s >/sys/bus/pci/drivers/vcx/bind' % device.PCI)
    xfer.alone(vm, '--bytes', '1M')


@GUESTS
def test_reset_without_a_driver(vms, guest):
    """FLR through sysfs; the driver starts on the fresh device."""
    vm = vms(count=1, guest=guest, mem=768)[0]
    vm.check('rmmod vcx; cat %s/reset_method; echo 1 >%s/reset' % (device.SYSFS, device.SYSFS))
    device.assert_empty(vm)
    device.load_driver(vm)
    assert 'ACTIVE' in vm.check('cat /sys/class/infiniband/vcx0/ports/1/state')


@GUESTS
def test_reset_under_the_driver(vms, guest):
    """The function is reset behind the driver's back: it says so, fails what is
    under way, and works again after it was bound anew."""
    vm = vms(count=1, guest=guest, mem=768)[0]
    job = None
    if guest in HAS_PROVIDER:
        job = vm.start([xfer.TOOL, '--self', '--bytes', '100G', '--events', '--timeout', '5'])
        vm.check('sleep 1')
    vm.check('echo 1 >%s/reset' % device.SYSFS)
    device.assert_empty(vm)
    vm.check('for i in $(seq 100); do dmesg | grep -q "the device has failed" && exit 0; '
             'sleep 0.1; done; exit 1')
    if job:
        assert job.wait(60).rc == 1
    vm.check('echo %s >/sys/bus/pci/drivers/vcx/unbind' % device.PCI)
    vm.check('echo %s >/sys/bus/pci/drivers/vcx/bind' % device.PCI)
    assert 'ACTIVE' in vm.check('cat /sys/class/infiniband/vcx0/ports/1/state')
    if guest in HAS_PROVIDER:
        xfer.alone(vm, '--bytes', '1M')


@GUESTS
def test_hot_unplug_and_plug(vms, guest):
    """device_del with the driver loaded and in use, then device_add of a new one."""
    vm = vms(count=1, guest=guest, mem=768)[0]
    job = None
    if guest in HAS_PROVIDER:
        job = vm.start([xfer.TOOL, '--self', '--bytes', '100G', '--events', '--timeout', '3'])
        vm.check('sleep 1')
    vm.qmp('device_del', id='vcx')
    vm.qmp_client().wait_event('DEVICE_DELETED', timeout=30)
    assert vm.check('ls /sys/class/infiniband') == ''
    assert vm.check('grep vcx /proc/interrupts || true') == ''
    if job:
        assert job.wait(60).rc == 1
    vm.qmp('device_add', driver='vcx', id='vcx', bus='rp1', guid=port_guid(1), lid=1)
    vm.check('for i in $(seq 200); do [ -e /sys/class/infiniband/vcx0 ] && exit 0; sleep 0.1; '
             'done; exit 1', timeout=60)
    assert 'ACTIVE' in vm.check('cat /sys/class/infiniband/vcx0/ports/1/state')
    if guest in HAS_PROVIDER:
        xfer.alone(vm, '--bytes', '1M')
    device.unload_driver(vm)


@GUESTS
def test_power_off(vms, guest):
    """With the driver loaded and in use: at once, without waiting for anything."""
    vm = vms(count=1, guest=guest, mem=768)[0]
    if not vm.check('ls /sys/class/infiniband'):
        device.load_driver(vm)
    if guest in HAS_PROVIDER:
        vm.start([xfer.TOOL, '--self', '--bytes', '100G', '--qps', '4'])
        vm.check('sleep 1')
    vm.ended_by_us = True
    vm.agent.send('off')
    vm.process.wait(20)
    assert 'was not answered' not in vm.console()
