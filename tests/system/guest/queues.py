#!/usr/bin/python3
# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""queues.py DEVICE [CASE...]: queues and completions as the provider keeps them,
in one VM: resizing, resetting and destroying with completions unread, events,
timestamps, every way to hand over data.

Prints "ok CASE" or "FAILED CASE: why" for each case."""
import errno
import select
import time

import pyverbs.enums as e
from pyverbs.cq import CQ, CQEX, CompChannel, CqInitAttrEx, PollCqAttr
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPEx, QPInitAttr, QPInitAttrEx
from pyverbs.wr import SGE, RecvWR, SendWR

from cases import case, main
from rc import End, completions, event_files, expect, pair, statuses


def close(*ends):
    """Destroy the objects of the ends."""
    for end in ends:
        end.close()


def wr_ids(cq, count):
    """Numbers of the requests that complete next, all with success."""
    found = completions(cq, count)
    expect([wc.status for wc in found], [e.IBV_WC_SUCCESS] * count)
    return [wc.wr_id for wc in found]


def writes(one, two, first, count):
    """Post writes of 8 bytes with the numbers first, first + 1, ... and wait
    until all have arrived and left their completions unread."""
    for number in range(first, first + count):
        two.mr.write(b'\0' * 8, 8)
        one.mr.write(number.to_bytes(8, 'big'), 8)
        one.write(two, length=8, wr_id=number)
        end = time.monotonic() + 10
        while two.mr.read(8, 0) != number.to_bytes(8, 'big'):
            if time.monotonic() > end:
                raise AssertionError('write %d has not arrived' % number)
    time.sleep(0.05)


def reconnect(one, two):
    """Connect the second end to what is the QP of the first one now."""
    two.qp.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)
    two.connect(one)
    one.connect(two)


# ---- completion queues ----------------------------------------------------------


@case
def resize_keeps_unread_completions(device):
    """Larger, smaller, over and over, with completions in every place."""
    one, two = pair(device, cqe=7)
    number = 1
    for cqe in (15, 7, 100, 8, 31, 7, 63, 20):
        unread = number % 6
        writes(one, two, number, unread)
        one.scq.resize(cqe)
        if one.scq.cqe < cqe:
            raise AssertionError('%d entries instead of %d' % (one.scq.cqe, cqe))
        writes(one, two, number + unread, 1)
        expect(wr_ids(one.scq, unread + 1), list(range(number, number + unread + 1)))
        number += unread + 1
    close(one, two)


@case
def resize_below_what_is_unread_is_refused(device):
    """And nothing is lost by the attempt."""
    one, two = pair(device, cqe=15)
    writes(one, two, 1, 12)
    try:
        one.scq.resize(3)
        raise AssertionError('twelve entries in a queue of three')
    except PyverbsRDMAError as error:
        expect(error.error_code, errno.EINVAL)
    expect(wr_ids(one.scq, 12), list(range(1, 13)))
    one.scq.resize(3)
    writes(one, two, 13, 3)
    expect(wr_ids(one.scq, 3), [13, 14, 15])
    close(one, two)


class Shared:
    """A connected pair of which several QPs complete into one CQ."""

    def __init__(self, device, count):
        self.base, self.peer = End(device), End(device, cqe=256, depth=64)
        self.cq = CQ(self.base.context, 64)
        self.ends = []
        for _ in range(count):
            near, far = End.__new__(End), End.__new__(End)
            for end, base in ((near, self.base), (far, self.peer)):
                end.__dict__.update(base.__dict__)
                end.qp = QP(base.pd, QPInitAttr(
                    qp_type=e.IBV_QPT_RC, scq=self.cq if end is near else base.scq,
                    rcq=self.cq if end is near else base.rcq, sq_sig_all=1,
                    cap=QPCap(max_send_wr=16, max_recv_wr=16)))
            far.connect(near)
            near.connect(far)
            self.ends.append((near, far))

    def close(self):
        """Destroy what is left."""
        for near, far in self.ends:
            near.qp.close()
            far.qp.close()
        self.cq.close()
        close(self.base, self.peer)


@case
def destroyed_qp_takes_its_completions_along(device):
    """Those of other QPs in the same queue stay, in order."""
    shared = Shared(device, 3)
    for number in range(1, 5):
        for index, (near, far) in enumerate(shared.ends):
            writes(near, far, 10 * number + index, 1)
    shared.ends[1][0].qp.close()
    kept = [number * 10 + index for number in range(1, 5) for index in (0, 2)]
    expect(wr_ids(shared.cq, 8), kept)
    expect(shared.cq.poll(1)[0], 0)
    writes(*shared.ends[2], 99, 1)
    expect(wr_ids(shared.cq, 1), [99])
    shared.close()


@case
def reset_forgets_and_begins_anew(device):
    """Requests and completions of before are gone; the QP can be used again."""
    one, two = pair(device)
    for _ in range(3):
        for number in range(5):
            two.recv(wr_id=number)
        writes(one, two, 1, 5)
        for end in (one, two):
            end.qp.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)
            expect(end.scq.poll(1)[0] + end.rcq.poll(1)[0], 0)
        two.connect(one)
        one.connect(two)
        two.recv(wr_id=77)
        one.send(wr_id=78)
        expect(wr_ids(one.scq, 1) + wr_ids(two.rcq, 1), [78, 77])
    close(one, two)


@case
def unsignalled_requests_are_retired_by_the_next(device):
    """A queue of 16 takes a thousand requests of which each tenth is told."""
    one, two = pair(device)
    one.qp.close()
    one.qp = QP(one.pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=one.scq, rcq=one.rcq,
                                   sq_sig_all=0, cap=QPCap(max_send_wr=16, max_recv_wr=1)))
    reconnect(one, two)
    for number in range(1, 1001):
        wr = SendWR(number, opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[one.sge(8)],
                    send_flags=0 if number % 10 else e.IBV_SEND_SIGNALED)
        wr.set_wr_rdma(two.mr.rkey, two.mr.buf)
        one.qp.post_send(wr)
        if number % 10 == 0:
            expect(wr_ids(one.scq, 1), [number])
    expect(one.scq.poll(1)[0], 0)
    close(one, two)


# ---- events ----------------------------------------------------------------------


class Eventful(End):
    """An end with a channel for the events of its receive queue."""

    def __init__(self, device):
        super().__init__(device)
        self.qp.close()
        self.rcq.close()
        before = event_files()
        self.channel = CompChannel(self.context)
        self.file, = event_files() - before
        self.rcq = CQ(self.context, 64, None, self.channel, 0)
        self.qp = QP(self.pd, QPInitAttr(
            qp_type=e.IBV_QPT_RC, scq=self.scq, rcq=self.rcq, sq_sig_all=1,
            cap=QPCap(max_send_wr=16, max_recv_wr=16)))

    def event(self, seconds=10):
        """Whether an event comes; it is taken and acknowledged."""
        if not select.select([self.file], [], [], seconds)[0]:
            return False
        self.channel.get_cq_event(self.rcq)
        self.rcq.ack_events(1)
        return True


def eventful_pair(device):
    """A pair whose second end has events, and sixteen receives."""
    one, two = End(device), Eventful(device)
    two.connect(one)
    one.connect(two)
    for number in range(16):
        two.recv(wr_id=number)
    return one, two


def solicit(one, flags):
    """A send with these flags."""
    one.qp.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[one.sge(8)],
                            send_flags=flags | e.IBV_SEND_SIGNALED))
    expect(statuses(one.scq), ['SUCCESS'])


@case
def one_event_for_each_arm(device):
    """None without; one, however many completions come."""
    one, two = eventful_pair(device)
    solicit(one, 0)
    expect(two.event(0.3), False)
    two.rcq.req_notify()
    expect(two.event(), True)       # of the completion that is there already
    wr_ids(two.rcq, 1)
    for _ in range(3):
        two.rcq.req_notify()
        expect(two.event(0.2), False)
        solicit(one, 0)
        solicit(one, 0)
        expect(two.event(), True)
        expect(two.event(0.2), False)
        wr_ids(two.rcq, 2)
    close(one, two)


@case
def solicited_events(device):
    """Armed for them, other completions wake nobody."""
    one, two = eventful_pair(device)
    two.rcq.req_notify(True)
    solicit(one, 0)
    expect(two.event(0.3), False)
    solicit(one, e.IBV_SEND_SOLICITED)
    expect(two.event(), True)
    wr_ids(two.rcq, 2)
    two.rcq.req_notify(True)
    two.qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    expect(two.event(), True)       # errors wake all
    expect(set(statuses(two.rcq, 14)), {'WR_FLUSH_ERR'})
    close(one, two)


# ---- ibv_cq_ex -------------------------------------------------------------------


@case
def timestamps_are_nanoseconds(device):
    """Of the device's clock: they go up, and as fast as time does."""
    one, two = pair(device)
    cq = CQEX(one.context, CqInitAttrEx(
        cqe=16, wc_flags=e.IBV_WC_STANDARD_FLAGS | e.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP))
    one.qp.close()
    one.qp = QP(one.pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, sq_sig_all=1,
                                   cap=QPCap(max_send_wr=16, max_recv_wr=16)))
    reconnect(one, two)
    stamps, before = [], time.monotonic()
    for number in range(5):
        one.write(two, wr_id=number)
        while cq.start_poll(PollCqAttr()) == errno.ENOENT:
            pass
        expect((cq.status, cq.wr_id), (e.IBV_WC_SUCCESS, number))
        expect((cq.read_opcode(), cq.read_qp_num()), (e.IBV_WC_RDMA_WRITE, one.qp.qp_num))
        stamps.append(cq.read_timestamp())
        cq.end_poll()
        time.sleep(0.1)
    seconds = time.monotonic() - before
    expect(stamps, sorted(set(stamps)))
    passed = (stamps[-1] - stamps[0]) / 1e9
    if not 0.35 < passed < seconds:
        raise AssertionError('%.3f s by stamps, %.3f s by the clock' % (passed, seconds))
    one.qp.close()
    cq.close()
    close(one, two)


