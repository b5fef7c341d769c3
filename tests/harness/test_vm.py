# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The VM harness itself, with VMs that have no RDMA device."""
import os
import re
import signal
import subprocess
import time

import pytest

from vmlib import (CommandFailed, KernelComplaint, Options, VmDied, VmError, VmGroup,
                   VmTimeout, accel, artifacts, cli, command)

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


@pytest.fixture(name='vm', scope='module')
def vm_fixture():
    """One VM that the tests share."""
    with VmGroup(device='none') as group:
        yield group[0]


def qemu_lives(pid):
    """Does a process with that number run (a zombie does not)?"""
    try:
        with open('/proc/%d/stat' % pid, encoding='ascii', errors='replace') as file:
            return file.read().rpartition(') ')[2][0] != 'Z'
    except FileNotFoundError:
        return False


def test_a_command_gives_its_output_and_exit_code(vm):
    """Both streams, in order; the exit code of the shell."""
    assert vm.run('echo out; echo err >&2; exit 7') == (7, 'out\nerr\n')


def test_words_are_passed_as_they_are(vm):
    """A list is not looked at by the shell; the environment arrives."""
    assert vm.run(['printf', '%s|', 'a b', '$HOME', "it's"]).out == "a b|$HOME|it's|"
    assert vm.run('echo "$X"; pwd', env={'X': 'a  b'}, cwd='/tmp').out == 'a  b\n/tmp\n'


def test_commands_run_at_the_same_time(vm):
    """The agent answers while others run, and each ends on its own."""
    slow = [vm.start('sleep 3; echo %d' % n) for n in range(4)]
    began = time.monotonic()
    assert vm.run('echo quick').out == 'quick\n'
    assert time.monotonic() - began < 3
    assert all(job.poll() is None for job in slow)
    assert [job.wait().out for job in slow] == ['0\n', '1\n', '2\n', '3\n']


def test_a_command_past_its_time_is_ended(vm):
    """With its children; the error has what it printed."""
    with pytest.raises(VmTimeout, match='started'):
        vm.run('echo started; sleep 987 & sleep 986', timeout=2)
    time.sleep(1)
    assert vm.run('pgrep -f "sleep 98[67]"').rc == 1


def test_output_can_be_waited_for(vm):
    """Servers say when they are ready."""
    with vm.start('sleep 1; echo ready; sleep 60') as job:
        job.wait_output('ready', timeout=20)
        with pytest.raises(VmTimeout):
            job.wait_output('never', timeout=0.5)


def test_check_raises_on_failure(vm):
    """The error has the output."""
    with pytest.raises(CommandFailed, match='no luck'):
        vm.check('echo no luck; false')


def test_the_control_socket_answers(vm):
    """QMP, with its errors as exceptions, and the monitor."""
    assert vm.qmp('query-status')['status'] == 'running'
    assert 'uptime' in vm.run('cat /proc/uptime; echo uptime').out
    assert 'virtio-blk' in vm.qmp_client().monitor('info qtree')
    with pytest.raises(VmError, match='no-such-command'):
        vm.qmp('no-such-command')


def test_the_kernel_log_is_complete(vm):
    """From the first line to what was logged just now."""
    vm.check('echo "<6>just now" >/dev/kmsg')
    log = vm.kernel_log().splitlines()
    assert 'Linux version' in log[0] and 'just now' in log[-1]
    assert vm.kernel_complaints() == []


def test_a_kernel_warning_fails_the_group():
    """A message like the kernel's own, and the same when it is permitted."""
    for allowed in ([], ['at harness']):
        with VmGroup(device='none', allow_kernel=allowed) as group:
            group[0].check('echo "<4>WARNING: CPU: 0 PID: 1 at harness" >/dev/kmsg')
            if allowed:
                group.assert_clean()
                continue
            with pytest.raises(KernelComplaint, match='at harness'):
                group.assert_clean()
            group[0].allow_kernel('at harness')


def test_a_panic_is_a_dead_vm_with_its_last_words():
    """Who runs a command learns that the VM died, and sees why."""
    group = VmGroup(device='none')
    group.start()
    try:
        with pytest.raises(VmDied, match='sysrq triggered crash'):
            group[0].run('echo c >/proc/sysrq-trigger; sleep 30')
        with pytest.raises(KernelComplaint, match='Kernel panic'):
            group.assert_clean()
        with pytest.raises(VmDied):
            group[0].run('true')
    finally:
        group.stop()


def test_vms_share_a_net_and_a_folder():
    """Three VMs: a star of wires around the first."""
    with VmGroup(device='none', count=3) as group:
        for vm in group:
            for other in group:
                vm.check('ping -q -c 1 -W 10 %s' % other.address)
        group[2].check('echo hello >/pair/file')
        assert group[0].check('cat /pair/file') == 'hello\n'
        assert group[1].check('echo $VM $VM_COUNT') == '2 3\n'


@pytest.mark.parametrize('stopped', [0, 1], ids=['the first', 'the second'])
def test_a_stopped_vm_does_not_stop_its_peer(stopped):
    """The wire fills up, and the VM that sends goes on nevertheless."""
    with VmGroup(device='none', count=2) as group:
        victim, sender = group[stopped], group[1 - stopped]
        sender.check('ping -q -c 1 -W 10 %s' % victim.address)
        victim.qmp('stop')
        # About 100 packets a second, more than the socket takes.
        sender.run('ping -q -f -w 3 -s 16000 %s' % victim.address, timeout=30)
        assert sender.check('echo alive', timeout=10) == 'alive\n'
        victim.qmp('cont')
        victim.check('true', timeout=30)


