# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Plug and unplug while the machine runs."""
import pytest

import driver
import pci
from qemu_machine import Machine, wait_until

# Slot control: what an operating system writes to power a slot on and off.
POWER_OFF = 1 << 10
INDICATOR_ON, INDICATOR_OFF = 1 << 8, 3 << 8
BUS = 1
PREFETCHABLE, MEMORY = 0x800000000, 0xd0000000


class RootPort:
    """A PCIe port whose slot the test operates as a guest would."""

    def __init__(self, machine):
        self.function = pci.Function(machine, 3)
        self.cap = self.function.capability(pci.CAP_EXPRESS)
        port = self.function
        port.set_config(pci.BRIDGE_BUSES, BUS << 16 | BUS << 8, 4)
        end = PREFETCHABLE + (1 << 30) - 1
        port.set_config(pci.BRIDGE_PREFETCHABLE,
                        (end >> 16 & 0xfff0) << 16 | PREFETCHABLE >> 16 & 0xfff0, 4)
        port.set_config(pci.BRIDGE_PREFETCHABLE_HIGH, PREFETCHABLE >> 32, 4)
        port.set_config(pci.BRIDGE_PREFETCHABLE_HIGH + 4, end >> 32, 4)
        end = MEMORY + (1 << 24) - 1
        port.set_config(pci.BRIDGE_MEMORY,
                        (end >> 16 & 0xfff0) << 16 | MEMORY >> 16 & 0xfff0, 4)
        port.enable()

    def power(self, on):
        register = self.cap + pci.EXP_SLTCTL
        value = self.function.config(register, 2) & ~(POWER_OFF | INDICATOR_OFF)
        value |= INDICATOR_ON if on else POWER_OFF | INDICATOR_OFF
        self.function.set_config(register, value, 2)


@pytest.fixture
def machine():
    with Machine('-M', 'q35',
                 '-global', 'ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off',
                 '-device', 'pcie-root-port,id=rp,chassis=1,addr=3') as m:
        yield m


def plug(machine, port, **properties):
    machine.qmp('device_add', driver='vcx', id='v', bus='rp', **properties)
    port.power(True)
    return driver.Hca(pci.Function(machine, 0, bus=BUS), PREFETCHABLE, MEMORY)


def run_a_command(hca):
    hca.give_queue()
    hca.post(driver.ENABLE_HCA)
    wait_until('the command', lambda: hca.owner() == 0)
    assert hca.status() == 0


def unplug(machine, port):
    machine.qmp('device_del', id='v')
    port.power(False)
    while machine.wait_event('DEVICE_DELETED').get('device') != 'v':
        pass


def test_plug_and_unplug_three_times(machine):
    port = RootPort(machine)
    for _ in range(3):
        hca = plug(machine, port)
        assert hca.register(driver.COMMAND_INTERFACE) >> 16 == 5
        run_a_command(hca)
        unplug(machine, port)
        assert machine.qmp('qom-list', path='/machine/peripheral') == \
            [{'name': 'type', 'type': 'string'},
             {'name': 'rp', 'type': 'child<pcie-root-port>'}]
        assert hca.function.config(0, 4) == 0xffffffff


def test_the_bar_is_gone_after_unplug(machine):
    port = RootPort(machine)
    hca = plug(machine, port)
    unplug(machine, port)
    assert hca.register(driver.COMMAND_INTERFACE) in (0, 0xffffffff)


def test_unplug_with_a_wire(machine):
    """The netdev survives its device and serves the next one."""
    port = RootPort(machine)
    machine.qmp('netdev_add', type='hubport', id='n', hubid=1)
    for _ in range(2):
        run_a_command(plug(machine, port, netdev='n'))
        unplug(machine, port)
    machine.qmp('netdev_del', id='n')


def test_express_link_reaches_the_port(machine):
    """The port shows what was negotiated: speed 4, 16 lanes."""
    port = RootPort(machine)
    plug(machine, port)
    status = port.function.config(port.cap + pci.EXP_LNKSTA, 2)
    assert status & 0x3ff == 16 << 4 | 4


def test_device_type_behind_a_port_is_endpoint(machine):
    hca = plug(machine, RootPort(machine))
    cap = hca.function.capability(pci.CAP_EXPRESS)
    assert hca.function.config(cap + pci.EXP_FLAGS, 2) >> 4 & 0xf == 0


def test_refused_plug_leaves_nothing_behind(machine):
    machine.qmp_error('device_add', driver='vcx', id='v', bus='rp', link='eth')
    run_a_command(plug(machine, RootPort(machine)))
