# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The stock mlx5_core of both guests drives the device: a judge of it that
nobody here wrote. It does not know our PCI ID, so it is told by new_id."""
import pytest

import device

GUESTS = pytest.mark.parametrize('guest', ('trixie', 'bookworm'))
PAGES = pytest.mark.parametrize('options', ('', 'boot-pages=37,init-pages=1500'),
                                ids=('no_pages', 'page_supply'))
DRIVER = '/sys/bus/pci/drivers/mlx5_core'


@PAGES
@GUESTS
def test_probe_and_remove(vms, guest, options):
    """Bound, unbound, bound, and the module removed: without a complaint, without
    a failed command in the log, and with nothing left in the device."""
    vm = vms(count=1, guest=guest, driver='mlx5', device_opts=options, mem=768)[0]
    log = vm.kernel_log()
    assert 'firmware version' in log
    for _ in range(2):
        assert device.PCI in vm.check('ls ' + DRIVER)
        loaded = device.objects(vm)
        assert loaded['objects_eq'] > 0 and loaded['objects_uar'] > 0
        if options:
            assert loaded['objects_page'] >= 1537
        else:
            assert 'objects_page' not in loaded
        vm.check('echo %s >%s/unbind' % (device.PCI, DRIVER), timeout=90)
        device.assert_empty(vm)
        vm.check('echo %s >%s/bind' % (device.PCI, DRIVER), timeout=90)
    vm.check('rmmod mlx5_ib mlx5_core', timeout=90)
    device.assert_empty(vm)
    # mlx5_ib may be unable to use the device; its own line says so.
    errors = vm.check('dmesg --level emerg,alert,crit,err | grep mlx5_core | '
                      'grep -v "] mlx5_ib" || true')
    assert errors == ''
    assert vm.check('grep mlx5 /proc/interrupts || true') == ''


@GUESTS
def test_our_driver_after_the_stock_one(vms, guest):
    """Each leaves the device so that the other can use it; page supply on."""
    vm = vms(count=1, guest=guest, driver='vcx', mem=768,
             device_opts='boot-pages=9,init-pages=1000')[0]
    assert device.objects(vm)['objects_page'] == 1009
    device.unload_driver(vm)
    vm.check('/vm/guest/load-driver mlx5', timeout=120)
    assert device.PCI in vm.check('ls ' + DRIVER)
    vm.check('rmmod mlx5_ib mlx5_core', timeout=90)
    device.assert_empty(vm)
    device.load_driver(vm)
    assert 'ACTIVE' in vm.check('cat /sys/class/infiniband/vcx0/ports/1/state')
    device.unload_driver(vm)
