# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""What a VM can be asked to be."""
import os
from dataclasses import dataclass, field

from .errors import VmError

GUESTS = ('trixie', 'bookworm')
DEVICES = ('none', 'vcx', 'rxe')
DRIVERS = ('none', 'vcx', 'mlx5', 'rxe')
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
CACHE = os.environ.get('VCX_CACHE') or os.path.expanduser('~/.cache/vcx')


@dataclass
class Options:
    """Options of a group of VMs; one set for all of them."""
    guest: str = 'trixie'       # which image
    count: int = 1              # how many VMs
    smp: int = 1                # CPUs of each
    mem: int = 1024             # MiB of each
    device: str = 'vcx'         # none, vcx, rxe (a NIC for the kernel's soft RoCE)
    device_opts: str = ''       # more properties of -device vcx; {vm} is the number
    san: bool = False           # the vcx device with ASan and UBSan
    driver: str = None          # none, vcx, mlx5, rxe; default goes with the device
    driver_params: str = ''     # module parameters
    rxe: bool = False           # also rxe0: soft RoCE on a NIC with a wire of its own
    wire: bool = None           # RDMA wire between VMs; default: with several VMs
    accel: str = 'auto'         # auto, kvm, tcg
    qemu: str = None            # the QEMU program; default: scripts/qemu-vcx or stock
    qemu_args: list = field(default_factory=list)   # more arguments; {vm}, {dir}
    append: str = ''            # more kernel parameters
    env: dict = field(default_factory=dict)         # for every command in a guest
    shares: list = field(default_factory=list)      # (host folder, guest path, writable)
    pcap: bool = False          # record the RDMA wire in vmK/wire.pcap
    out: str = None             # folder for logs; default: a new one in build/vm
    boot_timeout: float = 120   # until a VM must be up (a loaded machine is slow)
    allow_kernel: list = field(default_factory=list)    # patterns; see kernlog.py
    shell: bool = False         # VM 1 has an interactive shell on its console

    def __post_init__(self):
        if self.guest not in GUESTS:
            raise VmError('no such guest: %s (%s)' % (self.guest, ', '.join(GUESTS)))
        if self.device not in DEVICES:
            raise VmError('no such device: %s (%s)' % (self.device, ', '.join(DEVICES)))
        if self.driver is None:
            self.driver = {'none': 'none', 'vcx': 'vcx', 'rxe': 'rxe'}[self.device]
        if self.driver not in DRIVERS:
            raise VmError('no such driver: %s (%s)' % (self.driver, ', '.join(DRIVERS)))
        if self.driver in ('vcx', 'mlx5') and self.device != 'vcx':
            raise VmError('driver %s needs --device vcx' % self.driver)
        if self.driver == 'rxe' and self.device != 'rxe':
            raise VmError('driver rxe needs --device rxe')
        if not 1 <= self.count <= 8:
            raise VmError('1 to 8 VMs, not %d' % self.count)
        if self.rxe and self.device != 'vcx':
            raise VmError('rxe beside it needs --device vcx')
        if self.wire is None:
            self.wire = self.count > 1
