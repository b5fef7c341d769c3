// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cq_poll.c - the consumer side of kernel completion queues.
 */
#include "vcx.h"

static struct vcx_cqe *vcx_cq_entry(struct vcx_cq *cq, u32 counter)
{
	return vcx_buf_at(&cq->buf,
			  (counter & (BIT(cq->log_cqes) - 1)) * VCX_CQE_BYTES);
}

/* The entry at a counter if the device has written it, else NULL. */
struct vcx_cqe *vcx_cq_written(struct vcx_cq *cq, u32 counter)
{
	struct vcx_cqe *cqe = vcx_cq_entry(cq, counter);
	u8 op_own = READ_ONCE(cqe->op_own);

	if (VCX_CQE_OP(op_own) == VCX_CQE_INVALID ||
	    (op_own & VCX_CQE_OP_OWNER) != ((counter >> cq->log_cqes) & 1))
		return NULL;
	/* The device writes op_own after the rest of the entry. */
	dma_rmb();
	return cqe;
}

void vcx_cq_publish_ci(struct vcx_cq *cq)
{
	/* The entries have been read; the device may reuse them. */
	mb();
	cq->dbrec.word[VCX_DBR_CQ_CI] = cpu_to_be32(cq->ci & 0xffffff);
}

static enum ib_wc_status vcx_wc_status(u8 syndrome)
{
	switch (syndrome) {
	case VCX_SYNDROME_LOCAL_LENGTH:
		return IB_WC_LOC_LEN_ERR;
	case VCX_SYNDROME_LOCAL_QP_OP:
		return IB_WC_LOC_QP_OP_ERR;
	case VCX_SYNDROME_LOCAL_PROTECTION:
		return IB_WC_LOC_PROT_ERR;
	case VCX_SYNDROME_FLUSHED:
		return IB_WC_WR_FLUSH_ERR;
	case VCX_SYNDROME_MW_BIND:
		return IB_WC_MW_BIND_ERR;
	case VCX_SYNDROME_BAD_RESPONSE:
		return IB_WC_BAD_RESP_ERR;
	case VCX_SYNDROME_LOCAL_ACCESS:
		return IB_WC_LOC_ACCESS_ERR;
	case VCX_SYNDROME_REMOTE_INVALID_REQ:
		return IB_WC_REM_INV_REQ_ERR;
	case VCX_SYNDROME_REMOTE_ACCESS:
		return IB_WC_REM_ACCESS_ERR;
	case VCX_SYNDROME_REMOTE_OP:
		return IB_WC_REM_OP_ERR;
	case VCX_SYNDROME_RETRY_EXCEEDED:
		return IB_WC_RETRY_EXC_ERR;
	case VCX_SYNDROME_RNR_EXCEEDED:
		return IB_WC_RNR_RETRY_EXC_ERR;
	case VCX_SYNDROME_ABORTED:
		return IB_WC_REM_ABORT_ERR;
	default:
		return IB_WC_GENERAL_ERR;
	}
}

static enum ib_wc_opcode vcx_send_wc_opcode(u8 opcode)
{
	switch (opcode) {
	case VCX_WQE_RDMA_WRITE:
	case VCX_WQE_RDMA_WRITE_IMM:
		return IB_WC_RDMA_WRITE;
	case VCX_WQE_RDMA_READ:
		return IB_WC_RDMA_READ;
	default:
		return IB_WC_SEND;
	}
}

/*
 * Retires send WQEs up to the one at this index; those before it were not
 * signalled.
 */
static void vcx_complete_send(struct vcx_qp *qp, u16 wqe_counter,
			      struct ib_wc *wc)
{
	struct vcx_sq *sq = &qp->sq;
	struct vcx_send_wqe *wqe = &sq->wqe[wqe_counter & (sq->num_bbs - 1)];
	u32 ci = sq->ci + (u16)(wqe_counter - sq->ci) + wqe->num_bbs;

	wc->wr_id = wqe->wr_id;
	/* The poster may overwrite what lies before ci as soon as it sees it. */
	smp_store_release(&sq->ci, ci);
}

static void vcx_complete_recv(struct vcx_qp *qp, struct ib_wc *wc)
{
	struct vcx_rq *rq = &qp->rq;

	wc->wr_id = rq->wr_id[rq->ci & (rq->num_wqes - 1)];
	/* As for the send queue. */
	smp_store_release(&rq->ci, rq->ci + 1);
}

