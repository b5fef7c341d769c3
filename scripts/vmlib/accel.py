# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Does KVM work here? Only a guest that boots can tell: /dev/kvm may open and
a distribution's kernel still hang, as with some nested hypervisors."""
import hashlib
import os
import shutil
import subprocess
import tempfile
import time

from .command import accel_args
from .errors import VmError
from .options import CACHE

PROBE_SECONDS = 20
MARK = b'Kernel panic'      # without a root to mount, the end of a good boot


def choose(wanted, image):
    """'kvm' or 'tcg'. VCX_ACCEL overrides 'auto'."""
    if wanted == 'auto':
        wanted = os.environ.get('VCX_ACCEL') or 'auto'
    if wanted not in ('auto', 'kvm', 'tcg'):
        raise VmError('accelerator must be auto, kvm or tcg, not ' + wanted)
    if wanted != 'auto':
        return wanted
    return 'kvm' if kvm_works(image) else 'tcg'


def kvm_works(image):
    """The answer for this host, QEMU and kernel, remembered until the next boot."""
    try:
        os.close(os.open('/dev/kvm', os.O_RDWR))
    except OSError:
        return False
    qemu = shutil.which('qemu-system-x86_64')
    if not qemu:
        raise VmError('qemu-system-x86_64 is missing: run scripts/setup')
    with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as file:
        key = '%s %s %d' % (file.read(), image, os.stat(qemu).st_mtime)
    answer = '%s/kvm-%s' % (CACHE, hashlib.sha256(key.encode()).hexdigest()[:12])
    try:
        with open(answer, encoding='ascii') as file:
            return file.read() == 'yes'
    except FileNotFoundError:
        pass
    works = boots_with_kvm(qemu, image)
    with tempfile.NamedTemporaryFile('w', dir=CACHE, delete=False) as file:
        file.write('yes' if works else 'no')
    os.rename(file.name, answer)
    return works


def boots_with_kvm(qemu, image):
    """Boot the guest's kernel alone, until it misses its root file system."""
    with tempfile.TemporaryDirectory(prefix='vcx-kvm-') as folder:
        command = [qemu, '-nodefaults', '-no-user-config', '-display', 'none',
                   '-no-reboot', '-M', 'q35', '-m', '512', *accel_args('kvm'),
                   '-kernel', image + '/vmlinux',
                   '-append', 'console=ttyS0 panic=-1 quiet',
                   '-serial', 'file:%s/console' % folder]
        with subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', '--', *command],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            end = time.monotonic() + PROBE_SECONDS
            while process.poll() is None and time.monotonic() < end:
                time.sleep(0.1)
            if process.poll() is None:
                process.kill()
        try:
            with open(folder + '/console', 'rb') as file:
                return MARK in file.read()
        except FileNotFoundError:
            return False
