#!/usr/bin/python3
# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""regions.py DEVICE [CASE...]: memory regions that change while their keys are in
use, and memory in large pages: regions and queues that begin somewhere in one."""
import ctypes
import time

import pyverbs.enums as e
import pyverbs.mem_alloc as mem
from pyverbs.cq import CQEX, CqInitAttrEx, PollCqAttr
from pyverbs.mr import MR
from pyverbs.pd import PD, ParentDomain, ParentDomainContext, ParentDomainInitAttr
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr

from cases import case, main
from rc import ALL_ACCESS, End, expect, pair, statuses

LOCAL, WRITE, READ = (e.IBV_ACCESS_LOCAL_WRITE, e.IBV_ACCESS_REMOTE_WRITE,
                      e.IBV_ACCESS_REMOTE_READ)
ACCESS, TRANSLATION, DOMAIN = (e.IBV_REREG_MR_CHANGE_ACCESS,
                               e.IBV_REREG_MR_CHANGE_TRANSLATION,
                               e.IBV_REREG_MR_CHANGE_PD)
HUGE = 2 << 20


def again(one, two):
    """Connect the ends once more after an error."""
    for end in (one, two):
        end.qp.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)
    two.connect(one)
    one.connect(two)


def outcome(one, two, operation):
    """How an operation on the second end's region ends; connected again if badly."""
    getattr(one, operation)(two)
    status, = statuses(one.scq)
    if status != 'SUCCESS':
        again(one, two)
    return status


# ---- rereg -----------------------------------------------------------------------


@case
def rights_change_under_the_same_key(device):
    """What is allowed is allowed at once, and what is not is refused at once."""
    one, two = pair(device)
    key = two.mr.rkey
    for access, write, read in ((LOCAL, False, False), (LOCAL | WRITE, True, False),
                                (READ, False, True), (LOCAL, False, False),
                                (ALL_ACCESS, True, True)) * 3:
        two.mr.rereg(ACCESS, two.pd, access=access)
        expect((two.mr.rkey, two.mr.lkey), (key, key))
        expect(outcome(one, two, 'write'), 'SUCCESS' if write else 'REM_ACCESS_ERR')
        expect(outcome(one, two, 'read'), 'SUCCESS' if read else 'REM_ACCESS_ERR')


@case
def memory_pinned_for_reading_becomes_writable(device):
    """A region without any right to write has pages that the kernel may share."""
    one, two = pair(device, access=READ)
    key = two.mr.rkey
    two.mr.rereg(ACCESS, two.pd, access=ALL_ACCESS)
    one.mr.rereg(ACCESS, one.pd, access=ALL_ACCESS)
    expect(two.mr.rkey, key)
    ctypes.memset(one.mr.buf, 0x5a, 64)
    expect(outcome(one, two, 'write'), 'SUCCESS')
    expect(two.mr.read(64, 0), b'\x5a' * 64)


@case
def another_domain_and_back(device):
    """The key is worth nothing to queue pairs of the domain that it has left."""
    one, two = pair(device)
    key, other = two.mr.rkey, PD(two.context)
    for _ in range(3):
        two.mr.rereg(DOMAIN, other)
        expect(two.mr.rkey, key)
        expect(outcome(one, two, 'write'), 'REM_ACCESS_ERR')
        two.mr.rereg(DOMAIN, two.pd)
        expect(two.mr.rkey, key)
        expect(outcome(one, two, 'write'), 'SUCCESS')


@case
def other_memory(device):
    """The key leads to the new memory, and no more to the old."""
    one, two = pair(device)
    key, old = two.mr.rkey, two.mr.buf
    keep = mem.posix_memalign(8192, 4096)
    new = MR(two.pd, 8192, ALL_ACCESS, address=keep)      # a region beside it
    ctypes.memset(keep, 0, 8192)
    place = mem.posix_memalign(4096 * 5, 4096)
    ctypes.memset(place, 0, 4096 * 5)
    one.mr.write(b'new' * 20, 60)
    two.mr.rereg(TRANSLATION, two.pd, addr=place + 100, length=4096 * 4)
    expect(two.mr.rkey, key)
    one.write(two, 60)                                    # to mr.buf, the new address
    expect(statuses(one.scq), ['SUCCESS'])
    expect(ctypes.string_at(place + 100, 60), b'new' * 20)
    one.send(60, opcode=e.IBV_WR_RDMA_WRITE, remote=(old, key))
    expect(statuses(one.scq), ['REM_ACCESS_ERR'])
    again(one, two)
    one.write(two, 60, offset=4096 * 4 - 60)
    expect(statuses(one.scq), ['SUCCESS'])
    one.write(two, 60, offset=4096 * 4 - 59)
    expect(statuses(one.scq), ['REM_ACCESS_ERR'])
    new.close()


