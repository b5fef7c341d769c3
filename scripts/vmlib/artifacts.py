# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Finds what a VM needs, and has it made when it is missing."""
import glob
import os
import shutil
import subprocess

from .errors import VmError
from .options import TOP

LIBRARIES = '/usr/lib/x86_64-linux-gnu/libibverbs'


def guest_image(suite):
    """The folder with kernel, initramfs and root; built when it is missing."""
    script = TOP + '/scripts/build-guest'
    found = subprocess.run([script, '--print', suite], check=False, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if found.returncode != 0:
        if subprocess.run([script, suite], check=False).returncode != 0:
            raise VmError('the %s guest cannot be built' % suite)
        found = subprocess.run([script, '--print', suite], check=True, text=True,
                               stdout=subprocess.PIPE)
    return found.stdout.strip()


def inject_driver(options, root):
    """Put the driver under test and its provider into a folder whose content
    is copied over the guest's root file system at boot."""
    if options.driver != 'vcx':
        return
    module = '%s/build/modules/%s/vcx.ko' % (TOP, options.guest)
    if not os.path.exists(module):
        raise VmError('%s is missing: run scripts/build-modules %s'
                      % (os.path.relpath(module, TOP), options.guest))
    os.makedirs(root + '/opt/vcx')
    shutil.copy(module, root + '/opt/vcx/vcx.ko')
    provider = '%s/build/provider/%s' % (TOP, options.guest)
    libraries = glob.glob(provider + '/libvcx-rdmav*.so')
    if not libraries:
        if options.guest == 'trixie':
            raise VmError('build/provider/trixie is missing: run scripts/build-provider')
        return                      # kernel tests only: no provider for this guest
    os.makedirs(root + LIBRARIES)
    os.makedirs(root + '/etc/libibverbs.d')
    for library in libraries:
        shutil.copy(library, root + LIBRARIES)
    shutil.copy(provider + '/vcx.driver', root + '/etc/libibverbs.d/vcx.driver')


def build_device(options):
    """Bring the device library up to date, before VMs are started at once."""
    if options.device != 'vcx' or options.qemu:
        return
    command = [TOP + '/scripts/build-device', '--quiet', *(['--san'] if options.san else [])]
    if subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode != 0:
        raise VmError('the device cannot be built; its messages are above')


def qemu_program(options):
    """The command words that start QEMU."""
    if options.qemu:
        return [options.qemu]
    if options.device == 'vcx':
        return [TOP + '/scripts/qemu-vcx', '--no-build', *(['--san'] if options.san else [])]
    stock = os.environ.get('VCX_QEMU') or shutil.which('qemu-system-x86_64')
    if not stock:
        raise VmError('qemu-system-x86_64 is missing: run scripts/setup')
    return [stock]
