#!/usr/bin/python3
# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""errors.py DEVICE [CASE...]: what verbs say when something goes wrong, in one VM.

Prints "ok CASE" or "FAILED CASE: why" for each case."""
import errno
import time

import pyverbs.enums as e
from pyverbs.mr import MR
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPAttr
from pyverbs.wr import SGE, RecvWR, SendWR

from cases import case, main
from rc import ALL_ACCESS, End, completions, expect, pair, statuses, window

ERR, RTS = e.IBV_QPS_ERR, e.IBV_QPS_RTS


def refused(call, *arguments, **names):
    """The errno with which a verb refuses; fails when it does not."""
    try:
        call(*arguments, **names)
    except PyverbsRDMAError as error:
        return abs(error.error_code)
    raise AssertionError('%s was not refused' % call)


def ends_with(one, two, status, responder_event=None):
    """The initiator's request fails with the status, then it is in error and
    flushes; the responder sees its event."""
    expect(statuses(one.scq), [status])
    expect(one.state(), ERR)
    one.send(wr_id=7)
    late, = completions(one.scq)
    expect((late.wr_id, late.status), (7, e.IBV_WC_WR_FLUSH_ERR))
    if responder_event:
        expect(two.async_event(), responder_event)
        expect(two.state(), ERR)
    for end in (one, two):
        end.close()


# ---- remote access ------------------------------------------------------------


@case
def write_with_a_wrong_rkey(device):
    """The key byte differs."""
    one, two = pair(device)
    one.write(two, rkey=two.mr.rkey ^ 1)
    ends_with(one, two, 'REM_ACCESS_ERR', 'QP_ACCESS_ERR')


@case
def read_with_an_rkey_of_nothing(device):
    """An index that was never allocated."""
    one, two = pair(device)
    one.read(two, rkey=0xfffff00)
    ends_with(one, two, 'REM_ACCESS_ERR', 'QP_ACCESS_ERR')


@case
def write_a_byte_past_the_end(device):
    """The region ends one byte earlier."""
    one, two = pair(device)
    one.write(two, length=64, offset=two.size - 63)
    ends_with(one, two, 'REM_ACCESS_ERR', 'QP_ACCESS_ERR')


@case
def write_a_byte_before_the_start(device):
    """The region begins one byte later."""
    one, two = pair(device)
    one.write(two, length=64, offset=-1)
    ends_with(one, two, 'REM_ACCESS_ERR', 'QP_ACCESS_ERR')


@case
def write_across_the_top_of_the_address_space(device):
    """Address plus length wraps around."""
    one, two = pair(device)
    one.send(64, opcode=e.IBV_WR_RDMA_WRITE, remote=(2 ** 64 - 32, two.mr.rkey))
    ends_with(one, two, 'REM_ACCESS_ERR', 'QP_ACCESS_ERR')


@case
def write_into_a_region_without_that_right(device):
    """The region can be read only."""
    one, two = pair(device, access=e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ)
    one.write(two)
    ends_with(one, two, 'REM_ACCESS_ERR', 'QP_ACCESS_ERR')


@case
def read_from_a_region_without_that_right(device):
    """The region can be written only."""
    one, two = pair(device, access=e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE)
    one.read(two)
    ends_with(one, two, 'REM_ACCESS_ERR', 'QP_ACCESS_ERR')


@case
def write_with_the_key_of_another_pd(device):
    """A valid key, but of the initiator's protection domain."""
    one, two = pair(device)
    one.send(64, opcode=e.IBV_WR_RDMA_WRITE, remote=(one.mr.buf, one.mr.rkey))
    ends_with(one, two, 'REM_ACCESS_ERR', 'QP_ACCESS_ERR')


@case
def write_after_deregistration(device):
    """The key was good once."""
    one, two = pair(device)
    spare = MR(two.pd, 4096, ALL_ACCESS)
    address, rkey = spare.buf, spare.rkey
    one.send(64, opcode=e.IBV_WR_RDMA_WRITE, remote=(address, rkey))
    expect(statuses(one.scq), ['SUCCESS'])
    spare.close()
    one.send(64, opcode=e.IBV_WR_RDMA_WRITE, remote=(address, rkey))
    ends_with(one, two, 'REM_ACCESS_ERR', 'QP_ACCESS_ERR')


