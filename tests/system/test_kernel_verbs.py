# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Kernel verbs, with the module vcx_kverbs: posting, polling in each context and
draining, on a live device and on one that dies."""
import re

import pytest

import device

GUESTS = pytest.mark.parametrize('guest', ('trixie', 'bookworm'))
MODULE = '/modules/%s/vcx_kverbs.ko'


def log_of_module(vm):
    """What the module has said."""
    return re.findall(r'\] kverbs: (.*)$', vm.kernel_log(), re.M)


@GUESTS
def test_kernel_verbs(vms, guest):
    """Every case passes in each way of polling, and leaves nothing."""
    vm = vms(count=1, guest=guest, mem=768)[0]
    before = len(log_of_module(vm))
    vm.check('insmod ' + MODULE % guest, timeout=120)
    said = [line for line in log_of_module(vm)[before:] if line.count(':') == 2]
    assert {line.split(':')[0] for line in said} == {'softirq', 'workqueue', 'direct'}
    assert len(said) >= 9 and all(line.endswith(': ok') for line in said), said
    vm.check('rmmod vcx_kverbs')
    assert 'objects_qp' not in device.objects(vm)


@GUESTS
def test_draining_a_dead_device(vms, guest):
    """Receives are posted, the device is reset: draining comes to its end, all are
    flushed, and the driver works after it was bound again."""
    vm = vms(count=1, guest=guest, mem=768)[0]
    vm.check('insmod %s hold=1' % (MODULE % guest))
    assert device.objects(vm)['objects_qp'] == 2
    vm.check('echo 1 >%s/reset' % device.SYSFS)
    vm.check('for i in $(seq 100); do dmesg | grep -q "the device has failed" && exit 0; '
             'sleep 0.1; done; exit 1')
    vm.check('rmmod vcx_kverbs', timeout=60)
    drained = [line for line in log_of_module(vm) if line.startswith('drained')][-1]
    assert re.fullmatch(r'drained, (\d+) of \1 flushed', drained), drained
    vm.check('echo %s >/sys/bus/pci/drivers/vcx/unbind' % device.PCI)
    vm.check('echo %s >/sys/bus/pci/drivers/vcx/bind' % device.PCI)
    assert 'ACTIVE' in vm.check('cat /sys/class/infiniband/vcx0/ports/1/state')
