# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The PCI function: identity, BARs, capabilities, resets."""
import pytest

import driver
import pci
from qemu_machine import Machine, wait_until

VCX = 'vcx,id=v,addr=4,guid=0002c90300a0b1c2'


@pytest.fixture(params=['q35', 'pc'])
def machine(request):
    with Machine('-M', request.param, '-device', VCX) as m:
        yield m


@pytest.fixture
def function(machine):
    return pci.Function(machine, 4)


def test_identity(function):
    assert function.config(0, 4) == 0x56581234
    assert function.config(8, 4) >> 8 == 0x020700
    assert function.config(0x2c, 4) == 0x56581234


def test_register_bar_is_64_bits_wide_and_prefetchable(function):
    flags, size = function.bar(0)
    assert flags == 0xc
    assert size >= 1 << 22 and size & (size - 1) == 0


def test_initialization_segment(function):
    hca = driver.Hca(function)
    assert hca.register(driver.COMMAND_INTERFACE) >> 16 == 5
    assert hca.register(driver.INITIALIZING) >> 31 == 0
    assert hca.register(driver.FIRMWARE_VERSION) not in (0, 0xffffffff)
    slots = hca.register(driver.QUEUE_LOW)
    assert 1 <= slots >> 4 & 0xf <= 5 and slots & 0xf == 6


def test_registers_at_every_size(function):
    hca = driver.Hca(function)
    m = hca.machine
    word = m.read(hca.registers + 4, 4)
    assert word != 0
    assert m.read(hca.registers + 0, 8) >> 32 == word
    assert [m.read(hca.registers + 4 + i, 1) for i in range(4)] == \
        list(word.to_bytes(4, 'little'))
    assert m.read(hca.registers + 4, 2) == word & 0xffff


def test_the_whole_bar_can_be_read(function):
    """No offset is out of bounds, up to the last byte."""
    _, size = function.bar(0)
    hca = driver.Hca(function)
    for offset in (0x2ffc, 0x3000, size // 2, size - 8):
        hca.machine.read(hca.registers + offset, 8)


def test_msix_has_a_bar_of_its_own(function):
    cap = function.capability(pci.CAP_MSIX)
    assert (function.config(cap + 2, 2) & 0x7ff) + 1 == 64
    table, pending = function.config(cap + 4, 4), function.config(cap + 8, 4)
    assert table & 7 == 2 and pending & 7 == 2
    flags, size = function.bar(2)
    assert flags == 0
    assert size >= 64 * 16 + 8


def test_one_vector_for_every_cpu_and_more():
    with Machine('-M', 'q35', '-smp', '1,maxcpus=100', '-device', VCX) as m:
        function = pci.Function(m, 4)
        cap = function.capability(pci.CAP_MSIX)
        assert (function.config(cap + 2, 2) & 0x7ff) + 1 == 116


def test_no_interrupt_pin(function):
    assert function.config(0x3d, 1) == 0


def test_express_capability(function):
    cap = function.capability(pci.CAP_EXPRESS)
    assert function.config(cap + pci.EXP_FLAGS, 2) & 0xf == 2
    assert function.config(cap + pci.EXP_DEVCAP, 4) & pci.DEVCAP_FLR
    # 16 GT/s is speed 4; 16 lanes
    assert function.config(cap + pci.EXP_LNKCAP, 4) & 0x3ff == 16 << 4 | 4
    assert function.config(cap + pci.EXP_LNKSTA, 2) & 0x3ff == 16 << 4 | 4


def test_serial_number_is_the_guid():
    with Machine('-M', 'q35', '-device', VCX) as m:
        function = pci.Function(m, 4)
        assert function.extended(0x100) & 0xffff == 3
        assert function.extended(0x104) == 0x00a0b1c2
        assert function.extended(0x108) == 0x0002c903


def test_other_identity():
    with Machine('-M', 'q35', '-device', VCX +
                 ',x-vendor-id=0x15b3,x-device-id=0x1017,'
                 'x-subsystem-vendor-id=0x15b4,x-subsystem-id=0x12') as m:
        function = pci.Function(m, 4)
        assert function.config(0, 4) == 0x101715b3
        assert function.config(0x2c, 4) == 0x001215b4


def test_command_reaches_guest_memory(function):
    hca = driver.Hca(function)
    hca.give_queue()
    hca.post(driver.ENABLE_HCA)
    wait_until('the command', lambda: hca.owner() != driver.OWNED_BY_DEVICE)
    assert hca.owner() == 0
    assert hca.status() == 0


def test_no_dma_without_bus_master(function):
    hca = driver.Hca(function)
    hca.give_queue()
    function.disable(pci.COMMAND_MASTER)
    hca.post(driver.ENABLE_HCA)
    assert hca.register(driver.COMMAND_INTERFACE) >> 16 == 5
    assert hca.owner() == driver.OWNED_BY_DEVICE


def assert_forgotten(hca):
    """Registers work again, and the old command queue is not known any more."""
    assert hca.function.config(pci.COMMAND, 2) & pci.COMMAND_MASTER == 0
    hca.enable()
    assert hca.register(driver.COMMAND_INTERFACE) >> 16 == 5
    hca.post(driver.ENABLE_HCA)
    assert hca.owner() == driver.OWNED_BY_DEVICE
    hca.give_queue()
    hca.post(driver.ENABLE_HCA)
    wait_until('the command', lambda: hca.owner() != driver.OWNED_BY_DEVICE)
    assert hca.status() == 0


def start_hca(function):
    hca = driver.Hca(function)
    hca.give_queue()
    hca.post(driver.ENABLE_HCA)
    wait_until('the command', lambda: hca.owner() != driver.OWNED_BY_DEVICE)
    return hca


def test_function_level_reset_forgets_everything(function):
    hca = start_hca(function)
    function.function_level_reset()
    assert_forgotten(hca)


def test_system_reset_forgets_everything(machine, function):
    hca = start_hca(function)
    machine.qmp('system_reset')
    machine.wait_event('RESET')
    assert_forgotten(hca)


def test_kind_of_reset_is_traced():
    with Machine('-M', 'q35', '-device', VCX, '-trace', 'vcx_reset') as m:
        pci.Function(m, 4).function_level_reset()
        m.qmp('system_reset')
        m.wait_event('RESET')
        wait_until('the trace', lambda: 'system reset' in m.output())
        lines = [line for line in m.output().splitlines() if 'vcx_reset' in line]
        assert any('function level reset' in line for line in lines)


def test_cannot_be_migrated(machine):
    assert '/vcx' in machine.qmp_error('migrate', uri='exec:cat >/dev/null')
