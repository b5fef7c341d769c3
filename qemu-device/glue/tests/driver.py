# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The beginning of a driver: registers, firmware commands, an event queue.

Offsets are those of the initialization segment (include/vcx/regs.h).
"""
import struct

import pci
from qemu_machine import wait_until

BAR0, MSIX_BAR = 0xe0000000, 0xd0000000
# In the machine's RAM.
COMMAND_QUEUE, IN_MAILBOX, OUT_MAILBOX = 0x100000, 0x201000, 0x202000
EVENT_QUEUE, MSIX_TARGET = 0x300000, 0x400000

COMMAND_INTERFACE, QUEUE_HIGH, QUEUE_LOW = 0x004, 0x010, 0x014
COMMAND_DOORBELL, INITIALIZING, FIRMWARE_VERSION = 0x018, 0x1fc, 0x230

INIT_HCA, ENABLE_HCA, QUERY_ISSI = 0x102, 0x104, 0x10a
CREATE_EQ, ALLOC_UAR = 0x301, 0x802
OWNED_BY_DEVICE = 1
TOKEN = 0x5a
EVENT_PORT_CHANGE, PORT_DOWN, PORT_ACTIVE = 9, 1, 4
LOG_EVENTS = 6


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

    def post(self, opcode, body=b'', out_bytes=16, queue=COMMAND_QUEUE):
        """Put a command into slot 0 and ring. body follows the header."""
        data = struct.pack('>HHHH', opcode, 0, 0, 0) + body.ljust(8, b'\0')
        assert len(data) <= 16 + 512 and out_bytes <= 16 + 512
        for address, used in ((IN_MAILBOX, data[16:]), (OUT_MAILBOX, b'')):
            self.machine.store(address, used.ljust(0x230, b'\0') +
                               struct.pack('>QIBBBB', 0, 0, 0, TOKEN, 0, 0))
        entry = struct.pack(
            '>B3xIQ16s16xQIBBBB', 7, len(data),
            IN_MAILBOX if len(data) > 16 else 0, data[:16],
            OUT_MAILBOX if out_bytes > 16 else 0, out_bytes, TOKEN, 0, 0,
            OWNED_BY_DEVICE)
        assert len(entry) == 64
        self.machine.store(queue, entry)
        self.set_register(COMMAND_DOORBELL, 1)

    def execute(self, opcode, body=b'', out_bytes=16):
        """Run a command that must succeed; the 8 bytes after its header."""
        self.post(opcode, body, out_bytes)
        wait_until(f'command {opcode:#x}',
                   lambda: self.owner() != OWNED_BY_DEVICE)
        assert self.owner() == 0, f'delivery status {self.owner() >> 1:#x}'
        assert self.status() == 0, self.machine.load(COMMAND_QUEUE + 0x20, 8).hex()
        return self.machine.load(COMMAND_QUEUE + 0x28, 8)

    def ask(self):
        """Something that the device answers whenever it is enabled."""
        self.execute(QUERY_ISSI, out_bytes=0x70)

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

    def set_vector(self, vector, address, data, masked=False):
        """An entry of the MSI-X table."""
        entry = self.msix + 16 * vector
        self.machine.write(entry, address & 0xffffffff, 4)
        self.machine.write(entry + 4, address >> 32, 4)
        self.machine.write(entry + 8, data, 4)
        self.machine.write(entry + 12, int(masked), 4)

    def create_eq(self, vector, events):
        """An armed event queue; events is a bit mask."""
        uar = struct.unpack('>I4x', self.execute(ALLOC_UAR))[0] & 0xffffff
        for i in range(1 << LOG_EVENTS):
            self.machine.store(EVENT_QUEUE + 64 * i + 63, b'\1')
        context = bytearray(0x40)
        struct.pack_into('>I', context, 0x00, 9 << 8)  # armed
        struct.pack_into('>I', context, 0x0c, LOG_EVENTS << 24 | uar)
        struct.pack_into('>I', context, 0x14, vector)
        body = bytes(8) + context + bytes(8) + struct.pack('>4Q', events, 0, 0, 0)
        body = body.ljust(0x108, b'\0') + struct.pack('>Q', EVENT_QUEUE)
        self.execute(CREATE_EQ, body)

    def event(self, index):
        """(type, sub type) of an entry that the device has written, or None."""
        entry = self.machine.load(EVENT_QUEUE + 64 * index, 64)
        return None if entry[63] & 1 else (entry[1], entry[3])
