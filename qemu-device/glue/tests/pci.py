# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""A PCI function as firmware and a driver see it, through Machine."""

CONFIG_ADDRESS, CONFIG_DATA = 0xcf8, 0xcfc
Q35_HOST_BRIDGE_ECAM = 0x60  # register of the host bridge
ECAM = 0xb0000000

COMMAND, COMMAND_MEMORY, COMMAND_MASTER = 0x04, 0x2, 0x4
CAP_EXPRESS, CAP_MSIX = 0x10, 0x11
EXP_FLAGS, EXP_DEVCAP, EXP_DEVCTL = 0x02, 0x04, 0x08
EXP_LNKCAP, EXP_LNKSTA, EXP_SLTCTL = 0x0c, 0x12, 0x18
DEVCAP_FLR, DEVCTL_FLR = 1 << 28, 1 << 15

BRIDGE_BUSES, BRIDGE_PREFETCHABLE = 0x18, 0x24
BRIDGE_PREFETCHABLE_HIGH, BRIDGE_MEMORY = 0x28, 0x20


class Function:
    """One function; slot and bus say where."""

    def __init__(self, machine, slot, bus=0, function=0):
        self.machine = machine
        self.where = bus << 16 | slot << 11 | function << 8

    def _select(self, offset):
        self.machine.cpu(f'outl {CONFIG_ADDRESS:#x} '
                         f'{0x80000000 | self.where | offset & 0xfc:#x}')
        return CONFIG_DATA + (offset & 3)

    def config(self, offset, size):
        port = self._select(offset)
        return int(self.machine.cpu(f'in{" bw l"[size]} {port:#x}')[0], 16)

    def set_config(self, offset, value, size):
        port = self._select(offset)
        self.machine.cpu(f'out{" bw l"[size]} {port:#x} {value:#x}')

    def extended(self, offset):
        """Configuration space beyond 256 bytes, on q35."""
        bridge = Function(self.machine, 0)
        bridge.set_config(Q35_HOST_BRIDGE_ECAM, ECAM | 1, 4)
        return self.machine.read(ECAM + (self.where << 4) + offset, 4)

    def capability(self, wanted):
        """Offset of a capability, or None."""
        offset = self.config(0x34, 1)
        while offset:
            if self.config(offset, 1) == wanted:
                return offset
            offset = self.config(offset + 1, 1)
        return None

    def bar(self, number):
        """(flags, size) of a BAR; leaves it without an address."""
        register = 0x10 + 4 * number
        self.set_config(register, 0xffffffff, 4)
        low = self.config(register, 4)
        mask = low & ~0xf | 0xffffffff00000000
        if low & 6 == 4:
            self.set_config(register + 4, 0xffffffff, 4)
            mask = self.config(register + 4, 4) << 32 | low & ~0xf
        return low & 0xf, (1 << 64) - mask

    def place_bar(self, number, address):
        register = 0x10 + 4 * number
        wide = self.config(register, 4) & 6 == 4
        self.set_config(register, address & 0xffffffff, 4)
        if wide:
            self.set_config(register + 4, address >> 32, 4)

    def enable(self, bits=COMMAND_MEMORY | COMMAND_MASTER):
        self.set_config(COMMAND, self.config(COMMAND, 2) | bits, 2)

    def disable(self, bits):
        self.set_config(COMMAND, self.config(COMMAND, 2) & ~bits, 2)

    def function_level_reset(self):
        cap = self.capability(CAP_EXPRESS)
        control = self.config(cap + EXP_DEVCTL, 2)
        self.set_config(cap + EXP_DEVCTL, control | DEVCTL_FLR, 2)