@case
def what_cannot_be_leaves_the_region_as_it_was(device):
    """No memory at the address, or a right that there is not."""
    one, two = pair(device)
    key = two.mr.rkey
    hole = mem.mmap(length=1 << 20)
    mem.munmap(hole, 1 << 20)
    for flags, more in ((TRANSLATION, {'addr': hole, 'length': 4096}),
                        (ACCESS, {'access': ALL_ACCESS | e.IBV_ACCESS_MW_BIND})):
        try:
            two.mr.rereg(flags, two.pd, **more)
        except PyverbsRDMAError:
            pass
        else:
            raise AssertionError('%s was taken' % more)
        expect(two.mr.rkey, key)
        expect(outcome(one, two, 'write'), 'SUCCESS')


@case
def often(device):
    """More often than the device waits until it gives an index away again, with
    other regions coming and going."""
    one, two = pair(device)
    key = two.mr.rkey
    for number in range(1500):
        two.mr.rereg(ACCESS, two.pd, access=ALL_ACCESS if number % 2 else LOCAL)
        expect(two.mr.rkey, key)
        if number % 100 == 0:
            MR(two.pd, 4096, LOCAL).close()
    expect(outcome(one, two, 'write'), 'SUCCESS')


# ---- large pages ------------------------------------------------------------------


def huge_memory():
    """Address of one page of 2 MiB."""
    return mem.mmap(length=HUGE, flags=mem.MAP_ANONYMOUS_ | mem.MAP_PRIVATE_
                    | mem.MAP_HUGETLB_)


@case
def a_region_begins_in_the_middle_of_a_large_page(device):
    """Every byte is where it belongs: at both ends, and the bytes beside them."""
    one, two = pair(device, size=1 << 20)
    base = huge_memory()
    for offset, length in ((0x12345, 0x80001), (0x1fff, HUGE - 0x1fff), (0x100001, 77),
                           (HUGE - 1, 1), (0x30000, 0x10000)):
        ctypes.memset(base, 0x2d, HUGE)
        region = MR(two.pd, length, ALL_ACCESS, address=base + offset)
        part = min(length, 1000)
        ctypes.memset(one.mr.buf, 0x2b, part)
        for at in (0, length - part):
            one.send(part, opcode=e.IBV_WR_RDMA_WRITE,
                     remote=(base + offset + at, region.rkey))
            expect(statuses(one.scq), ['SUCCESS'])
        found = ctypes.string_at(base, HUGE)
        wanted = bytearray(b'-' * HUGE)
        wanted[offset:offset + part] = b'+' * part
        wanted[offset + length - part:offset + length] = b'+' * part
        if found != bytes(wanted):
            raise AssertionError('%#x bytes at %#x' % (length, offset))
        region.close()
    mem.munmap(base, HUGE)


def queue_completions(cq, count):
    """Statuses of the next completions of an extended queue."""
    found, end = [], time.monotonic() + 10
    while len(found) < count:
        if time.monotonic() > end:
            raise AssertionError('%d completions instead of %d' % (len(found), count))
        if cq.start_poll(PollCqAttr()):
            continue
        found.append(cq.status)
        while len(found) < count and not cq.poll_next():
            found.append(cq.status)
        cq.end_poll()
    return found


def place_queues(end, place):
    """Give the end queues in memory from a place on: its domain and the queue of
    its completions."""
    def take(_pd, context, size, alignment, _type):
        at = -(-context.user_data // alignment) * alignment
        context.user_data = at + size
        return at
    context = ParentDomainContext(end.pd, take, lambda *_: None, place)
    end.allocator = context             # the domain itself does not keep it
    domain = ParentDomain(end.context, attr=ParentDomainInitAttr(
        pd=end.pd, pd_context=context))
    cq = CQEX(end.context, CqInitAttrEx(cqe=63, comp_mask=e.IBV_CQ_INIT_ATTR_MASK_PD,
                                        parent_domain=domain))
    end.qp = QP(domain, QPInitAttr(
        qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, sq_sig_all=1,
        cap=QPCap(max_send_wr=16, max_recv_wr=16, max_send_sge=2, max_recv_sge=2)))
    return domain, cq


@case
def queues_lie_anywhere_in_a_large_page(device):
    """The offset of a queue in its page may have more than 16 bits."""
    base = huge_memory()
    for offset in (0, 0x8000, 0x10000, 0x11000, 0x20000, 0x3e000, 0x90000, 0x110000,
                   HUGE - 0x10000):
        end = End(device)
        end.qp.close()
        domain, cq = place_queues(end, base + offset)
        end.connect(end)
        for number in range(150):       # round the rings
            end.recv(wr_id=number)
            end.send(wr_id=number)
            expect(queue_completions(cq, 2), [e.IBV_WC_SUCCESS] * 2)
        end.qp.close()
        cq.close()
        domain.close()
        for thing in (end.mr, end.scq, end.rcq, end.pd, end.context):
            thing.close()
    mem.munmap(base, HUGE)


if __name__ == '__main__':
    main()