# ---- data ------------------------------------------------------------------------


@case
def inline_data_of_every_length(device):
    """It is taken when the request is posted."""
    one, two = pair(device)
    one.qp.close()
    one.qp = QP(one.pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=one.scq, rcq=one.rcq,
                                   sq_sig_all=1, cap=QPCap(max_send_wr=8, max_recv_wr=1,
                                                           max_inline_data=256)))
    reconnect(one, two)
    limit = one.qp.query(e.IBV_QP_CAP)[1].cap.max_inline_data
    for length in range(0, limit + 1):
        data = bytes((length + i) & 0xff for i in range(length))
        one.mr.write(data, length)
        wr = SendWR(length, opcode=e.IBV_WR_RDMA_WRITE, num_sge=1,
                    sg=[SGE(one.mr.buf, length, 0)],      # no key is needed
                    send_flags=e.IBV_SEND_INLINE)
        wr.set_wr_rdma(two.mr.rkey, two.mr.buf)
        one.qp.post_send(wr)
        one.mr.write(b'\xee' * max(length, 1), max(length, 1))
        expect(wr_ids(one.scq, 1), [length])
        expect(two.mr.read(length, 0), data)
    try:
        one.qp.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1,
                                sg=[SGE(one.mr.buf, limit + 1, 0)],
                                send_flags=e.IBV_SEND_INLINE))
        raise AssertionError('too much inline data was taken')
    except PyverbsRDMAError as error:
        expect(abs(error.error_code), errno.EINVAL)
    close(one, two)


