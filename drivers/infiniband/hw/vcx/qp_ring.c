// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp_ring.c - the rings of a kernel queue pair: the receive queue at the start
 * of the buffer, the send queue after it.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "vcx.h"

#define VCX_INLINE_HEAD		sizeof(struct vcx_wqe_inline)
#define VCX_SEND_HEAD_BYTES	(sizeof(struct vcx_wqe_ctrl) + \
				 sizeof(struct vcx_wqe_raddr))

/* Room for any request of these limits; says what really fits. */
static int vcx_sq_size(struct vcx_dev *dev, struct vcx_sq *sq,
		       struct ib_qp_cap *cap)
{
	u32 gather = cap->max_send_sge * sizeof(struct vcx_wqe_data);
	u32 data = gather, bytes;

	if (!cap->max_send_wr) {
		cap->max_send_sge = 0;
		cap->max_inline_data = 0;
		return 0;
	}
	if (cap->max_send_wr > dev->caps.max_sq_bbs ||
	    cap->max_send_sge > VCX_WQE_MAX_BYTES ||
	    cap->max_inline_data > VCX_WQE_MAX_BYTES)
		return -EINVAL;
	if (cap->max_inline_data)
		data = max_t(u32, gather, round_up(VCX_INLINE_HEAD +
						   cap->max_inline_data,
						   VCX_WQE_UNIT_BYTES));
	bytes = VCX_SEND_HEAD_BYTES + data;
	if (bytes > dev->caps.max_sq_wqe_bytes)
		return -EINVAL;

	sq->max_wqe_bbs = DIV_ROUND_UP(bytes, VCX_WQE_BB_BYTES);
	sq->num_bbs = roundup_pow_of_two(cap->max_send_wr * sq->max_wqe_bbs);
	if (sq->num_bbs > dev->caps.max_sq_bbs)
		return -EINVAL;

	data = min(sq->max_wqe_bbs * VCX_WQE_BB_BYTES,
		   dev->caps.max_sq_wqe_bytes) - VCX_SEND_HEAD_BYTES;
	sq->max_sges = data / sizeof(struct vcx_wqe_data);
	sq->max_inline = data - VCX_INLINE_HEAD;
	cap->max_send_wr = sq->num_bbs / sq->max_wqe_bbs;
	cap->max_send_sge = sq->max_sges;
	cap->max_inline_data = sq->max_inline;
	return 0;
}

static int vcx_rq_size(struct vcx_dev *dev, struct vcx_rq *rq,
		       struct ib_qp_cap *cap)
{
	u32 stride;

	if (!cap->max_recv_wr) {
		cap->max_recv_sge = 0;
		return 0;
	}
	if (cap->max_recv_wr > dev->caps.max_rq_wqes ||
	    cap->max_recv_sge >
	    dev->caps.max_rq_wqe_bytes / sizeof(struct vcx_wqe_data))
		return -EINVAL;
	stride = roundup_pow_of_two(max(cap->max_recv_sge, 1u) *
				    sizeof(struct vcx_wqe_data));
	rq->log_stride = ilog2(stride);
	rq->max_sges = stride / sizeof(struct vcx_wqe_data);
	/* The send queue after it begins on a block. */
	rq->num_wqes = max_t(u32, roundup_pow_of_two(cap->max_recv_wr),
			     VCX_WQE_BB_BYTES / min_t(u32, stride,
						      VCX_WQE_BB_BYTES));
	cap->max_recv_wr = rq->num_wqes;
	cap->max_recv_sge = rq->max_sges;
	return 0;
}

