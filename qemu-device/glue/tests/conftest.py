# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Tests of the QEMU device itself; the HCA inside has unit tests of its own.

    /usr/bin/python3 -m pytest qemu-device/glue/tests

With VCX_SAN=1 they run on the device built with sanitizers, with VCX_INTREE=1 on
the QEMU of scripts/build-qemu.
"""
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from qemu_machine import INTREE, TOP  # noqa: E402


@pytest.fixture(scope='session', autouse=True)
def device():
    """The device is up to date before the first test."""
    san = ['--san'] if os.environ.get('VCX_SAN') else []
    subprocess.run([TOP / 'scripts' / ('build-qemu' if INTREE else 'build-device'),
                    *([] if INTREE else ['--quiet']), *san],
                   check=True)
