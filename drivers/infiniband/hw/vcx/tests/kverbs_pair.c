// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kverbs_pair.c - two connected queue pairs, and waiting for completions.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "kverbs.h"

#define KV_TIMEOUT_MS	20000

static void kv_qp_event(struct ib_event *event, void *context)
{
	pr_info("kverbs: QP event %d\n", event->event);
}

static int kv_side_open(struct kv_pair *p, struct kv_side *s,
			enum ib_poll_context ctx)
{
	struct ib_qp_init_attr init = {
		.event_handler = kv_qp_event,
		.cap = {
			.max_send_wr = KV_MAX_WR,
			.max_recv_wr = KV_MAX_WR,
			.max_send_sge = KV_MAX_SGE,
			.max_recv_sge = KV_MAX_SGE,
			.max_inline_data = KV_MAX_INLINE,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	s->buf = kzalloc(KV_BUF_BYTES, GFP_KERNEL);
	if (!s->buf)
		return -ENOMEM;
	s->addr = ib_dma_map_single(p->ibdev, s->buf, KV_BUF_BYTES,
				    DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(p->ibdev, s->addr)) {
		kfree(s->buf);
		s->buf = NULL;
		return -ENOMEM;
	}
	s->cq = ib_alloc_cq_any(p->ibdev, NULL, 4 * KV_MAX_WR, ctx);
	if (IS_ERR(s->cq))
		return PTR_ERR(s->cq);
	init.send_cq = s->cq;
	init.recv_cq = s->cq;
	s->qp = ib_create_qp(p->pd, &init);
	return PTR_ERR_OR_ZERO(s->qp);
}

static void kv_side_close(struct kv_pair *p, struct kv_side *s)
{
	if (!IS_ERR_OR_NULL(s->qp))
		ib_destroy_qp(s->qp);
	if (!IS_ERR_OR_NULL(s->cq))
		ib_free_cq(s->cq);
	if (s->buf)
		ib_dma_unmap_single(p->ibdev, s->addr, KV_BUF_BYTES,
				    DMA_BIDIRECTIONAL);
	kfree(s->buf);
}

int kv_pair_open(struct kv_pair *p, struct ib_device *ibdev,
		 enum ib_poll_context ctx)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->ibdev = ibdev;
	p->pd = ib_alloc_pd(ibdev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(p->pd))
		return PTR_ERR(p->pd);
	err = kv_side_open(p, &p->a, ctx);
	if (!err)
		err = kv_side_open(p, &p->b, ctx);
	if (!err)
		err = kv_pair_connect(p);
	if (err)
		kv_pair_close(p);
	return err;
}

void kv_pair_close(struct kv_pair *p)
{
	kv_side_close(p, &p->a);
	kv_side_close(p, &p->b);
	ib_dealloc_pd(p->pd);
}

static int kv_connect(struct kv_pair *p, struct kv_side *s, u32 dest_qpn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE |
				   IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_READ,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = dest_qpn,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.rq_psn = 0xfffff0,	/* soon wraps */
		.sq_psn = 0xfffff0,
	};
	struct ib_port_attr port;
	int err;

	err = ib_query_port(p->ibdev, 1, &port);
	if (err)
		return err;
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_dlid(&attr.ah_attr, port.lid);

	err = ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
					 IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(s->qp, &attr,
			   IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			   IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(s->qp, &attr,
			    IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			    IB_QP_MAX_QP_RD_ATOMIC);
}

int kv_pair_connect(struct kv_pair *p)
{
	int err = kv_connect(p, &p->a, p->b.qp->qp_num);

	return err ? err : kv_connect(p, &p->b, p->a.qp->qp_num);
}

int kv_pair_reset(struct kv_pair *p)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	int err = ib_modify_qp(p->a.qp, &attr, IB_QP_STATE);

	return err ? err : ib_modify_qp(p->b.qp, &attr, IB_QP_STATE);
}

static void kv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_wait *w = container_of(wc->wr_cqe, struct kv_wait, cqe);

	w->last = *wc;
	if (wc->status == IB_WC_SUCCESS)
		atomic_inc(&w->good);
	else if (wc->status == IB_WC_WR_FLUSH_ERR)
		atomic_inc(&w->flushed);
	else
		atomic_inc(&w->failed);
}

void kv_wait_init(struct kv_wait *w)
{
	memset(w, 0, sizeof(*w));
	w->cqe.done = kv_done;
}

void kv_report(struct kv_pair *p, bool ok, const char *condition, int line)
{
	if (ok)
		return;
	pr_err("kverbs: line %d: %s\n", line, condition);
	p->failures++;
}

/* Until n completions have been good in all, or one was not. */
int kv_wait_good(struct kv_pair *p, struct kv_wait *w, int n)
{
	int waited;

	for (waited = 0; waited < KV_TIMEOUT_MS && !p->failures; waited++) {
		if (p->a.cq->poll_ctx == IB_POLL_DIRECT) {
			ib_process_cq_direct(p->a.cq, -1);
			ib_process_cq_direct(p->b.cq, -1);
		}
		if (atomic_read(&w->failed) || atomic_read(&w->flushed)) {
			pr_err("kverbs: completion status %d, vendor %#x\n",
			       w->last.status, w->last.vendor_err);
			return -EIO;
		}
		if (atomic_read(&w->good) >= n)
			return atomic_read(&w->good) == n ? 0 : -EIO;
		usleep_range(1000, 1100);
	}
	pr_err("kverbs: %d of %d completions\n", atomic_read(&w->good), n);
	return -ETIMEDOUT;
}

int kv_recv(struct kv_pair *p, struct kv_side *s, struct kv_wait *w, u32 offset,
	    u32 bytes)
{
	struct ib_sge sge = {
		.addr = s->addr + offset,
		.length = bytes,
		.lkey = p->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &w->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(s->qp, &wr, NULL);
}

int kv_send(struct kv_pair *p, struct kv_side *s, struct ib_send_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++)
		wr->sg_list[i].lkey = p->pd->local_dma_lkey;
	return ib_post_send(s->qp, wr, NULL);
}
