#!/usr/bin/python3
# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""hold_objects.py DEVICE: have one of each object until the process is ended.
Prints the numbers by which the kernel must know them, as JSON."""
import json
import os
import signal
import sys

import pyverbs.enums as e
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPCap, QPInitAttr

context = Context(name=sys.argv[1])
channel = CompChannel(context)
pd = PD(context)
mr = MR(pd, 12345, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ)
cq = CQ(context, 100, None, channel, 0)
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq,
                       cap=QPCap(max_send_wr=20, max_recv_wr=10)))
print(json.dumps({'pid': os.getpid(), 'qpn': qp.qp_num, 'lkey': mr.lkey, 'rkey': mr.rkey,
                  'cqe': cq.cqe}), flush=True)
signal.pause()
