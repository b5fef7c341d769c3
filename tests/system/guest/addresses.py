#!/usr/bin/python3
# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""addresses.py DEVICE [CASE...]: address handles."""
import ctypes
import errno

import pyverbs.mem_alloc as mem
from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.pyverbs_error import PyverbsRDMAError

from cases import case, main
from rc import End, completions, expect, pair

# enum ibv_rate, which pyverbs does not have.
RATE_2_5_GBPS, RATE_300_GBPS = 2, 18
GROUP = 'ff12:401b:ffff:0000:0000:0000:0000:0001'
PEER = 'fe80:0000:0000:0000:0002:0000:fffe:0001'


def route(dgid=PEER, **more):
    """The global part of an address."""
    return GlobalRoute(dgid=GID(dgid), **more)


def refusal(pd, **attributes):
    """The error of an address handle that cannot be."""
    try:
        AH(pd, attr=AHAttr(**attributes)).close()
    except PyverbsRDMAError as error:
        return errno.errorcode[error.error_code]
    return 'none'


@case
def handles_of_every_kind(device):
    """Unicast with and without GRH, multicast with it, at the limits of each field."""
    end = End(device)
    for attributes in ({'dlid': 1}, {'dlid': 0xbfff, 'sl': 15, 'src_path_bits': 127},
                       {'dlid': 1, 'static_rate': RATE_2_5_GBPS},
                       {'dlid': 1, 'static_rate': RATE_300_GBPS},
                       {'dlid': 0xffff},
                       {'dlid': 1, 'is_global': 1, 'gr': route()},
                       {'dlid': 0xc001, 'is_global': 1,
                        'gr': route(GROUP, flow_label=0xfffff, hop_limit=255,
                                    traffic_class=255)}):
        AH(end.pd, attr=AHAttr(port_num=1, **attributes)).close()


@case
def impossible_ones_are_refused(device):
    """Each wrong attribute alone is enough."""
    end = End(device)
    for attributes in ({'dlid': 0}, {'dlid': 0xc001}, {'dlid': 1, 'sl': 16},
                       {'dlid': 1, 'src_path_bits': 128}, {'dlid': 1, 'static_rate': 1},
                       {'dlid': 1, 'static_rate': 200}, {'dlid': 1, 'port_num': 2},
                       {'dlid': 1, 'port_num': 0},
                       {'dlid': 1, 'is_global': 1, 'gr': route(flow_label=0x100000)},
                       {'dlid': 1, 'is_global': 1, 'gr': route(sgid_index=99)}):
        expect((attributes, refusal(end.pd, **{'port_num': 1, **attributes})),
               (attributes, 'EINVAL'))


@case
def there_may_be_many(device):
    """The device knows nothing of them; what the port says is the limit."""
    end = End(device)
    expect(end.context.query_device().max_ah >= 1 << 20, True)
    handles = [AH(end.pd, attr=AHAttr(dlid=1 + n % 0xb000, port_num=1))
               for n in range(3000)]
    for handle in handles:
        handle.close()


@case
def the_way_back_follows_from_a_completion(device):
    """ibv_create_ah_from_wc() takes LID, service level and path of the sender."""
    one, two = pair(device)
    two.recv()
    one.send()
    completion, = completions(two.rcq)
    # Only told of datagrams; libibverbs looks at the GRH in any case.
    grh = mem.posix_memalign(64, 64)
    ctypes.memset(grh, 0, 64)
    completion.slid = one.lid
    AH(two.pd, wc=completion, grh=grh, port_num=1).close()
    completion.slid = 0
    try:
        AH(two.pd, wc=completion, grh=grh, port_num=1).close()
    except PyverbsRDMAError as error:
        expect(error.error_code, errno.EINVAL)
    else:
        raise AssertionError('a handle for LID 0')
    mem.free(grh)


if __name__ == '__main__':
    main()
