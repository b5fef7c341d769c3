# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Wires between VMs: pairs of connected sockets between their QEMU processes.

Two VMs are joined directly. With more, VM 1's QEMU holds a hub to which each
other VM is connected: a star whose centre is VM 1.

The sockets are made here, and each QEMU gets its end as a file descriptor: it
then takes it for one that it has connected itself, which never blocks. One that
QEMU 7.2 has accepted (`-netdev stream,server=on`) does, and its whole VM stands
still while the other one does not read.
"""
import socket

# Room for some large packets; the kernel gives less where its limit is lower.
BUFFER_BYTES = 1 << 20
HUBS = {'mgmt': 0, 'rdma': 1, 'rxe': 2}


class Wire:
    """One wire, an Ethernet segment, as QEMU -netdev arguments."""

    def __init__(self, name, count):
        self.name, self.count = name, count
        # By the number of the VM at the far end: VM 1's socket and its own.
        self.pairs = {number: socket.socketpair() for number in range(2, count + 1)}
        for pair in self.pairs.values():
            for end in pair:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)

    def ends(self, number):
        """The file descriptors that the QEMU process of VM `number` inherits."""
        if self.count == 1:
            return []
        if number == 1:
            return [pair[0].fileno() for pair in self.pairs.values()]
        return [self.pairs[number][1].fileno()]

    def close(self):
        """Forget the sockets. Once the QEMU processes have them, each learns from
        its own that the other has ended."""
        for pair in self.pairs.values():
            for end in pair:
                end.close()

    def netdev(self, number):
        """The arguments that define netdev `name` in VM `number`."""
        name = self.name
        if self.count == 1:
            # Nobody to talk to; but frames must go somewhere, or the guest's NIC
            # complains that it cannot send (as behind a hub with one port).
            return ['-netdev', 'user,id=%s,restrict=on' % name]
        if number > 1:
            return ['-netdev', self._stream(name, self.pairs[number][1])]
        if self.count == 2:
            return ['-netdev', self._stream(name, self.pairs[2][0])]
        hub = HUBS[name]
        args = ['-netdev', 'hubport,id=%s,hubid=%d' % (name, hub)]
        for other in range(2, self.count + 1):
            spoke = '%s%d' % (name, other)
            args += ['-netdev', self._stream(spoke, self.pairs[other][0]),
                     '-netdev', 'hubport,id=%shub%d,hubid=%d,netdev=%s'
                     % (name, other, hub, spoke)]
        return args

    @staticmethod
    def _stream(netdev, end):
        return 'stream,id=%s,server=off,addr.type=fd,addr.str=%d' % (netdev, end.fileno())
