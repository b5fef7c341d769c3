# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""VMs for tests: boot some, run commands in them, look at their kernel logs.

    from vmlib import VmGroup
    with VmGroup(count=2, guest='trixie') as (a, b):
        server = b.start('ib_write_bw -d vcx0')
        out = a.check('ib_write_bw -d vcx0 10.0.0.2', timeout=60)
        server.wait()

Leaving the block raises KernelComplaint when a guest kernel printed a warning
or worse. Options says what a group can be; Vm and Job what can be done with it.
"""
from .agent import Job, Result
from .errors import (CommandFailed, KernelComplaint, VmDied, VmError, VmTimeout)
from .group import VmGroup
from .options import Options
from .vm import Vm

__all__ = ['CommandFailed', 'Job', 'KernelComplaint', 'Options', 'Result', 'Vm',
           'VmDied', 'VmError', 'VmGroup', 'VmTimeout']
