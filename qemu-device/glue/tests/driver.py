# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The beginning of a driver: registers, interrupts, one firmware command.

Offsets are those of the initialization segment (include/vcx/regs.h).
"""
import struct

import pci

BAR0, MSIX_BAR = 0xe0000000, 0xd0000000
COMMAND_QUEUE, MESSAGE = 0x100000, 0x200000  # in the machine's RAM

COMMAND_INTERFACE, QUEUE_HIGH, QUEUE_LOW = 0x004, 0x010, 0x014
COMMAND_DOORBELL, INITIALIZING, FIRMWARE_VERSION = 0x018, 0x1fc, 0x230

ENABLE_HCA = 0x104
OWNED_BY_DEVICE = 1


class Hca:
    """The device, its BARs placed and enabled."""

    def __init__(self, function, registers=BAR0, msix=MSIX_BAR):
        self.function = function
        self.machine = function.machine
        self.registers = registers
        self.msix = msix
        self.enable()

    def enable(self):
        self.function.place_bar(0, self.registers)
        self.function.place_bar(2, self.msix)
        self.function.enable()

    def register(self, offset):
        """A big-endian register."""
        return int.from_bytes(
            self.machine.read(self.registers + offset, 4).to_bytes(4, 'little'),
            'big')

    def set_register(self, offset, value):
        swapped = int.from_bytes(value.to_bytes(4, 'big'), 'little')
        self.machine.write(self.registers + offset, swapped, 4)

    def give_queue(self):
        self.set_register(QUEUE_HIGH, COMMAND_QUEUE >> 32)
        self.set_register(QUEUE_LOW, COMMAND_QUEUE & 0xffffffff)

    def post(self, opcode):
        """Put a command without parameters into slot 0 and ring."""
        entry = struct.pack('>B3xIQHHI8x16xQIBBBB', 7, 16, 0, opcode, 0, 0, 0,
                            16, 1, 0, 0, OWNED_BY_DEVICE)
        assert len(entry) == 64
        self.machine.store(COMMAND_QUEUE, entry)
        self.set_register(COMMAND_DOORBELL, 1)

    def owner(self):
        """Status and ownership byte of slot 0."""
        return self.machine.load(COMMAND_QUEUE + 0x3f, 1)[0]

    def status(self):
        """The command's own status."""
        return self.machine.load(COMMAND_QUEUE + 0x20, 1)[0]

    def enable_msix(self):
        cap = self.function.capability(pci.CAP_MSIX)
        control = self.function.config(cap + 2, 2)
        self.function.set_config(cap + 2, control | 0x8000, 2)
