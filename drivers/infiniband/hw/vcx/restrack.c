// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * restrack.c - what `rdma resource show -dd` says about an object beyond what
 * the core knows: where its queues stand, how its key is made.
 */
#include <linux/log2.h>
#include <rdma/restrack.h>
#include <net/netlink.h>
#include <uapi/rdma/rdma_netlink.h>

#include "vcx.h"

static int vcx_res_kernel_rings(struct sk_buff *msg, const struct vcx_qp *qp)
{
	if (rdma_nl_put_driver_u32(msg, "sq_blocks", qp->sq.num_bbs) ||
	    rdma_nl_put_driver_u32(msg, "sq_pi", READ_ONCE(qp->sq.pi)) ||
	    rdma_nl_put_driver_u32(msg, "sq_ci", READ_ONCE(qp->sq.ci)) ||
	    rdma_nl_put_driver_u32(msg, "rq_entries", qp->rq.num_wqes) ||
	    rdma_nl_put_driver_u32(msg, "rq_pi", READ_ONCE(qp->rq.pi)) ||
	    rdma_nl_put_driver_u32(msg, "rq_ci", READ_ONCE(qp->rq.ci)))
		return -EMSGSIZE;
	return 0;
}

int vcx_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	struct nlattr *table;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_u32(msg, "doorbell_page", qp->uar_index) ||
	    rdma_nl_put_driver_u32(msg, "max_send_wr", qp->cap.max_send_wr) ||
	    rdma_nl_put_driver_u32(msg, "max_recv_wr", qp->cap.max_recv_wr) ||
	    (!ibqp->uobject && vcx_res_kernel_rings(msg, qp))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

int vcx_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	struct nlattr *table;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_u32(msg, "cqn", cq->cqn) ||
	    rdma_nl_put_driver_u32(msg, "eqn", cq->eq->eqn) ||
	    rdma_nl_put_driver_u32(msg, "entries", BIT(cq->log_cqes)) ||
	    rdma_nl_put_driver_u32(msg, "moderation_count",
				   cq->moderation_count) ||
	    rdma_nl_put_driver_u32(msg, "moderation_usecs",
				   cq->moderation_usecs) ||
	    (!ibcq->uobject &&
	     rdma_nl_put_driver_u32(msg, "ci", READ_ONCE(cq->ci)))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

int vcx_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct vcx_mr *mr = to_vcx_mr(ibmr);
	struct nlattr *table;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_u32_hex(msg, "index", mr->index) ||
	    rdma_nl_put_driver_u32_hex(msg, "access", mr->access) ||
	    (mr->umem &&
	     rdma_nl_put_driver_u32(msg, "page_size", ibmr->page_size))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}
