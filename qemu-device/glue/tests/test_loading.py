# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Loading the device: the right binary, the wrong one, its arguments."""
import shutil
import subprocess

import pytest

from qemu_machine import DEVICE, INTREE, Machine, qemu_binary, qemu_command

pytestmark = pytest.mark.skipif(INTREE, reason='nothing is loaded in-tree')


def start(*command):
    """(exit code, what was said) of a QEMU that is expected to refuse."""
    done = subprocess.run(command, text=True, capture_output=True, timeout=20,
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def other_qemu(tmp_path):
    """A QEMU that differs from the installed one in its build-id only."""
    notes = subprocess.run(['readelf', '-n', qemu_binary()], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    build_id = bytes.fromhex(notes.split('Build ID: ')[1].split()[0])
    binary = tmp_path / 'qemu-system-x86_64'
    data = open(qemu_binary(), 'rb').read()
    assert data.count(build_id) == 1
    binary.write_bytes(data.replace(build_id, bytes(len(build_id))))
    binary.chmod(0o755)
    return binary


def test_another_binary_is_refused_plainly(other_qemu):
    code, said = start(other_qemu, '-nodefaults', '-display', 'none', '-M',
                       'q35', '-accel', 'tcg', '-plugin',
                       f'file={DEVICE}/vcx.so', '-device', 'vcx')
    assert code == 1
    first = said.splitlines()[0]
    assert first.startswith('vcx: this device was built for QEMU ')
    assert f'build-id {"00" * 20}' in first
    assert 'scripts/build-device' in first


def test_missing_device_object_is_refused(tmp_path):
    shutil.copy(DEVICE / 'vcx.so', tmp_path)
    code, said = start(qemu_binary(), '-nodefaults', '-display', 'none', '-M',
                       'q35', '-accel', 'tcg', '-plugin',
                       f'file={tmp_path}/vcx.so', '-device', 'vcx')
    assert code == 1
    assert 'vcx: cannot load the device' in said


def test_unknown_argument_is_refused():
    code, said = start(qemu_binary(), '-nodefaults', '-display', 'none', '-M',
                       'q35', '-accel', 'tcg', '-plugin',
                       f'file={DEVICE}/vcx.so,color=red')
    assert code == 1
    assert 'argument color=red of -plugin is not known' in said


def test_loading_twice_is_refused(tmp_path):
    for name in ('vcx.so', 'vcx-device.so'):
        shutil.copy(DEVICE / name, tmp_path)
    code, said = start(*qemu_command('-M', 'q35', '-plugin',
                                     f'file={tmp_path}/vcx.so'))
    assert code == 1
    assert 'this QEMU has the device already' in said


def test_nothing_happens_without_a_device():
    with Machine('-M', 'q35') as m:
        assert m.output() == ''


def test_trace_events_can_be_switched_at_run_time():
    with Machine('-M', 'q35', '-device', 'vcx,id=v') as m:
        m.qmp('trace-event-set-state', name='vcx_*', enable=True)
        names = {e['name'] for e in m.qmp('trace-event-get-state', name='vcx_*')}
        assert {'vcx_command', 'vcx_doorbell', 'vcx_interrupt'} <= names
        m.qmp('system_reset')
        m.wait_event('RESET')
        assert 'vcx_reset' in m.output()