static void vcx_fill_recv_wc(const struct vcx_cqe *cqe, struct ib_wc *wc)
{
	u32 flags_rqpn = be32_to_cpu(cqe->flags_rqpn);

	wc->opcode = IB_WC_RECV;
	wc->byte_len = be32_to_cpu(cqe->byte_count);
	wc->src_qp = flags_rqpn & 0xffffff;
	wc->sl = (flags_rqpn >> 24) & 0xf;
	wc->slid = be16_to_cpu(cqe->slid);
	wc->dlid_path_bits = cqe->ml_path & 0x7f;
	if (flags_rqpn & VCX_CQE_GRH_PRESENT)
		wc->wc_flags |= IB_WC_GRH;

	switch (VCX_CQE_OP(cqe->op_own)) {
	case VCX_CQE_RESP_WRITE_IMM:
		wc->opcode = IB_WC_RECV_RDMA_WITH_IMM;
		fallthrough;
	case VCX_CQE_RESP_SEND_IMM:
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->imm_inval_pkey;
		break;
	case VCX_CQE_RESP_SEND_INV:
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = be32_to_cpu(cqe->imm_inval_pkey);
		break;
	}
}

/* Whether the entry belongs to the queue that its opcode says it does. */
static bool vcx_cqe_is_plausible(const struct vcx_qp *qp, u8 op)
{
	if (!qp)
		return false;
	if (op == VCX_CQE_REQ || op == VCX_CQE_REQ_ERR)
		return qp->sq.num_bbs;
	return qp->rq.num_wqes && op != VCX_CQE_RESIZE;
}

/* Turns one entry into a work completion; false: it was nobody's. */
static bool vcx_cq_take(struct vcx_cq *cq, const struct vcx_cqe *cqe,
			struct ib_wc *wc)
{
	struct vcx_dev *dev = to_vcx_dev(cq->ibcq.device);
	u32 sop_qpn = be32_to_cpu(cqe->sop_qpn);
	const struct vcx_err_cqe *err;
	u8 op = VCX_CQE_OP(cqe->op_own);
	struct vcx_qp *qp;

	/* A QP leaves the table after its entries have been discarded. */
	qp = xa_load(&dev->qps, sop_qpn & 0xffffff);
	if (!vcx_cqe_is_plausible(qp, op)) {
		dev_err_ratelimited(&dev->pdev->dev,
				    "completion %#x for QP %#x in queue %u is nobody's\n",
				    op, sop_qpn & 0xffffff, cq->cqn);
		return false;
	}
	memset(wc, 0, sizeof(*wc));
	wc->qp = &qp->ibqp;
	wc->port_num = VCX_PORT;

	switch (op) {
	case VCX_CQE_REQ:
		wc->opcode = vcx_send_wc_opcode(sop_qpn >> 24);
		wc->byte_len = be32_to_cpu(cqe->byte_count);
		fallthrough;
	case VCX_CQE_REQ_ERR:
		vcx_complete_send(qp, be16_to_cpu(cqe->wqe_counter), wc);
		break;
	default:
		vcx_complete_recv(qp, wc);
		if (op != VCX_CQE_RESP_ERR)
			vcx_fill_recv_wc(cqe, wc);
	}
	if (op == VCX_CQE_REQ_ERR || op == VCX_CQE_RESP_ERR) {
		err = (const struct vcx_err_cqe *)cqe;
		wc->status = vcx_wc_status(err->syndrome);
		wc->vendor_err = err->vendor_syndrome;
	}
	return true;
}

/* ---- A dead device ------------------------------------------------------------ */

static bool vcx_flush_send(struct vcx_qp *qp, struct ib_wc *wc)
{
	struct vcx_sq *sq = &qp->sq;

	/* Pairs with the release of pi after wqe[] has been filled in. */
	if (sq->ci == smp_load_acquire(&sq->pi))
		return false;
	memset(wc, 0, sizeof(*wc));
	wc->qp = &qp->ibqp;
	wc->status = IB_WC_WR_FLUSH_ERR;
	vcx_complete_send(qp, sq->ci, wc);
	return true;
}

static bool vcx_flush_recv(struct vcx_qp *qp, struct ib_wc *wc)
{
	struct vcx_rq *rq = &qp->rq;

	/* Pairs with the release of pi after wr_id[] has been filled in. */
	if (rq->ci == smp_load_acquire(&rq->pi))
		return false;
	memset(wc, 0, sizeof(*wc));
	wc->qp = &qp->ibqp;
	wc->status = IB_WC_WR_FLUSH_ERR;
	vcx_complete_recv(qp, wc);
	return true;
}

