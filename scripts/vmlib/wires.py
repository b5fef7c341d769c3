# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Wires between VMs: UNIX stream sockets between their QEMU processes.

Two VMs are joined directly. With more, VM 1's QEMU holds a hub to which each
other VM is connected: a star whose centre is VM 1.
"""


class Wire:
    """One wire, an Ethernet segment, as QEMU -netdev arguments."""

    def __init__(self, name, count, folder):
        self.name, self.count = name, count
        self.folder = folder

    def path(self, number):
        """The socket on which VM 1 waits for VM `number`."""
        return '%s/%s-%d' % (self.folder, self.name, number)

    def listening(self):
        """The sockets that exist once VM 1 runs."""
        return [self.path(number) for number in range(2, self.count + 1)]

    def netdev(self, number):
        """The arguments that define netdev `name` in VM `number`."""
        name = self.name
        if self.count == 1:         # nobody to talk to: a hub with one port
            return ['-netdev', 'hubport,id=%s,hubid=9' % name]
        if number > 1:
            return ['-netdev', 'stream,id=%s,server=off,addr.type=unix,addr.path=%s'
                    % (name, self.path(number))]
        if self.count == 2:
            return ['-netdev', self._server(name, 2)]
        hub = {'mgmt': 0, 'rdma': 1}[name]
        args = ['-netdev', 'hubport,id=%s,hubid=%d' % (name, hub)]
        for other in range(2, self.count + 1):
            spoke = '%s%d' % (name, other)
            args += ['-netdev', self._server(spoke, other),
                     '-netdev', 'hubport,id=%shub%d,hubid=%d,netdev=%s'
                     % (name, other, hub, spoke)]
        return args

    def _server(self, netdev, other):
        return ('stream,id=%s,server=on,addr.type=unix,addr.path=%s'
                % (netdev, self.path(other)))
