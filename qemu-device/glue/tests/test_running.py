# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The device at work: events, interrupts, the wire, hostile addresses."""
import socket
import time

import pytest

import driver
import pci
from qemu_machine import Machine, wait_until

BIOS_ROM = 0xffff0000


class Wire:
    """The other end of a -netdev dgram."""

    def __init__(self, folder):
        self.here, self.there = folder / 'here', folder / 'there'
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.here))

    def netdev(self, name='n'):
        return ('-netdev', f'dgram,id={name},local.type=unix,'
                f'local.path={self.there},remote.type=unix,'
                f'remote.path={self.here}')

    def send(self, frame):
        self.socket.sendto(frame, str(self.there))


@pytest.fixture
def wire(tmp_path):
    w = Wire(tmp_path)
    yield w
    w.socket.close()


VIOMMU = ('-M', 'q35,kernel-irqchip=off', '-device', 'intel-iommu')


@pytest.fixture(params=[('-M', 'q35'), ('-M', 'pc'), VIOMMU],
                ids=['q35', 'pc', 'viommu'])
def machine(request, wire):
    with Machine(*request.param, *wire.netdev(), '-device',
                 'vcx,id=v,addr=4,netdev=n') as m:
        yield m


@pytest.fixture
def hca(machine):
    """Started, with an armed event queue for port events on vector 5."""
    h = driver.Hca(pci.Function(machine, 4))
    h.enable_msix()
    h.set_vector(5, driver.MSIX_TARGET, 0xc0ffee05)
    h.give_queue()
    h.execute(driver.ENABLE_HCA)
    h.execute(driver.INIT_HCA)
    h.create_eq(5, 1 << driver.EVENT_PORT_CHANGE)
    return h


def message(machine, target=driver.MSIX_TARGET):
    return machine.read(target, 4)


def link(machine, up):
    machine.qmp('set_link', name='n', up=up)


def test_link_change_is_an_event_and_an_interrupt(machine, hca):
    link(machine, False)
    wait_until('the event', lambda: hca.event(0))
    assert hca.event(0) == (driver.EVENT_PORT_CHANGE, driver.PORT_DOWN)
    wait_until('the interrupt', lambda: message(machine) == 0xc0ffee05)
    link(machine, True)
    wait_until('the event', lambda: hca.event(1))
    assert hca.event(1) == (driver.EVENT_PORT_CHANGE, driver.PORT_ACTIVE)


def test_masked_vector_is_pending_until_it_is_unmasked(machine, hca):
    hca.set_vector(5, driver.MSIX_TARGET, 0xc0ffee05, masked=True)
    link(machine, False)
    wait_until('the event', lambda: hca.event(0))
    cap = hca.function.capability(pci.CAP_MSIX)
    pending = hca.msix + (hca.function.config(cap + 8, 4) & ~7)
    wait_until('the pending bit', lambda: machine.read(pending, 8) == 1 << 5)
    assert message(machine) == 0
    hca.set_vector(5, driver.MSIX_TARGET, 0xc0ffee05)
    assert message(machine) == 0xc0ffee05
    assert machine.read(pending, 8) == 0


def test_interrupt_pointed_at_the_device_itself(machine, hca):
    """It arrives as a write to a doorbell register; nothing hangs."""
    hca.set_vector(5, hca.registers + driver.COMMAND_DOORBELL, 0x01000000)
    link(machine, False)
    wait_until('the event', lambda: hca.event(0))
    hca.ask()


def test_no_event_after_a_reset(machine, hca):
    hca.function.function_level_reset()
    hca.enable()
    hca.enable_msix()
    hca.set_vector(5, driver.MSIX_TARGET, 0xc0ffee05)
    link(machine, False)
    link(machine, True)
    assert hca.event(0) is None
    assert message(machine) == 0


def test_no_interrupt_without_bus_master(machine, hca):
    hca.function.disable(pci.COMMAND_MASTER)
    link(machine, False)
    assert message(machine) == 0
    assert hca.event(0) is None


def test_deleted_netdev_takes_the_link_down(machine, hca):
    machine.qmp('netdev_del', id='n')
    wait_until('the event', lambda: hca.event(0))
    assert hca.event(0) == (driver.EVENT_PORT_CHANGE, driver.PORT_DOWN)


def dropped(machine):
    """Frames that were looked at; none of ours is an InfiniBand packet."""
    return sum(value for name, value in machine.counters('v').items()
               if name.startswith('drop_'))


def test_frames_arrive(machine, wire):
    for size in (14, 60, 1514, 9000):
        wire.send(b'\xff' * 12 + b'\x88\xb5' + bytes(size - 14))
    wait_until('the frames', lambda: dropped(machine) == 4)


def test_frames_wait_while_the_machine_is_stopped(machine, wire):
    machine.qmp('stop')
    wire.send(b'\xff' * 12 + b'\x88\xb5' + bytes(46))
    time.sleep(0.2)
    assert dropped(machine) == 0
    machine.qmp('cont')
    wait_until('the frame', lambda: dropped(machine) == 1)


def test_dma_outside_of_ram_is_a_bus_error(machine):
    """Own registers, own MSI-X table, the interrupt controller, nothing."""
    hca = driver.Hca(pci.Function(machine, 4))
    for i, where in enumerate((driver.BAR0, driver.MSIX_BAR, 0xfee00000,
                               0xfffffffffffff000, 1 << 40)):
        hca.set_register(driver.QUEUE_HIGH, where >> 32)
        hca.set_register(driver.QUEUE_LOW, where & 0xffffffff)
        hca.set_register(driver.COMMAND_DOORBELL, 1)
        wait_until('the error', lambda want=i + 1:
                   machine.counters('v')['commands_undeliverable'] == want)
        assert hca.register(driver.COMMAND_INTERFACE) >> 16 == 5
    hca.function.function_level_reset()
    hca.enable()
    hca.give_queue()
    hca.execute(driver.ENABLE_HCA)


def test_firmware_rom_is_not_written(machine):
    """It can be read like RAM; the answer of a command cannot go there."""
    hca = driver.Hca(pci.Function(machine, 4))
    before = machine.load(BIOS_ROM, 4096)
    hca.set_register(driver.QUEUE_HIGH, 0)
    hca.set_register(driver.QUEUE_LOW, BIOS_ROM)
    hca.set_register(driver.COMMAND_DOORBELL, 0xffffffff)
    assert machine.load(BIOS_ROM, 4096) == before
    assert hca.register(driver.COMMAND_INTERFACE) >> 16 == 5


def test_two_devices_do_not_share_anything():
    with Machine('-M', 'q35', '-device', 'vcx,id=a,addr=4,x-device-id=0x11',
                 '-device', 'vcx,id=b,addr=5,max-qp=64') as m:
        a = driver.Hca(pci.Function(m, 4))
        b = driver.Hca(pci.Function(m, 5), driver.BAR0 + 0x10000000,
                       driver.MSIX_BAR + 0x1000000)
        assert a.function.config(2, 2) == 0x11
        assert b.function.config(2, 2) == 0x5658
        a.give_queue()
        a.execute(driver.ENABLE_HCA)
        assert m.counters('a')['commands'] == 1
        assert m.counters('b')['commands'] == 0
        b.function.function_level_reset()
        a.ask()


def test_quit_while_running(machine, hca):
    """The device thread ends with the machine; __exit__ looks at the code."""
    assert hca.register(driver.COMMAND_INTERFACE) >> 16 == 5