@case
def read_that_the_qp_does_not_allow(device):
    """The region allows it, the responder's QP does not."""
    one, two = pair(device, b={'access': e.IBV_ACCESS_REMOTE_WRITE})
    one.read(two)
    expect(statuses(one.scq), ['REM_INV_REQ_ERR'])
    expect(one.state(), ERR)
    expect(two.state(), ERR)


@case
def nothing_is_checked_for_no_bytes(device):
    """A write of zero bytes needs no valid key."""
    one, two = pair(device)
    one.write(two, length=0, rkey=0xbad00)
    expect(statuses(one.scq), ['SUCCESS'])
    expect(two.state(), RTS)


# ---- local errors ---------------------------------------------------------------


@case
def send_with_a_wrong_lkey(device):
    """Found before anything is sent."""
    one, two = pair(device)
    two.recv(wr_id=1)
    one.send(lkey=one.mr.lkey ^ 1)
    expect(statuses(one.scq), ['LOC_PROT_ERR'])
    expect(one.state(), ERR)
    expect(two.state(), RTS)


@case
def send_from_past_the_end(device):
    """The last byte is not in the region."""
    one, _ = pair(device)
    one.send(64, offset=one.size - 63)
    expect(statuses(one.scq), ['LOC_PROT_ERR'])


@case
def read_into_a_region_without_local_write(device):
    """The answer may not be written."""
    one, two = pair(device)
    plain = MR(one.pd, 4096, 0)
    wr = SendWR(opcode=e.IBV_WR_RDMA_READ, num_sge=1, send_flags=e.IBV_SEND_SIGNALED,
                sg=[SGE(plain.buf, 64, plain.lkey)])
    wr.set_wr_rdma(two.mr.rkey, two.mr.buf)
    one.qp.post_send(wr)
    expect(statuses(one.scq), ['LOC_PROT_ERR'])
    expect(one.state(), ERR)


@case
def receive_with_a_wrong_lkey(device):
    """The receiver's own mistake: an operational error for the sender."""
    one, two = pair(device)
    two.recv(wr_id=5, lkey=two.mr.lkey ^ 1)
    one.send()
    wc, = completions(two.rcq)
    expect((wc.wr_id, wc.status), (5, e.IBV_WC_LOC_PROT_ERR))
    ends_with(one, two, 'REM_OP_ERR')


@case
def message_longer_than_the_receive(device):
    """By one byte, and by more than an MTU."""
    for length in (101, 4000):
        one, two = pair(device)
        two.recv(length=100, wr_id=6)
        one.send(length)
        wc, = completions(two.rcq)
        expect((wc.wr_id, wc.status), (6, e.IBV_WC_LOC_LEN_ERR))
        ends_with(one, two, 'REM_INV_REQ_ERR')


@case
def the_largest_message_and_one_byte_more(device):
    """As long as the port says by write, read and send; one byte more fails where it
    is posted, not at the peer."""
    one, two = pair(device)
    size = one.context.query_port(1).max_msg_sz
    expect(size >= 1 << 30, True)
    source, pattern = window(bytes(range(251)), size + 4096)
    target, got = window(b'-', size + 4096)
    here = MR(one.pd, size + 4096, ALL_ACCESS, address=source)
    there = MR(two.pd, size + 4096, ALL_ACCESS, address=target)

    def post(opcode, length):
        wr = SendWR(opcode=opcode, num_sge=1, sg=[SGE(source, length, here.lkey)],
                    send_flags=e.IBV_SEND_SIGNALED)
        wr.set_wr_rdma(there.rkey, target)
        one.qp.post_send(wr)
    post(e.IBV_WR_RDMA_WRITE, size)
    expect(statuses(one.scq, seconds=60), ['SUCCESS'])
    expect(got[:] == pattern[:], True)
    got[:] = b'+' * len(got)
    post(e.IBV_WR_RDMA_READ, size)
    expect(statuses(one.scq, seconds=60), ['SUCCESS'])
    expect(pattern[:] == got[:], True)
    two.qp.post_recv(RecvWR(num_sge=1, sg=[SGE(target, size, there.lkey)]))
    post(e.IBV_WR_SEND, size)
    wc, = completions(two.rcq, seconds=60)
    expect((wc.status, wc.byte_len), (0, size))
    expect(statuses(one.scq), ['SUCCESS'])
    post(e.IBV_WR_RDMA_WRITE, size + 1)
    expect(statuses(one.scq), ['LOC_LEN_ERR'])
    expect(two.state(), RTS)


