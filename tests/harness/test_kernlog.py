# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The harness finds kernel complaints, and only those."""
import pytest

from vmlib import kernlog

BAD = [
    'WARNING: CPU: 0 PID: 71 at drivers/infiniband/core/device.c:1393 foo+0x1/0x2 [ib_core]',
    'WARNING: possible circular locking dependency detected',
    'BUG: kernel NULL pointer dereference, address: 0000000000000010',
    'BUG: KASAN: slab-use-after-free in vcx_cq_poll+0x10/0x20 [vcx]',
    'Oops: 0002 [#1] PREEMPT SMP NOPTI',
    'Oops: general protection fault, probably for non-canonical address: 0000 [#1]',
    'kernel BUG at mm/slub.c:448!',
    'Kernel panic - not syncing: Fatal exception',
    'INFO: task kworker/0:1:9 blocked for more than 120 seconds.',
    'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:',
    'watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [insmod:99]',
    'refcount_t: underflow; use-after-free.',
    'UBSAN: shift-out-of-bounds in drivers/x.c:12:3',
    'list_del corruption. prev->next should be ffff, but was 0000',
    'kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)',
    'DMA-API: vcx 0000:01:00.0: device driver has pending DMA allocations',
    'mlx5_core 0000:01:00.0: poll_health:825:(pid 0): device\'s health compromised - reached miss count',
    'mlx5_core 0000:01:00.0: print_health_info:431:(pid 0): assert_var[0] 0x00000001',
]
GOOD = [
    'Command line: console=ttyS0 oops=panic panic=-1',
    'vcx: loading out-of-tree module taints kernel.',
    'vcx: module verification failed: signature and/or required key missing - tainting kernel',
    'rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.',
    'mlx5_core 0000:01:00.0: firmware version: 16.35.2000',
    'mlx5_core 0000:01:00.0: 0.000 Gb/s available PCIe bandwidth',
    'ib_core: loaded', 'random: crng init done',
    'Warning: unable to open an initial console.',
]


@pytest.mark.parametrize('line', BAD)
def test_a_complaint_is_found(line):
    """Each sort, whatever the time before it."""
    assert len(kernlog.complaints(['[    1.000000] fine', '[    2.000000] ' + line])) == 1


@pytest.mark.parametrize('line', GOOD)
def test_a_normal_line_is_no_complaint(line):
    """Words that look like a complaint."""
    assert not kernlog.complaints(['[    2.000000] ' + line])


def test_a_complaint_and_its_call_trace_are_one():
    """Not one failure for each of its lines, and the text has the trace."""
    lines = ['before', 'WARNING: CPU: 0 PID: 1 at x', 'Modules linked in:', 'Call Trace:',
             ' vcx_probe+0x1/0x2']
    found = kernlog.complaints(lines)
    assert len(found) == 1
    assert 'vcx_probe' in found[0] and 'before' in found[0]


def test_two_complaints_far_apart_are_two():
    """A second one is not swallowed."""
    lines = ['BUG: one'] + ['line'] * 60 + ['BUG: two']
    assert len(kernlog.complaints(lines)) == 2


def test_an_allowed_complaint_permits_itself_only():
    """A later complaint is still one."""
    lines = ['BUG: expected', 'Call Trace:'] + ['line'] * 60 + ['BUG: other']
    found = kernlog.complaints(lines, ['BUG: expected'])
    assert len(found) == 1 and 'other' in found[0]


def test_kmsg_records_become_lines():
    """Times are formatted, continuation lines left out, escapes undone."""
    data = ('6,12,1234567,-;vcx: ready\n SUBSYSTEM=pci\n DEVICE=+pci:0000:01:00.0\n'
            '4,13,2000001,-;a\\x09b;c\n')
    assert kernlog.from_kmsg(data) == ['[    1.234567] vcx: ready', '[    2.000001] a\tb;c']


def test_a_sanitizer_report_is_found():
    """Each once, with its trace."""
    lines = ['qemu: hello', '==12==ERROR: AddressSanitizer: heap-use-after-free on address',
             '    #0 0x1 in vcx_foo', 'SUMMARY: AddressSanitizer: heap-use-after-free']
    found = kernlog.sanitizer_reports(lines)
    assert len(found) == 1 and 'vcx_foo' in found[0] and 'hello' not in found[0]
    assert kernlog.sanitizer_reports(['core.cc:1:2: runtime error: shift exponent 64'])
    assert not kernlog.sanitizer_reports(['qemu: warning: something else'])


def test_last_words_have_the_reason():
    """A long call trace does not push it out; a clean log is its end."""
    log = '\n'.join(['boot'] * 50 + ['BUG: why'] + ['trace'] * 100 + ['end'])
    assert 'BUG: why' in kernlog.last_words(log)
    assert kernlog.last_words(log).endswith('trace\nend')
    assert kernlog.last_words('a\nb\nc', lines=2) == 'b\nc'
