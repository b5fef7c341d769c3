# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""What can go wrong with a VM; each says so in one sentence."""


class VmError(Exception):
    """Something is wrong with the harness or its use."""


class VmDied(VmError):
    """A VM ended although nobody asked it to."""


class VmTimeout(VmError):
    """A time limit passed."""


class KernelComplaint(VmError):
    """A guest kernel printed a warning or worse."""


class CommandFailed(VmError):
    """A command that had to succeed returned an error."""
