# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""A group of VMs on common wires, started and stopped together."""
import os
import shutil
import sys
import tempfile
import time

from . import accel as acceleration
from . import artifacts
from .errors import KernelComplaint, VmDied, VmError
from .options import TOP, Options
from .vm import Vm
from .wires import HUBS, Wire

# QEMU from 8 to 10 ends with this now and then when a VM with several CPUs boots
# under TCG: one of them uses a map of the memory that another has just changed.
# (QEMU's issue 1921.) No device is involved.
FAULT_OF_QEMU = 'iotlb_to_section: Assertion'
BOOTS = 3


class VmGroup:
    """The VMs that a set of options describes.

        with VmGroup(count=2) as (a, b):
            rc, out = a.run('ibv_devinfo')

    The thread that starts the group must live as long as its VMs: the kernel
    ends a QEMU process with the thread that started it.
    """

    def __init__(self, options=None, **changes):
        self.options = options or Options(**changes)
        self.vms, self.out, self.sockets = [], None, None
        self.seconds_ready = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None:
                self.assert_clean()
        finally:
            self.stop()

    def __iter__(self):
        return iter(self.vms)

    def __getitem__(self, index):
        return self.vms[index]

    def __len__(self):
        return len(self.vms)

    def _make_folders(self):
        if self.options.out:
            self.out = os.path.realpath(self.options.out)
            os.makedirs(self.out, exist_ok=True)
            for name in os.listdir(self.out):
                if name == 'pair' or (name.startswith('vm') and name[2:].isdigit()):
                    shutil.rmtree('%s/%s' % (self.out, name))
        else:
            parent = TOP + '/build/vm'
            os.makedirs(parent, exist_ok=True)
            self.out = tempfile.mkdtemp(prefix=time.strftime('%m%d-%H%M%S-'), dir=parent)
        if set(self.out) & set(',= '):
            raise VmError('QEMU cannot take a comma, an equals sign or a space in '
                          + self.out)
        os.makedirs(self.out + '/pair')
        # Not in the log folder: a UNIX socket's path has at most 107 bytes.
        self.sockets = tempfile.mkdtemp(prefix='vcx-vm-', dir='/tmp')

    def start(self):
        """Boot all VMs and load their drivers; anew when QEMU's own fault ended one
        of them."""
        for boots_left in reversed(range(BOOTS)):
            try:
                self._start()
                return
            except BaseException as error:
                self.stop(quick=True)
                name = isinstance(error, VmDied) and self._ended_by_qemu()
                if not name or boots_left == 0:
                    raise
                print('%s: QEMU ended with a known fault of its own (%s); booting again'
                      % (name, FAULT_OF_QEMU), file=sys.stderr, flush=True)

    def _ended_by_qemu(self):
        """Name of a VM that a known fault of QEMU ended."""
        return next((vm.name for vm in self.vms if FAULT_OF_QEMU in vm.qemu_log()), None)

    def _start(self):
        options = self.options
        image = artifacts.guest_image(options.guest)
        artifacts.build_device(options)
        accel = acceleration.choose(options.accel, image)
        self._make_folders()
        self.vms = [Vm(options, number, self.out, self.sockets)
                    for number in range(1, options.count + 1)]
        for vm in self.vms:
            vm.prepare()
        wires = {name: Wire(name, options.count) for name in HUBS}
        try:
            for vm in self.vms:
                vm.launch(image, wires, accel)
        finally:
            for wire in wires.values():
                wire.close()
        for vm in self.vms:
            vm.connect()
        for vm in self.vms:
            vm.wait_up()
        for vm in self.vms:
            vm.load_driver()
        self.seconds_ready = time.monotonic() - self.vms[0].began

    def complaints(self):
        """What kernels and devices complained about, headed by the VM's name."""
        return ['%s: %s' % (vm.name, text) for vm in self.vms
                for text in vm.kernel_complaints() + vm.device_complaints()]

    def assert_clean(self):
        """Raise KernelComplaint when a kernel, or a sanitizer in a device, has
        complained."""
        found = self.complaints()
        if found:
            raise KernelComplaint('\n...\n'.join(found))

    def stop(self, quick=False):
        """Power off all VMs; keep the logs."""
        for vm in self.vms:
            if quick:
                vm.kill()
            else:
                vm.stop()
        for vm in self.vms:
            if os.path.isdir(vm.dir):
                with open(vm.dir + '/kernel.log', 'w', encoding='utf-8') as file:
                    file.write(vm.kernel_log() + '\n')
        if self.sockets:
            shutil.rmtree(self.sockets, ignore_errors=True)
            self.sockets = None