static int vcx_rings_alloc(struct vcx_dev *dev, struct vcx_qp *qp)
{
	struct vcx_sq *sq = &qp->sq;
	struct vcx_rq *rq = &qp->rq;
	int err = -ENOMEM;

	sq->offset = rq->num_wqes << rq->log_stride;
	sq->wqe = kvcalloc(sq->num_bbs, sizeof(*sq->wqe), GFP_KERNEL);
	rq->wr_id = kvcalloc(rq->num_wqes, sizeof(*rq->wr_id), GFP_KERNEL);
	if ((sq->num_bbs && !sq->wqe) || (rq->num_wqes && !rq->wr_id))
		goto err_free;
	err = vcx_buf_alloc(dev, &qp->buf,
			    sq->offset + sq->num_bbs * VCX_WQE_BB_BYTES);
	if (err)
		goto err_free;
	err = vcx_dbrec_alloc(dev, &qp->dbrec);
	if (err)
		goto err_buf;
	return 0;

err_buf:
	vcx_buf_free(&qp->buf);
err_free:
	kvfree(rq->wr_id);
	kvfree(sq->wqe);
	return err;
}

int vcx_kernel_rings_init(struct vcx_dev *dev, struct vcx_qp *qp,
			  struct ib_qp_cap *cap)
{
	int err;

	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	err = vcx_sq_size(dev, &qp->sq, cap);
	if (err)
		return err;
	err = vcx_rq_size(dev, &qp->rq, cap);
	if (err)
		return err;
	if (!qp->sq.num_bbs && !qp->rq.num_wqes)
		return -EINVAL;
	return vcx_rings_alloc(dev, qp);
}

void vcx_kernel_rings_fini(struct vcx_dev *dev, struct vcx_qp *qp)
{
	vcx_dbrec_free(dev, &qp->dbrec);
	vcx_buf_free(&qp->buf);
	kvfree(qp->rq.wr_id);
	kvfree(qp->sq.wqe);
}

/* From here on the completion queues may flush the QP when the device dies. */
void vcx_kernel_rings_attach(struct vcx_qp *qp)
{
	struct vcx_cq *send_cq = to_vcx_cq(qp->ibqp.send_cq);
	struct vcx_cq *recv_cq = to_vcx_cq(qp->ibqp.recv_cq);
	unsigned long flags;

	vcx_cqs_lock(send_cq, recv_cq, &flags);
	list_add_tail(&qp->send_entry, &send_cq->send_qps);
	list_add_tail(&qp->recv_entry, &recv_cq->recv_qps);
	vcx_cqs_unlock(send_cq, recv_cq, flags);
}

static void vcx_kernel_rings_discard(struct vcx_qp *qp, struct vcx_cq *send_cq,
				     struct vcx_cq *recv_cq)
{
	vcx_cq_discard(send_cq, qp->qpn);
	if (recv_cq != send_cq)
		vcx_cq_discard(recv_cq, qp->qpn);
}

/* The device has destroyed the QP. */
void vcx_kernel_rings_detach(struct vcx_qp *qp)
{
	struct vcx_cq *send_cq = to_vcx_cq(qp->ibqp.send_cq);
	struct vcx_cq *recv_cq = to_vcx_cq(qp->ibqp.recv_cq);
	unsigned long flags;

	vcx_cqs_lock(send_cq, recv_cq, &flags);
	list_del(&qp->send_entry);
	list_del(&qp->recv_entry);
	vcx_kernel_rings_discard(qp, send_cq, recv_cq);
	vcx_cqs_unlock(send_cq, recv_cq, flags);
}

/* The device has moved the QP to RST: both sides begin at zero again. */
void vcx_kernel_rings_reset(struct vcx_qp *qp)
{
	struct vcx_cq *send_cq = to_vcx_cq(qp->ibqp.send_cq);
	struct vcx_cq *recv_cq = to_vcx_cq(qp->ibqp.recv_cq);
	unsigned long flags;

	vcx_cqs_lock(send_cq, recv_cq, &flags);
	vcx_kernel_rings_discard(qp, send_cq, recv_cq);
	qp->sq.pi = 0;
	qp->sq.ci = 0;
	qp->rq.pi = 0;
	qp->rq.ci = 0;
	qp->dbrec.word[VCX_DBR_RQ] = 0;
	qp->dbrec.word[VCX_DBR_SQ] = 0;
	vcx_cqs_unlock(send_cq, recv_cq, flags);
}
