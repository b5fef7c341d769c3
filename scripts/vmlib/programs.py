# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The verbs programs that show an RDMA device at work: ping-pongs of
libibverbs and the bandwidth and latency programs of perftest. Each has a server
and a client, in one VM or in two."""
import re
import shlex
from collections import namedtuple

from .errors import CommandFailed
from .agent import tail

PORT = 18515        # where all of them exchange addresses, by TCP
MIB = 1 << 20

# kind: pingpong, bw or lat. size: bytes of a message, None: all sizes (-a).
Program = namedtuple('Program', 'name command size kind')


def pingpong(size, count, *more):
    """ibv_rc_pingpong with messages of one size."""
    words = ['ibv_rc_pingpong', '-d', '{dev}', '-s', str(size), '-n', str(count),
             '-c', *more]
    label = 'ibv_rc_pingpong %s%s' % (size_text(size), ''.join(' ' + w for w in more))
    return Program(label, words, size, 'pingpong')


def perftest(name, count):
    """A perftest program over all sizes, 2 B to 8 MiB."""
    words = [name, '-d', '{dev}', '-F', '-a', '-n', str(count)]
    return Program(name + ' -a', words, None, name.rpartition('_')[2])


def size_text(size):
    """1048576 -> '1 MiB'"""
    for unit, name in ((MIB, 'MiB'), (1024, 'KiB')):
        if size >= unit and size % unit == 0:
            return '%d %s' % (size // unit, name)
    return '%d B' % size


PROGRAMS = [
    pingpong(1, 1000), pingpong(4096, 1000), pingpong(MIB, 100),
    pingpong(4096, 1000, '-e'),
    *(perftest('ib_%s_bw' % verb, 100) for verb in ('send', 'write', 'read')),
    *(perftest('ib_%s_lat' % verb, 40) for verb in ('send', 'write', 'read')),
]

# What a run showed. rows: size -> MB/s (2^20) for bw, us for lat and pingpong.
Outcome = namedtuple('Outcome', 'program ok rows output')


def wait_listening(vm, job, timeout=30):
    """Until the server accepts connections on PORT."""
    pattern = ':%04X [0-9A-F:]* 0A ' % PORT
    vm.check('i=0; until cat /proc/net/tcp /proc/net/tcp6 | grep -q "%s"; do '
             'i=$((i + 1)); [ $i -lt %d ] || exit 1; sleep 0.05; done'
             % (pattern, timeout * 20), timeout=timeout + 10)
    if job.poll() is not None:
        raise CommandFailed('%s: the server ended at once: %s\n%s' % (
            vm.name, job.text, tail(job.output())))


def run(program, server, client, dev='vcx0', timeout=400, more=()):
    """Run a program between two VMs, or in one when both are the same; Outcome.
    The program is not ok when either side ends with an error."""
    words = [word.replace('{dev}', dev) for word in program.command] + list(more)
    address = '127.0.0.1' if server is client else server.address
    job = server.start(shlex.join(words))
    try:
        wait_listening(server, job)
        code, out = client.run(shlex.join(words + [address]), timeout=timeout)
        if code == 0:
            code = job.wait(30).rc
    except CommandFailed as error:
        code, out = 1, str(error)
    finally:
        if job.poll() is None:
            job.kill('KILL')
    rows = results(program, out)
    text = '--- server\n%s\n--- client\n%s' % (tail(job.output()), tail(out))
    return Outcome(program, code == 0 and bool(rows), rows, text)


def results(program, out):
    """What the client printed, as numbers by message size."""
    if program.kind == 'pingpong':
        match = re.search(r'([\d.]+) usec/iter', out)
        # An iteration goes there and back.
        return {program.size: float(match[1]) / 2} if match else {}
    rows = {}
    column = 3 if program.kind == 'bw' else 4      # BW average; t_typical
    for line in out.splitlines():
        words = line.split()
        if len(words) > column and words[0].isdigit() and words[1].isdigit():
            try:
                rows[int(words[0])] = float(words[column])
            except ValueError:
                continue
    return rows


def summary(outcome):
    """One cell of the demo's table: what was measured, shortly."""
    if not outcome.ok:
        return 'FAILED'
    if outcome.program.kind == 'bw':
        return '%.0f MB/s (4 KiB), %.0f (1 MiB)' % (
            outcome.rows.get(4096, 0), outcome.rows.get(MIB, 0))
    if outcome.program.kind == 'lat':
        return '%.1f us (2 B), %.0f (1 MiB)' % (
            outcome.rows.get(2, 0), outcome.rows.get(MIB, 0))
    return '%.1f us' % outcome.rows[outcome.program.size]
