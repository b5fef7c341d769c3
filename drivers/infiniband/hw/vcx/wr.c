// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * wr.c - posting of kernel work requests.
 *
 * A send WQE is built in the ring unit by unit: begin, one call for each
 * segment, commit. The device sees nothing of it before the doorbell.
 */
#include "vcx.h"

#define VCX_UNITS_PER_BB	(VCX_WQE_BB_BYTES / VCX_WQE_UNIT_BYTES)

/* A WQE under construction. */
struct vcx_wqe_builder {
	struct vcx_qp *qp;
	struct vcx_wqe_ctrl *ctrl;
	u32 units;		/* of 16 bytes, so far */
};

/* ---- Builder ---------------------------------------------------------------- */

/* The next 16 bytes of the WQE, which wraps with the ring. */
static void *vcx_wqe_next(struct vcx_wqe_builder *b)
{
	struct vcx_sq *sq = &b->qp->sq;
	u32 ring_bytes = sq->num_bbs * VCX_WQE_BB_BYTES;
	u32 at = sq->pi * VCX_WQE_BB_BYTES + b->units++ * VCX_WQE_UNIT_BYTES;

	return vcx_buf_at(&b->qp->buf, sq->offset + (at & (ring_bytes - 1)));
}

static void vcx_wqe_begin(struct vcx_wqe_builder *b, struct vcx_qp *qp)
{
	b->qp = qp;
	b->units = 0;
	b->ctrl = vcx_wqe_next(b);
	memset(b->ctrl, 0, sizeof(*b->ctrl));
}

static void vcx_wqe_add_raddr(struct vcx_wqe_builder *b, u64 va, u32 rkey)
{
	struct vcx_wqe_raddr *seg = vcx_wqe_next(b);

	*seg = (struct vcx_wqe_raddr) {
		.va = cpu_to_be64(va),
		.rkey = cpu_to_be32(rkey),
	};
}

static void vcx_fill_data(struct vcx_wqe_data *seg, const struct ib_sge *sge)
{
	*seg = (struct vcx_wqe_data) {
		.byte_count = cpu_to_be32(sge->length),
		.lkey = cpu_to_be32(sge->lkey),
		.va = cpu_to_be64(sge->addr),
	};
}

/* A byte count of zero would mean 2^31: empty entries are left out. */
static void vcx_wqe_add_sges(struct vcx_wqe_builder *b,
			     const struct ib_send_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++)
		if (wr->sg_list[i].length)
			vcx_fill_data(vcx_wqe_next(b), &wr->sg_list[i]);
}

/* One inline segment with all data; they follow its 4-byte head at once. */
static void vcx_wqe_add_inline(struct vcx_wqe_builder *b,
			       const struct ib_send_wr *wr, u32 bytes)
{
	struct vcx_wqe_inline *head = vcx_wqe_next(b);
	u32 room = VCX_WQE_UNIT_BYTES - sizeof(*head), left, n;
	void *to = head + 1;
	const void *from;
	int i;

	head->byte_count = cpu_to_be32(VCX_WQE_INLINE | bytes);
	for (i = 0; i < wr->num_sge; i++) {
		from = (const void *)(uintptr_t)wr->sg_list[i].addr;
		for (left = wr->sg_list[i].length; left; left -= n) {
			if (!room) {
				to = vcx_wqe_next(b);
				room = VCX_WQE_UNIT_BYTES;
			}
			n = min(left, room);
			memcpy(to, from, n);
			to += n;
			from += n;
			room -= n;
		}
	}
}

static void vcx_wqe_commit(struct vcx_wqe_builder *b, u8 opcode,
			   const struct ib_send_wr *wr)
{
	struct vcx_qp *qp = b->qp;
	struct vcx_sq *sq = &qp->sq;
	struct vcx_send_wqe *wqe = &sq->wqe[sq->pi & (sq->num_bbs - 1)];
	u8 flags = 0;

	if (qp->sig_all || wr->send_flags & IB_SEND_SIGNALED)
		flags |= VCX_WQE_CE_ALWAYS;
	if (wr->send_flags & IB_SEND_SOLICITED)
		flags |= VCX_WQE_SE;
	if (wr->send_flags & IB_SEND_FENCE)
		flags |= VCX_WQE_FM_FENCE;
	b->ctrl->opmod_idx_opcode = cpu_to_be32((sq->pi & 0xffff) << 8 |
						opcode);
	b->ctrl->qpn_ds = cpu_to_be32(qp->qpn << 8 | b->units);
	b->ctrl->fm_ce_se = flags;

	wqe->wr_id = wr->wr_id;
	wqe->num_bbs = DIV_ROUND_UP(b->units, VCX_UNITS_PER_BB);
	/* Whoever flushes up to pi must find wqe[] filled in. */
	smp_store_release(&sq->pi, sq->pi + wqe->num_bbs);
}

static void vcx_wqe_ring(struct vcx_wqe_builder *b)
{
	struct vcx_dev *dev = to_vcx_dev(b->qp->ibqp.device);
	__be64 *start = (__be64 *)b->ctrl;

	if (vcx_dev_is_dead(dev)) {
		vcx_flush_kick(dev);
		return;
	}
	/* The WQEs before the record that announces them. */
	dma_wmb();
	b->qp->dbrec.word[VCX_DBR_SQ] = cpu_to_be32(b->qp->sq.pi & 0xffff);
	/* The device reads the record when it is rung. */
	wmb();
	vcx_ring64(&dev->uar, VCX_UAR_SQ, *start);
}