# ---- retries ----------------------------------------------------------------------


@case
def no_receive_and_no_rnr_retry(device):
    """rnr_retry 0: the first RNR NAK is the end."""
    one, two = pair(device, a={'rnr_retry': 0})
    one.send()
    expect(statuses(one.scq), ['RNR_RETRY_EXC_ERR'])
    expect(one.state(), ERR)
    expect(two.state(), RTS)


@case
def no_receive_and_two_rnr_retries(device):
    """Two waits of the responder's timer (20: 10 ms), not fewer."""
    one, _ = pair(device, a={'rnr_retry': 2}, b={'min_rnr_timer': 20})
    began = time.monotonic()
    one.send()
    expect(statuses(one.scq), ['RNR_RETRY_EXC_ERR'])
    assert time.monotonic() - began >= 0.020


@case
def a_late_receive_is_found(device):
    """rnr_retry 7 has no end."""
    one, two = pair(device, b={'min_rnr_timer': 14})
    one.send(100)
    time.sleep(0.3)
    expect(one.scq.poll(1)[0], 0)
    two.recv(wr_id=9)
    wc, = completions(two.rcq)
    expect((wc.wr_id, wc.status, wc.byte_len), (9, 0, 100))
    expect(statuses(one.scq), ['SUCCESS'])


@case
def the_peer_was_destroyed(device):
    """Nobody answers: retries are exceeded, after the time they take."""
    one, two = pair(device, a={'timeout': 12, 'retry_cnt': 3})
    two.qp.close()
    began = time.monotonic()
    one.write(two)
    expect(statuses(one.scq), ['RETRY_EXC_ERR'])
    assert time.monotonic() - began >= 4 * 4.096e-6 * 2 ** 12 * 0.9
    expect(one.state(), ERR)


@case
def the_peer_is_not_ready(device):
    """A QP in INIT does not receive."""
    one, two = End(device), End(device)
    two.connect(one, state='INIT')
    one.connect(two, timeout=10, retry_cnt=1)
    one.send()
    expect(statuses(one.scq), ['RETRY_EXC_ERR'])


@case
def the_peer_does_not_exist(device):
    """A number that no QP has."""
    one, two = End(device), End(device)
    one.connect(two, dest_qp_num=0xfffffe, timeout=10, retry_cnt=1)
    one.send()
    expect(statuses(one.scq), ['RETRY_EXC_ERR'])


@case
def the_peer_expects_another(device):
    """What does not come from the connected port is not heard."""
    one, two = End(device), End(device)
    two.connect(one, dlid=one.lid + 1)
    one.connect(two, timeout=10, retry_cnt=1)
    two.recv()
    one.send()
    expect(statuses(one.scq), ['RETRY_EXC_ERR'])
    expect(two.rcq.poll(1)[0], 0)
    expect(two.state(), RTS)


# ---- flush, states, events --------------------------------------------------------


@case
def moving_to_error_flushes_all(device):
    """Everything posted completes, in order, and so does what comes after."""
    one, two = pair(device, b={'min_rnr_timer': 31})
    for n in range(10):
        one.recv(wr_id=100 + n)
        one.send(wr_id=n)               # no receive at the peer: they wait
    one.qp.modify(QPAttr(qp_state=ERR), e.IBV_QP_STATE)
    for cq, first in ((one.scq, 0), (one.rcq, 100)):
        found = completions(cq, 10)
        expect([wc.wr_id for wc in found], list(range(first, first + 10)))
        expect({wc.status for wc in found}, {e.IBV_WC_WR_FLUSH_ERR})
    one.recv(wr_id=200)
    one.send(wr_id=20)
    expect(statuses(one.rcq), ['WR_FLUSH_ERR'])
    expect(statuses(one.scq), ['WR_FLUSH_ERR'])
    expect(two.state(), RTS)