/* What was posted and will never be executed ends as flushed, in order. */
static int vcx_cq_flush(struct vcx_cq *cq, int num_entries, struct ib_wc *wc)
{
	struct vcx_qp *qp;
	int n = 0;

	list_for_each_entry(qp, &cq->send_qps, send_entry)
		while (n < num_entries && vcx_flush_send(qp, wc + n))
			n++;
	list_for_each_entry(qp, &cq->recv_qps, recv_entry)
		while (n < num_entries && vcx_flush_recv(qp, wc + n))
			n++;
	return n;
}

static bool vcx_cq_has_unflushed(struct vcx_cq *cq)
{
	struct vcx_qp *qp;

	list_for_each_entry(qp, &cq->send_qps, send_entry)
		if (qp->sq.ci != READ_ONCE(qp->sq.pi))
			return true;
	list_for_each_entry(qp, &cq->recv_qps, recv_entry)
		if (qp->rq.ci != READ_ONCE(qp->rq.pi))
			return true;
	return false;
}

/* ---- Verbs --------------------------------------------------------------------- */

int vcx_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct vcx_dev *dev = to_vcx_dev(ibcq->device);
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	unsigned long flags;
	struct vcx_cqe *cqe;
	u32 first;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	first = cq->ci;
	while (n < num_entries && (cqe = vcx_cq_written(cq, cq->ci))) {
		if (unlikely(VCX_CQE_OP(cqe->op_own) == VCX_CQE_RESIZE) &&
		    vcx_cq_follow_resize(cq))
			continue;
		cq->ci++;
		if (vcx_cq_take(cq, cqe, wc + n))
			n++;
	}
	if (cq->ci != first)
		vcx_cq_publish_ci(cq);
	if (n < num_entries && vcx_dev_is_dead(dev))
		n += vcx_cq_flush(cq, num_entries - n, wc + n);
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

int vcx_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct vcx_dev *dev = to_vcx_dev(ibcq->device);
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	unsigned long irq_flags;
	bool missed;
	u32 word;

	spin_lock_irqsave(&cq->lock, irq_flags);
	word = VCX_CQ_ARM_SN(READ_ONCE(cq->arm_sn)) | VCX_CQ_ARM_CI(cq->ci);
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED)
		word |= VCX_CQ_ARM_SOLICITED;
	if (!vcx_dev_is_dead(dev)) {
		cq->dbrec.word[VCX_DBR_CQ_ARM] = cpu_to_be32(word);
		/* The device compares the doorbell with the record. */
		wmb();
		vcx_ring64(&dev->uar, VCX_UAR_CQ_ARM,
			   cpu_to_be64((u64)word << 32 | cq->cqn));
	}
	missed = flags & IB_CQ_REPORT_MISSED_EVENTS &&
		 (vcx_cq_written(cq, cq->ci) ||
		  (vcx_dev_is_dead(dev) && vcx_cq_has_unflushed(cq)));
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	return missed;
}

/*
 * Takes the entries of a QP that is destroyed or reset out of the queue: the
 * others move up to fill the gaps, each into a place whose owner bit stays.
 */
void vcx_cq_discard(struct vcx_cq *cq, u32 qpn)
{
	u32 end, at, gaps = 0;
	struct vcx_cqe *cqe, *to;
	u8 owner;

	lockdep_assert_held(&cq->lock);
	vcx_cq_follow_resize(cq);
	end = cq->ci;
	while (end - cq->ci < BIT(cq->log_cqes) && vcx_cq_written(cq, end))
		end++;
	for (at = end; at != cq->ci; at--) {
		cqe = vcx_cq_entry(cq, at - 1);
		if ((be32_to_cpu(cqe->sop_qpn) & 0xffffff) == qpn) {
			gaps++;
			continue;
		}
		if (!gaps)
			continue;
		to = vcx_cq_entry(cq, at - 1 + gaps);
		owner = to->op_own & VCX_CQE_OP_OWNER;
		*to = *cqe;
		to->op_own = (to->op_own & ~VCX_CQE_OP_OWNER) | owner;
	}
	if (gaps) {
		cq->ci += gaps;
		vcx_cq_publish_ci(cq);
	}
}