@pytest.mark.parametrize('faults, says', [(1, None), (9, 'iotlb_to_section')])
def test_a_fault_of_qemu_is_not_ours(tmp_path, capfd, faults, says):
    """A VM that QEMU's known fault ends boots again, and says so; not for ever."""
    qemu = tmp_path / 'qemu'
    qemu.write_text('#!/bin/sh\necho boot >>%s/boots\n'
                    'if [ $(wc -l <%s/boots) -le %d ]; then\n'
                    '  echo "qemu: iotlb_to_section: Assertion failed." >&2; exit 134; fi\n'
                    'exec qemu-system-x86_64 "$@"\n' % (tmp_path, tmp_path, faults))
    qemu.chmod(0o755)
    group = VmGroup(device='none', qemu=str(qemu))
    if says:
        with pytest.raises(VmError, match=says):
            group.start()
    else:
        with group as (vm,):
            assert vm.check('echo alive') == 'alive\n'
    assert 'vm1: QEMU ended with a known fault of its own' in capfd.readouterr().err


def test_no_qemu_is_left_behind():
    """Not by a signal to the harness, and not by its violent end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        # Whoever runs the tests in the background may have it ignored.
        harness = subprocess.Popen(['env', '--default-signal=INT', TOP + '/scripts/vm',
                                    '--device', 'none', 'echo go; sleep 99'],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert harness.stdout.readline() == b'go\n'
        with open('/proc/%d/task/%d/children' % (harness.pid, harness.pid),
                  encoding='ascii') as file:
            pids = [int(word) for word in file.read().split()]
        assert pids and all(qemu_lives(pid) for pid in pids)
        harness.send_signal(number)
        harness.wait(20)
        time.sleep(1)
        assert not any(qemu_lives(pid) for pid in pids)


def run_cli(*words):
    """scripts/vm with a VM without a device: exit code, output, messages."""
    run = subprocess.run([TOP + '/scripts/vm', '--device', 'none', *words], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200)
    return run.returncode, run.stdout, run.stderr


def test_the_command_line_runs_two_programs():
    """Each in its VM, output headed by the VM's number, a time that is printed."""
    code, out, err = run_cli('echo one $VM', '--', 'echo two $VM; exit 3')
    assert code == 3
    assert sorted(out.splitlines()) == ['1| one 1', '2| two 2']
    assert re.search(r'first line after \d+\.\d, \d+\.\d s', err)


def test_the_command_line_copies_a_script(tmp_path):
    """A host file with its arguments."""
    script = tmp_path / 'script'
    script.write_text('#!/bin/sh\necho "script $1|$2"\n')
    assert run_cli(str(script), 'a b', 'c')[:2] == (0, 'script a b|c\n')


def test_a_time_limit_ends_with_the_console_shown():
    """Exit code 124."""
    code, out, err = run_cli('--timeout', '2', 'echo "<4>last words" >/dev/kmsg; echo x; sleep 99')
    assert (code, out) == (124, 'x\n')
    assert 'last words' in err


def test_a_kernel_complaint_is_an_exit_code():
    """126 although the program itself succeeded."""
    code, _, err = run_cli('echo "<2>BUG: made up" >/dev/kmsg')
    assert code == 126 and 'BUG: made up' in err


def test_a_wrong_request_is_refused():
    """With one sentence, before anything is started."""
    for wrong in ({'guest': 'jessie'}, {'device': 'none', 'driver': 'vcx'}, {'count': 9},
                  {'device': 'ne2k'}):
        with pytest.raises(VmError):
            Options(**wrong)


@pytest.mark.parametrize('words, options, programs', [
    (['a', 'b'], [], [['a', 'b']]),
    (['--smp', '2', 'a', '--', 'b', '-c'], ['--smp=2'], [['a'], ['b', '-c']]),
    (['--qemu-args', '-device x', '--quiet', 'a'], ['--qemu-args=-device x', '--quiet'], [['a']]),
    (['--env=X=1', '--shell'], ['--env=X=1', '--shell'], []),
])
def test_programs_are_told_from_options(words, options, programs):
    """A program's own options are not ours."""
    assert cli.split_programs(words) == (options, programs)


def test_kvm_is_judged_by_a_guest_that_boots(monkeypatch):
    """The probe's kernel gets far enough, here under TCG in KVM's place; a QEMU
    that hangs is ended and means no."""
    image = artifacts.guest_image('trixie')
    monkeypatch.setattr(accel, 'accel_args', lambda _: command.accel_args('tcg'))
    monkeypatch.setattr(accel, 'PROBE_SECONDS', 120)
    assert accel.boots_with_kvm('qemu-system-x86_64', image)
    monkeypatch.setattr(accel, 'accel_args', lambda _: ['-S'])
    monkeypatch.setattr(accel, 'PROBE_SECONDS', 1)
    assert not accel.boots_with_kvm('qemu-system-x86_64', image)


def test_the_accelerator_can_be_chosen(monkeypatch):
    """By option, else by environment; wrong words are refused."""
    monkeypatch.setenv('VCX_ACCEL', 'tcg')
    assert accel.choose('auto', None) == 'tcg'
    assert accel.choose('kvm', None) == 'kvm'
    monkeypatch.setenv('VCX_ACCEL', 'fast')
    with pytest.raises(VmError):
        accel.choose('auto', None)