@case
def a_failed_qp_works_again_after_reset(device):
    """Error, reset, connect: as new."""
    one, two = pair(device)
    one.write(two, rkey=two.mr.rkey ^ 1)
    expect(statuses(one.scq), ['REM_ACCESS_ERR'])
    for end in (one, two):
        end.qp.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)
    two.connect(one)
    one.connect(two)
    two.recv(wr_id=3)
    one.write(two, length=2000)
    one.send(length=1500)
    expect(statuses(one.scq, 2), ['SUCCESS'] * 2)
    wc, = completions(two.rcq)
    expect((wc.wr_id, wc.status, wc.byte_len), (3, 0, 1500))


@case
def a_message_in_rtr_establishes_the_connection(device):
    """The responder learns of it by an event, and can answer."""
    one, two = End(device), End(device)
    two.connect(one, state='RTR')
    one.connect(two)
    two.recv()
    one.send()
    expect(statuses(two.rcq), ['SUCCESS'])
    expect(two.async_event(), 'COMM_EST')


@case
def a_full_completion_queue_is_an_error(device):
    """One completion more than it has entries: an event for the queue."""
    one, two = pair(device, cqe=4, depth=64)
    for n in range(one.scq.cqe + 2):         # the provider keeps one entry more
        one.write(two, wr_id=n)
    seen = {one.async_event(), one.async_event(1)}
    assert 'CQ_ERR' in seen, seen


@case
def the_send_queue_drains(device):
    """SQD with notification: the event comes when nothing is under way."""
    one, two = pair(device)
    two.recv()
    one.send()
    attr = QPAttr(qp_state=e.IBV_QPS_SQD)
    attr.en_sqd_async_notify = 1
    one.qp.modify(attr, e.IBV_QP_STATE | e.IBV_QP_EN_SQD_ASYNC_NOTIFY)
    expect(one.async_event(), 'SQ_DRAINED')
    expect(statuses(one.scq), ['SUCCESS'])
    one.write(two)                      # waits for RTS
    time.sleep(0.2)
    expect(one.scq.poll(1)[0], 0)
    one.qp.modify(QPAttr(qp_state=RTS), e.IBV_QP_STATE)
    expect(statuses(one.scq), ['SUCCESS'])


# ---- refused by a verb ---------------------------------------------------------------


@case
def posting_needs_a_state(device):
    """Sends from RTS on, receives from INIT on."""
    one = End(device)
    expect(refused(one.send), errno.EINVAL)
    expect(refused(one.recv), errno.EINVAL)
    one.connect(one, state='INIT')
    one.recv()
    expect(refused(one.send), errno.EINVAL)


@case
def a_full_queue_takes_no_more(device):
    """ENOMEM for both queues."""
    one, _ = pair(device, b={'min_rnr_timer': 31})
    caps = one.qp.query(e.IBV_QP_CAP)[1].cap
    for n in range(caps.max_send_wr):
        one.send(wr_id=n)
    expect(refused(one.send), errno.ENOMEM)
    for n in range(caps.max_recv_wr):
        one.recv(wr_id=n)
    expect(refused(one.recv), errno.ENOMEM)


@case
def too_long_a_list_is_refused(device):
    """More scatter/gather entries than the QP was created with."""
    one, _ = pair(device)
    count = one.qp.query(e.IBV_QP_CAP)[1].cap.max_send_sge + 1
    wr = SendWR(num_sge=count, sg=[one.sge(1) for _ in range(count)])
    assert refused(one.qp.post_send, wr) in (errno.EINVAL, errno.ENOMEM)
    expect(one.state(), RTS)


@case
def a_transition_that_does_not_exist(device):
    """From RESET to RTR, and from INIT to RTS."""
    one = End(device)
    attr = QPAttr(qp_state=e.IBV_QPS_RTR)
    expect(refused(one.qp.modify, attr, e.IBV_QP_STATE), errno.EINVAL)
    one.connect(one, state='INIT')
    attr = QPAttr(qp_state=RTS)
    expect(refused(one.qp.modify, attr, e.IBV_QP_STATE), errno.EINVAL)
    expect(one.state(), e.IBV_QPS_INIT)


@case
def registering_what_is_not_mapped(device):
    """EFAULT for memory that the process does not have."""
    one = End(device)
    expect(refused(MR, one.pd, 4096, ALL_ACCESS, address=0x10000), errno.EFAULT)


if __name__ == '__main__':
    main()