/* ---- Send --------------------------------------------------------------------- */

struct vcx_send_op {
	bool known;
	u8 opcode;
	bool rdma;
	bool imm;
	bool can_inline;
};

static const struct vcx_send_op vcx_send_ops[] = {
	[IB_WR_SEND] = { true, VCX_WQE_SEND, false, false, true },
	[IB_WR_SEND_WITH_IMM] = { true, VCX_WQE_SEND_IMM, false, true, true },
	[IB_WR_RDMA_WRITE] = { true, VCX_WQE_RDMA_WRITE, true, false, true },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { true, VCX_WQE_RDMA_WRITE_IMM, true,
					true, true },
	[IB_WR_RDMA_READ] = { true, VCX_WQE_RDMA_READ, true, false, false },
};

/* Blocks that the request will take, or why it cannot be posted. */
static int vcx_send_size(const struct vcx_sq *sq, const struct ib_send_wr *wr,
			 const struct vcx_send_op *op, u32 *inline_bytes)
{
	u32 units = 1 + op->rdma, entries = 0;
	u64 bytes = 0;
	int i;

	if (wr->num_sge > sq->max_sges)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length > S32_MAX)
			return -EINVAL;
		bytes += wr->sg_list[i].length;
		entries += !!wr->sg_list[i].length;
	}
	*inline_bytes = 0;
	if (wr->send_flags & IB_SEND_INLINE && bytes) {
		if (!op->can_inline || bytes > sq->max_inline)
			return -EINVAL;
		*inline_bytes = bytes;
		entries = DIV_ROUND_UP(sizeof(struct vcx_wqe_inline) + bytes,
				       VCX_WQE_UNIT_BYTES);
	}
	return DIV_ROUND_UP(units + entries, VCX_UNITS_PER_BB);
}

static int vcx_post_one_send(struct vcx_wqe_builder *b, struct vcx_qp *qp,
			     const struct ib_send_wr *wr)
{
	struct vcx_sq *sq = &qp->sq;
	const struct vcx_send_op *op;
	u32 inline_bytes;
	int bbs;

	if (wr->opcode >= ARRAY_SIZE(vcx_send_ops) ||
	    !vcx_send_ops[wr->opcode].known)
		return -EINVAL;
	op = &vcx_send_ops[wr->opcode];
	bbs = vcx_send_size(sq, wr, op, &inline_bytes);
	if (bbs < 0)
		return bbs;
	/* Pairs with the release when a WQE has been retired. */
	if (sq->pi + bbs - smp_load_acquire(&sq->ci) > sq->num_bbs)
		return -ENOMEM;

	vcx_wqe_begin(b, qp);
	if (op->imm)
		b->ctrl->imm = wr->ex.imm_data;
	if (op->rdma)
		vcx_wqe_add_raddr(b, rdma_wr(wr)->remote_addr,
				  rdma_wr(wr)->rkey);
	if (inline_bytes)
		vcx_wqe_add_inline(b, wr, inline_bytes);
	else
		vcx_wqe_add_sges(b, wr);
	vcx_wqe_commit(b, op->opcode, wr);
	return 0;
}

int vcx_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	struct vcx_wqe_builder builder = {};
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	unsigned long flags;
	int err = 0;

	/* In ERR a request is accepted, and flushed. */
	if (READ_ONCE(qp->state) < IB_QPS_RTS) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->sq.lock, flags);
	for (; wr; wr = wr->next) {
		err = vcx_post_one_send(&builder, qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (builder.ctrl)
		vcx_wqe_ring(&builder);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	return err;
}

/* ---- Receive --------------------------------------------------------------------- */

static int vcx_post_one_recv(struct vcx_qp *qp, const struct ib_recv_wr *wr)
{
	struct vcx_rq *rq = &qp->rq;
	u32 index = rq->pi & (rq->num_wqes - 1), n = 0;
	struct vcx_wqe_data *seg;
	int i;

	if (wr->num_sge > rq->max_sges)
		return -EINVAL;
	/* Pairs with the release when a WQE has been retired. */
	if (rq->pi - smp_load_acquire(&rq->ci) >= rq->num_wqes)
		return -ENOMEM;

	seg = vcx_buf_at(&qp->buf, index << rq->log_stride);
	for (i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length > S32_MAX)
			return -EINVAL;
		if (wr->sg_list[i].length)
			vcx_fill_data(&seg[n++], &wr->sg_list[i]);
	}
	if (n < rq->max_sges)
		seg[n] = (struct vcx_wqe_data) {
			.lkey = cpu_to_be32(VCX_WQE_LKEY_TERMINATE),
		};
	rq->wr_id[index] = wr->wr_id;
	/* Whoever flushes up to pi must find wr_id[] filled in. */
	smp_store_release(&rq->pi, rq->pi + 1);
	return 0;
}

int vcx_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct vcx_dev *dev = to_vcx_dev(ibqp->device);
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	struct vcx_rq *rq = &qp->rq;
	unsigned long flags;
	u32 first;
	int err = 0;

	if (READ_ONCE(qp->state) == IB_QPS_RESET) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&rq->lock, flags);
	first = rq->pi;
	for (; wr; wr = wr->next) {
		err = vcx_post_one_recv(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (rq->pi != first) {
		/* The WQEs before the record that announces them. */
		dma_wmb();
		qp->dbrec.word[VCX_DBR_RQ] = cpu_to_be32(rq->pi & 0xffff);
		if (vcx_dev_is_dead(dev))
			vcx_flush_kick(dev);
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return err;
}
