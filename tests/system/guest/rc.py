# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""RC queue pairs for scripts that run in a guest, on pyverbs."""
import ctypes
import mmap
import os
import select
import time

import pyverbs.enums as e
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

ALL_ACCESS = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE
              | e.IBV_ACCESS_REMOTE_READ)
REMOTE = e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
# Names of the completion statuses, IBV_WC_ left out.
STATUS = {getattr(e, name): name[len('IBV_WC_'):] for name in dir(e)
          if name.startswith('IBV_WC_') and (name.endswith('_ERR')
                                             or name == 'IBV_WC_SUCCESS')}
EVENT = {getattr(e, name): name[len('IBV_EVENT_'):] for name in dir(e)
         if name.startswith('IBV_EVENT_')}


def event_files():
    """The open files from which RDMA events are read."""
    found = set()
    for name in os.listdir('/proc/self/fd'):
        try:
            if 'infinibandevent' in os.readlink('/proc/self/fd/' + name):
                found.add(int(name))
        except FileNotFoundError:
            continue
    return found


class End:
    """One end of a connection: a context, a PD, a CQ for sends and one for
    receives, a memory region of `size` bytes, a QP."""

    def __init__(self, device, size=8192, access=ALL_ACCESS, cqe=64, depth=16):
        before = event_files()
        self.context = Context(name=device)
        # pyverbs does not say which file the events come from.
        self.async_fd, = event_files() - before
        self.pd = PD(self.context)
        self.scq = CQ(self.context, cqe)
        self.rcq = CQ(self.context, cqe)
        self.mr = MR(self.pd, size, access)
        self.size = size
        self.qp = QP(self.pd, QPInitAttr(
            qp_type=e.IBV_QPT_RC, scq=self.scq, rcq=self.rcq, sq_sig_all=1,
            cap=QPCap(max_send_wr=depth, max_recv_wr=depth, max_send_sge=2,
                      max_recv_sge=2)))
        self.lid = self.context.query_port(1).lid

    def connect(self, peer, access=REMOTE, state='RTS', reads=4, **attributes):
        """Bring the QP to a state; attributes: timeout, retry_cnt, rnr_retry,
        min_rnr_timer, dest_qp_num, dlid."""
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = access
        self.qp.to_init(attr)
        if state == 'INIT':
            return
        attr.path_mtu = e.IBV_MTU_1024
        attr.dest_qp_num = attributes.get('dest_qp_num', peer.qp.qp_num)
        attr.rq_psn = attr.sq_psn = 0xfffff0        # they wrap
        attr.max_dest_rd_atomic = attr.max_rd_atomic = reads
        attr.min_rnr_timer = attributes.get('min_rnr_timer', 12)
        attr.timeout = attributes.get('timeout', 14)
        attr.retry_cnt = attributes.get('retry_cnt', 7)
        attr.rnr_retry = attributes.get('rnr_retry', 7)
        attr.ah_attr = AHAttr(dlid=attributes.get('dlid', peer.lid), port_num=1, is_global=0)
        self.qp.to_rtr(attr)
        if state == 'RTS':
            self.qp.to_rts(attr)

    # ---- posting ---------------------------------------------------------------

    def sge(self, length, offset=0, lkey=None):
        """A piece of the memory region."""
        return SGE(self.mr.buf + offset, length, self.mr.lkey if lkey is None else lkey)

    def recv(self, length=4096, wr_id=0, lkey=None):
        """Post a receive."""
        self.qp.post_recv(RecvWR(wr_id, num_sge=1, sg=[self.sge(length, 0, lkey)]))

    def send(self, length=64, wr_id=0, opcode=e.IBV_WR_SEND, remote=None, **key):
        """Post a send, or with remote=(address, rkey) a write or read."""
        wr = SendWR(wr_id, opcode=opcode, num_sge=1, sg=[self.sge(length, **key)],
                    send_flags=e.IBV_SEND_SIGNALED)
        if remote:
            wr.set_wr_rdma(remote[1], remote[0])
        self.qp.post_send(wr)

    def write(self, peer, length=64, offset=0, rkey=None, **more):
        """Post a write into the peer's memory region."""
        key = peer.mr.rkey if rkey is None else rkey
        self.send(length, opcode=e.IBV_WR_RDMA_WRITE,
                  remote=(peer.mr.buf + offset, key), **more)

    def read(self, peer, length=64, offset=0, rkey=None, **more):
        """Post a read from the peer's memory region."""
        key = peer.mr.rkey if rkey is None else rkey
        self.send(length, opcode=e.IBV_WR_RDMA_READ,
                  remote=(peer.mr.buf + offset, key), **more)

    # ---- what came of it -------------------------------------------------------

    def state(self):
        """The QP's state, as the device has it."""
        return self.qp.query(e.IBV_QP_STATE)[0].qp_state

    def async_event(self, seconds=5):
        """The next asynchronous event's name; None when none comes."""
        if not select.select([self.async_fd], [], [], seconds)[0]:
            return None
        event = self.context.get_async_event()
        event.ack()
        return EVENT[event.event_type]

    def close(self):
        """Destroy everything, in order."""
        for thing in (self.qp, self.mr, self.scq, self.rcq, self.pd, self.context):
            thing.close()


def window(fill, size, period=2 << 20):
    """Address of `size` bytes that take `period` bytes of memory, mapped again and
    again; and that memory, full of `fill`, to look at."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long]
    file = os.memfd_create('window')
    os.ftruncate(file, period)
    memory = mmap.mmap(file, period)
    memory[:] = (fill * (period // len(fill) + 1))[:period]
    both, reserve, fixed = 3, 0x4022, 0x11      # PROT_*, MAP_*
    base = libc.mmap(None, size, 0, reserve, -1, 0)
    for at in range(base, base + size, period):
        if libc.mmap(at, min(period, base + size - at), both, fixed, file, 0) != at:
            raise OSError(ctypes.get_errno(), 'mmap')
    return base, memory


def completions(cq, count=1, seconds=20):
    """The next `count` completions of a queue."""
    found, end = [], time.monotonic() + seconds
    while len(found) < count:
        found += cq.poll(count - len(found))[1]
        if time.monotonic() > end:
            raise AssertionError('%d completions instead of %d within %d s'
                                 % (len(found), count, seconds))
    return found


def statuses(cq, count=1, seconds=20):
    """Names of the statuses of the next completions."""
    return [STATUS.get(wc.status, wc.status) for wc in completions(cq, count, seconds)]


def expect(got, wanted):
    """Like assert ==, but says what it got."""
    if got != wanted:
        raise AssertionError('%s instead of %s' % (got, wanted))


def pair(device, a=None, b=None, **ends):
    """Two connected ends; a and b hold arguments of their connect()."""
    one, two = End(device, **ends), End(device, **ends)
    two.connect(one, **(b or {}))
    one.connect(two, **(a or {}))
    return one, two