@case
def lists_up_to_the_limits(device):
    """A send gathers as many pieces as the device can, a receive scatters."""
    one, two = pair(device)
    attributes = one.context.query_device()
    for end in (one, two):
        end.qp.close()
        end.qp = QP(end.pd, QPInitAttr(
            qp_type=e.IBV_QPT_RC, scq=end.scq, rcq=end.rcq, sq_sig_all=1,
            cap=QPCap(max_send_wr=4, max_recv_wr=4, max_send_sge=attributes.max_sge,
                      max_recv_sge=attributes.max_sge)))
    two.connect(one)
    one.connect(two)
    count = attributes.max_sge
    data = bytes(i % 251 for i in range(8192))
    one.mr.write(data, 8192)
    # Every second piece of 64 bytes, from the last to the first.
    pieces = [one.sge(64, 128 * i) for i in reversed(range(count))]
    for _ in range(6):
        two.mr.write(b'\0' * 8192, 8192)
        two.qp.post_recv(RecvWR(1, num_sge=count,
                                sg=[two.sge(64, 100 * i) for i in range(count)]))
        one.qp.post_send(SendWR(2, opcode=e.IBV_WR_SEND, num_sge=count, sg=pieces))
        expect(wr_ids(one.scq, 1) + wr_ids(two.rcq, 1), [2, 1])
        for i in range(count):
            source = 128 * (count - 1 - i)
            expect(two.mr.read(64, 100 * i), data[source:source + 64])
    close(one, two)


