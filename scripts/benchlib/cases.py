# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""What is measured: a case is one run of a perftest program."""
import ctypes
import re
import shlex
import time
from collections import namedtuple

from vmlib import VmTimeout, programs

MIB = 1 << 20
SIZES = (2, 64, 4096, 65536, MIB)
OPERATIONS = ('write', 'read', 'send')
QPS = (16, 256, 4096)
QPS_SIZE = 4096
DEVICES = ('vcx', 'rxe')
# Messages of a run: about a second for rxe, and never fewer than perftest takes.
COUNTS = {'bw': {2: 5000, 64: 5000, 4096: 3000, 65536: 400, MIB: 50},
          'lat': {2: 1000, 64: 1000, 4096: 1000, 65536: 200, MIB: 30}}
LEAST = 5

# kind: bw or lat; count: messages of each QP.
Case = namedtuple('Case', 'kind operation size qps')
# What a run gives; None where it failed. rate: messages a second.
Result = namedtuple('Result', 'mbytes rate latency reason')


def name(case):
    """A case in words; --only looks for its word in them."""
    return '%s %s %s, %d QP%s' % (
        {'bw': 'bandwidth', 'lat': 'latency'}[case.kind], case.operation,
        programs.size_text(case.size), case.qps, 's' if case.qps > 1 else '')


def all_cases(quick):
    """The cases in the order in which they run."""
    sizes = (2, 4096, MIB) if quick else SIZES
    operations = ('write',) if quick else OPERATIONS
    cases = [Case(kind, operation, size, 1) for operation in operations
             for kind in ('bw', 'lat') for size in sizes]
    if quick:
        cases += [Case('bw', operation, MIB, 1) for operation in ('read', 'send')]
    return cases + [Case('bw', 'write', QPS_SIZE, qps) for qps in (QPS[:1] if quick else QPS)]


def command(case, device):
    """The words of the perftest program."""
    count = max(LEAST, COUNTS[case.kind][case.size] // case.qps)
    words = ['ib_%s_%s' % (case.operation, case.kind), '-d', device + '0', '-F',
             '-s', str(case.size), '-n', str(count)]
    if case.qps > 1:
        # Queues as deep as the messages of each, or memory runs out.
        words += ['-q', str(case.qps), '-t', str(min(128, max(LEAST, count)))]
    return words


def parse(case, out):
    """The result in what the client printed; None when it is not there."""
    for line in out.splitlines():
        words = line.split()
        if len(words) < 5 or words[0] != str(case.size) or not words[1].isdigit():
            continue
        if case.kind == 'lat':      # bytes iterations min max typical ...
            return Result(None, None, float(words[4]), None)
        # bytes iterations peak average rate, of 2^20 bytes and 10^6 messages; the
        # rate has more digits for small messages, the average for large ones.
        rate = float(words[3]) * MIB / case.size if case.size >= 4096 else float(words[4]) * 1e6
        return Result(rate * case.size / 1e6, rate, None, None)
    return None


def run(case, device, server, client, timeout):
    """Run a case between two VMs, or in one; a Result."""
    timeout *= 1 + case.qps / 1000          # QPs are made and connected one by one
    try:
        outcome = programs.run(
            programs.Program(name(case), command(case, device), case.size, case.kind),
            server, client, dev=device + '0', timeout=timeout)
    except VmTimeout:
        return Result(None, None, None, 'did not end within %.0f s' % timeout)
    found = parse(case, outcome.output)
    if outcome.ok and found:
        return found
    return Result(None, None, None, reason(outcome.output))


def reason(output):
    """One line of what a program said when it failed."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in lines:
        if re.search(r'fail|error|unable|couldn.t|not supported|timed? ?out|not ended', line, re.I):
            return line[:100]
    return lines[-1][:100] if lines else 'it said nothing'


def memcpy_mbytes(seconds=0.5):
    """This machine's memcpy between two buffers of 32 MiB, MB/s."""
    half = 32 * MIB
    source, target = ctypes.create_string_buffer(half), ctypes.create_string_buffer(half)
    ctypes.memset(source, 1, half)
    ctypes.memset(target, 2, half)
    copied, began = 0, time.monotonic()
    while time.monotonic() - began < seconds:
        ctypes.memmove(target, source, half)
        copied += half
    return copied / (time.monotonic() - began) / 1e6


def show(case, device):
    """The command as it can be typed in a guest."""
    return shlex.join(command(case, device))
