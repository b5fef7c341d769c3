# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The stock mlx5_core of both guests drives the device: a judge of it that
nobody here wrote. It does not know our PCI ID, so it is told by new_id."""
import pytest

import device

pytestmark = pytest.mark.conformance
GUESTS = pytest.mark.parametrize('guest', ('trixie', 'bookworm'))
PAGES = pytest.mark.parametrize('boot, init', [(0, 0), (37, 1500)],
                                ids=('no_pages', 'page_supply'))
DRIVER = '/sys/bus/pci/drivers/mlx5_core'


def assert_bound(vm, boot, init):
    """The stock driver has the device, and gave it the pages that it asked for."""
    assert device.PCI in vm.check('ls ' + DRIVER)
    loaded = device.objects(vm)
    assert loaded['objects_eq'] > 0 and loaded['objects_uar'] > 0
    assert loaded.get('objects_page', 0) == boot + init


@PAGES
@GUESTS
def test_stock_driver(vms, guest, boot, init):
    """Bound, unbound, bound, and the module removed: without a complaint, without
    an error in the log, and with nothing left in the device. Then our driver, which
    finds it as new."""
    vm = vms(count=1, guest=guest, driver='none', mem=768,
             device_opts='boot-pages=%d,init-pages=%d' % (boot, init))[0]
    vm.check('modprobe -a mlx5_core mlx5_ib && echo 1234 5658 >%s/new_id' % DRIVER)
    assert 'firmware version' in vm.kernel_log()
    assert_bound(vm, boot, init)
    vm.check('echo %s >%s/unbind' % (device.PCI, DRIVER), timeout=90)
    device.assert_empty(vm)
    vm.check('echo %s >%s/bind' % (device.PCI, DRIVER), timeout=90)
    assert_bound(vm, boot, init)
    vm.check('rmmod mlx5_ib mlx5_core', timeout=90)
    device.assert_empty(vm)
    # mlx5_ib may be unable to use the device; its own line says so.
    errors = vm.check('dmesg --level emerg,alert,crit,err | grep mlx5_core | '
                      'grep -v "] mlx5_ib" || true')
    assert errors == ''
    assert vm.check('grep mlx5 /proc/interrupts || true') == ''

    vm.check('modprobe ib_uverbs && insmod /modules/%s/vcx.ko' % guest)
    assert device.objects(vm).get('objects_page', 0) == boot + init
    assert 'ACTIVE' in vm.check('cat /sys/class/infiniband/vcx0/ports/1/state')
    device.unload_driver(vm)
