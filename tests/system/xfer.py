# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Runs the traffic tool vcx_xfer in VMs."""
import re
import shlex
from collections import namedtuple

from vmlib import CommandFailed

TOOL = '/tools/vcx_xfer'
RESULT = re.compile(r'^vcx_xfer: (\S+), (\d+) QPs: (\d+) operations, (\d+) bytes in '
                    r'([\d.]+) s, ([\d.]+) MB/s, checksum ([0-9a-f]{16}), all equal$', re.M)

Traffic = namedtuple('Traffic', 'qps operations bytes seconds rate checksum')


def result(out):
    """The numbers of the result line."""
    match = RESULT.search(out)
    if not match:
        raise CommandFailed('no result line in the output of vcx_xfer:\n' + out)
    return Traffic(int(match[2]), int(match[3]), int(match[4]), float(match[5]),
                   float(match[6]), match[7])


def alone(vm, *words, timeout=120):
    """Both ends in one process; a Traffic."""
    return result(vm.check([TOOL, '--self', *words], timeout=timeout))


def between(server, client, *words, server_words=(), timeout=120):
    """A process in each VM; what each of them reports must agree."""
    address = '127.0.0.1' if server is client else server.address
    job = server.start(shlex.join([TOOL, '--serve', *server_words]))
    try:
        here = result(client.check([TOOL, '--to', address, *words], timeout=timeout))
        ended = job.wait(30)
    finally:
        if job.poll() is None:
            job.kill('KILL')
    if ended.rc != 0:
        raise CommandFailed('the server ended with %d:\n%s' % (ended.rc, ended.out))
    there = result(ended.out)
    assert (here.qps, here.operations, here.bytes, here.checksum) == \
        (there.qps, there.operations, there.bytes, there.checksum)
    return here