@case
def fenced_send_waits_for_the_read(device):
    """It sends what the read before it has brought."""
    one, two = pair(device)
    for number in range(20):
        text = b'%08d' % number * 512
        two.mr.write(text, 4096)
        one.mr.write(b'?' * 4096, 4096)
        two.qp.post_recv(RecvWR(0, num_sge=1, sg=[two.sge(4096, 4096)]))
        one.read(two, 4096)
        one.qp.post_send(SendWR(1, opcode=e.IBV_WR_SEND, num_sge=1, sg=[one.sge(4096)],
                                send_flags=e.IBV_SEND_FENCE))
        expect(statuses(one.scq, 2) + statuses(two.rcq), ['SUCCESS'] * 3)
        expect(two.mr.read(4096, 4096), text)
    close(one, two)


@case
def new_calls_and_old_on_one_queue(device):
    """ibv_wr_*() and ibv_post_send() take turns; an aborted list leaves no trace."""
    one, two = pair(device)
    one.qp.close()
    one.qp = QPEx(one.context, QPInitAttrEx(
        qp_type=e.IBV_QPT_RC, scq=one.scq, rcq=one.rcq, pd=one.pd, sq_sig_all=1,
        cap=QPCap(max_send_wr=16, max_recv_wr=1, max_send_sge=2),
        comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        send_ops_flags=e.IBV_QP_EX_WITH_RDMA_WRITE | e.IBV_QP_EX_WITH_SEND))
    reconnect(one, two)

    def new(numbers, finish):
        one.qp.wr_start()
        for number in numbers:
            one.qp.wr_id = number
            one.qp.wr_rdma_write(two.mr.rkey, two.mr.buf + number)
            one.qp.wr_set_sge(one.sge(1, number))
        finish()

    one.mr.write(bytes(range(200)), 200)
    for base in range(0, 200, 10):
        one.write(two, 1, base, wr_id=base)
        new(range(base + 1, base + 5), one.qp.wr_complete)
        new(range(base + 1, base + 3), one.qp.wr_abort)
        new(range(base + 5, base + 9), one.qp.wr_complete)
        expect(wr_ids(one.scq, 9), list(range(base, base + 9)))
    expect([two.mr.read(1, n)[0] for n in range(200) if n % 10 not in (0, 9)],
           [n for n in range(200) if n % 10 not in (0, 9)])
    close(one, two)


if __name__ == '__main__':
    main()
