// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * poll.c - taking completions: ibv_poll_cq() and the calls of ibv_cq_ex, on the
 * same step, vcx_cq_next(), which finds the entry's QP and retires its WQEs.
 */
#include <errno.h>

#include "db.h"
#include "vcx.h"

static const enum ibv_wc_status vcx_wc_status[] = {
	[VCX_SYNDROME_LOCAL_LENGTH] = IBV_WC_LOC_LEN_ERR,
	[VCX_SYNDROME_LOCAL_QP_OP] = IBV_WC_LOC_QP_OP_ERR,
	[VCX_SYNDROME_LOCAL_PROTECTION] = IBV_WC_LOC_PROT_ERR,
	[VCX_SYNDROME_FLUSHED] = IBV_WC_WR_FLUSH_ERR,
	[VCX_SYNDROME_MW_BIND] = IBV_WC_MW_BIND_ERR,
	[VCX_SYNDROME_BAD_RESPONSE] = IBV_WC_BAD_RESP_ERR,
	[VCX_SYNDROME_LOCAL_ACCESS] = IBV_WC_LOC_ACCESS_ERR,
	[VCX_SYNDROME_REMOTE_INVALID_REQ] = IBV_WC_REM_INV_REQ_ERR,
	[VCX_SYNDROME_REMOTE_ACCESS] = IBV_WC_REM_ACCESS_ERR,
	[VCX_SYNDROME_REMOTE_OP] = IBV_WC_REM_OP_ERR,
	[VCX_SYNDROME_RETRY_EXCEEDED] = IBV_WC_RETRY_EXC_ERR,
	[VCX_SYNDROME_RNR_EXCEEDED] = IBV_WC_RNR_RETRY_EXC_ERR,
	[VCX_SYNDROME_ABORTED] = IBV_WC_REM_ABORT_ERR,
};

static const struct vcx_err_cqe *vcx_err_cqe(const struct vcx_cqe *cqe)
{
	return (const void *)cqe;
}

/* No entry of the table is IBV_WC_SUCCESS (0): that marks the gaps. */
static enum ibv_wc_status vcx_cqe_error(const struct vcx_cqe *cqe)
{
	uint8_t syndrome = vcx_err_cqe(cqe)->syndrome;

	if (syndrome >= sizeof(vcx_wc_status) / sizeof(vcx_wc_status[0]) ||
	    !vcx_wc_status[syndrome])
		return IBV_WC_GENERAL_ERR;
	return vcx_wc_status[syndrome];
}

/*
 * The counter is that of the first block of the WQE. Everything before it is
 * complete too, unsignalled as it may have been.
 */
static uint64_t vcx_retire_send(struct vcx_sq *sq, const struct vcx_cqe *cqe)
{
	uint32_t idx = be16toh(cqe->wqe_counter) & (sq->num_bbs - 1);
	const struct vcx_sq_slot *slot = &sq->slots[idx];
	uint64_t wr_id = slot->wr_id;

	vcx_retire(&sq->tail, slot->head + 1);
	return wr_id;
}

/* Receives complete in the order in which they were posted. */
static uint64_t vcx_retire_recv(struct vcx_rq *rq)
{
	uint32_t tail = atomic_load_explicit(&rq->tail, memory_order_relaxed);
	uint64_t wr_id = rq->wr_ids[tail & (rq->num_wqes - 1)];

	vcx_retire(&rq->tail, tail + 1);
	return wr_id;
}

/*
 * Take the next entry. ENOENT: there is none; the marker of a resize is the end
 * of this ring. EIO: an entry that belongs to no queue of ours, which is not
 * taken.
 */
static int vcx_cq_next(struct vcx_cq *cq)
{
	struct vcx_context *ctx = to_vcx_context(cq->vcq.cq.context);
	const struct vcx_cqe *cqe = vcx_cqe_at(&cq->ring, cq->ci);
	struct vcx_qp *qp;
	uint8_t op;

	if (!vcx_cqe_is_ours(&cq->ring, cq->ci))
		return ENOENT;
	udma_from_device_barrier();	/* the owner bit, then the entry */

	op = VCX_CQE_OP(cqe->op_own);
	if (op == VCX_CQE_RESIZE)
		return ENOENT;
	qp = vcx_qp_table_find(&ctx->qps,
			       be32toh(cqe->sop_qpn) & VCX_QPN_MASK);
	if (!qp)
		return EIO;

	switch (op) {
	case VCX_CQE_REQ:
	case VCX_CQE_REQ_ERR:
		if (!qp->sq.num_bbs)
			return EIO;
		cq->vcq.cq_ex.wr_id = vcx_retire_send(&qp->sq, cqe);
		break;
	case VCX_CQE_RESP_WRITE_IMM:
	case VCX_CQE_RESP_SEND:
	case VCX_CQE_RESP_SEND_IMM:
	case VCX_CQE_RESP_SEND_INV:
	case VCX_CQE_RESP_ERR:
		if (!qp->rq.num_wqes)
			return EIO;
		cq->vcq.cq_ex.wr_id = vcx_retire_recv(&qp->rq);
		break;
	default:
		return EIO;
	}

	cq->vcq.cq_ex.status =
		op == VCX_CQE_REQ_ERR || op == VCX_CQE_RESP_ERR ?
			vcx_cqe_error(cqe) : IBV_WC_SUCCESS;
	cq->qp = qp;
	cq->cqe = cqe;
	cq->ci++;
	return 0;
}

/*
 * The first step of a poll. An alien entry is told once and skipped, so that it
 * does not block the queue for ever.
 */
static int vcx_cq_first(struct vcx_cq *cq)
{
	int err = vcx_cq_next(cq);

	if (err == EIO) {
		verbs_err(verbs_get_ctx(cq->vcq.cq.context),
			  "CQ 0x%x: entry %u belongs to no queue\n", cq->cqn,
			  cq->ci);
		cq->ci++;
		vcx_ring_cq_ci(cq->dbrec, cq->ci);
	}
	return err;
}

static enum ibv_wc_opcode vcx_send_opcode(uint8_t opcode)
{
	switch (opcode) {
	case VCX_WQE_RDMA_WRITE:
	case VCX_WQE_RDMA_WRITE_IMM:
		return IBV_WC_RDMA_WRITE;
	case VCX_WQE_RDMA_READ:
		return IBV_WC_RDMA_READ;
	default:
		return IBV_WC_SEND;
	}
}

static enum ibv_wc_opcode vcx_read_opcode(struct ibv_cq_ex *ibcq)
{
	const struct vcx_cqe *cqe = to_vcx_cq_ex(ibcq)->cqe;

	switch (VCX_CQE_OP(cqe->op_own)) {
	case VCX_CQE_REQ:
	case VCX_CQE_REQ_ERR:
		return vcx_send_opcode(be32toh(cqe->sop_qpn) >> 24);
	case VCX_CQE_RESP_WRITE_IMM:
		return IBV_WC_RECV_RDMA_WITH_IMM;
	default:
		return IBV_WC_RECV;
	}
}

static uint32_t vcx_read_vendor_err(struct ibv_cq_ex *ibcq)
{
	if (ibcq->status == IBV_WC_SUCCESS)
		return VCX_VENDOR_NONE;
	return vcx_err_cqe(to_vcx_cq_ex(ibcq)->cqe)->vendor_syndrome;
}

static uint32_t vcx_read_byte_len(struct ibv_cq_ex *ibcq)
{
	return be32toh(to_vcx_cq_ex(ibcq)->cqe->byte_count);
}

/* Immediate data in network order, or an invalidated key in host order. */
static __be32 vcx_read_imm_data(struct ibv_cq_ex *ibcq)
{
	const struct vcx_cqe *cqe = to_vcx_cq_ex(ibcq)->cqe;

	if (VCX_CQE_OP(cqe->op_own) == VCX_CQE_RESP_SEND_INV)
		return (__force __be32)be32toh(cqe->imm_inval_pkey);
	return cqe->imm_inval_pkey;
}

static uint32_t vcx_read_qp_num(struct ibv_cq_ex *ibcq)
{
	return to_vcx_cq_ex(ibcq)->qp->vqp.qp.qp_num;
}

static uint32_t vcx_read_src_qp(struct ibv_cq_ex *ibcq)
{
	return be32toh(to_vcx_cq_ex(ibcq)->cqe->flags_rqpn) & VCX_QPN_MASK;
}

static unsigned int vcx_read_wc_flags(struct ibv_cq_ex *ibcq)
{
	const struct vcx_cqe *cqe = to_vcx_cq_ex(ibcq)->cqe;
	unsigned int flags = 0;

	switch (VCX_CQE_OP(cqe->op_own)) {
	case VCX_CQE_RESP_WRITE_IMM:
	case VCX_CQE_RESP_SEND_IMM:
		flags = IBV_WC_WITH_IMM;
		break;
	case VCX_CQE_RESP_SEND_INV:
		flags = IBV_WC_WITH_INV;
		break;
	case VCX_CQE_RESP_SEND:
		break;
	default:		/* a send has none */
		return 0;
	}
	if (be32toh(cqe->flags_rqpn) & VCX_CQE_GRH_PRESENT)
		flags |= IBV_WC_GRH;
	return flags;
}

static uint32_t vcx_read_slid(struct ibv_cq_ex *ibcq)
{
	return be16toh(to_vcx_cq_ex(ibcq)->cqe->slid);
}

static uint8_t vcx_read_sl(struct ibv_cq_ex *ibcq)
{
	return (be32toh(to_vcx_cq_ex(ibcq)->cqe->flags_rqpn) >> 24) & 0xf;
}

static uint8_t vcx_read_dlid_path_bits(struct ibv_cq_ex *ibcq)
{
	return to_vcx_cq_ex(ibcq)->cqe->ml_path & 0x7f;
}

static uint64_t vcx_read_completion_ts(struct ibv_cq_ex *ibcq)
{
	return be64toh(to_vcx_cq_ex(ibcq)->cqe->timestamp);
}

static int vcx_start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct vcx_cq *cq = to_vcx_cq_ex(ibcq);
	int err;

	if (attr->comp_mask)
		return EINVAL;

	vcx_lock(&cq->lock);
	err = vcx_cq_first(cq);
	if (err)
		vcx_unlock(&cq->lock);
	return err;
}

static int vcx_next_poll(struct ibv_cq_ex *ibcq)
{
	return vcx_cq_next(to_vcx_cq_ex(ibcq));
}

static void vcx_end_poll(struct ibv_cq_ex *ibcq)
{
	struct vcx_cq *cq = to_vcx_cq_ex(ibcq);

	vcx_ring_cq_ci(cq->dbrec, cq->ci);
	vcx_unlock(&cq->lock);
}

void vcx_cq_set_poll_ops(struct vcx_cq *cq)
{
	struct ibv_cq_ex *ibcq = &cq->vcq.cq_ex;
	uint64_t flags = cq->wc_flags;

	ibcq->start_poll = vcx_start_poll;
	ibcq->next_poll = vcx_next_poll;
	ibcq->end_poll = vcx_end_poll;
	ibcq->read_opcode = vcx_read_opcode;
	ibcq->read_vendor_err = vcx_read_vendor_err;
	ibcq->read_wc_flags = vcx_read_wc_flags;
	if (flags & IBV_WC_EX_WITH_BYTE_LEN)
		ibcq->read_byte_len = vcx_read_byte_len;
	if (flags & IBV_WC_EX_WITH_IMM)
		ibcq->read_imm_data = vcx_read_imm_data;
	if (flags & IBV_WC_EX_WITH_QP_NUM)
		ibcq->read_qp_num = vcx_read_qp_num;
	if (flags & IBV_WC_EX_WITH_SRC_QP)
		ibcq->read_src_qp = vcx_read_src_qp;
	if (flags & IBV_WC_EX_WITH_SLID)
		ibcq->read_slid = vcx_read_slid;
	if (flags & IBV_WC_EX_WITH_SL)
		ibcq->read_sl = vcx_read_sl;
	if (flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ibcq->read_dlid_path_bits = vcx_read_dlid_path_bits;
	if (flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ibcq->read_completion_ts = vcx_read_completion_ts;
}

static void vcx_fill_wc(struct vcx_cq *cq, struct ibv_wc *wc)
{
	struct ibv_cq_ex *ibcq = &cq->vcq.cq_ex;

	wc->wr_id = ibcq->wr_id;
	wc->status = ibcq->status;
	wc->qp_num = vcx_read_qp_num(ibcq);
	wc->opcode = vcx_read_opcode(ibcq);
	wc->vendor_err = vcx_read_vendor_err(ibcq);
	if (ibcq->status != IBV_WC_SUCCESS)
		return;

	wc->byte_len = vcx_read_byte_len(ibcq);
	wc->imm_data = vcx_read_imm_data(ibcq);
	wc->src_qp = vcx_read_src_qp(ibcq);
	wc->wc_flags = vcx_read_wc_flags(ibcq);
	wc->pkey_index = 0;
	wc->slid = vcx_read_slid(ibcq);
	wc->sl = vcx_read_sl(ibcq);
	wc->dlid_path_bits = vcx_read_dlid_path_bits(ibcq);
}

int vcx_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	int err = 0;
	int n;

	vcx_lock(&cq->lock);
	for (n = 0; n < num_entries; n++) {
		err = n ? vcx_cq_next(cq) : vcx_cq_first(cq);
		if (err)
			break;
		vcx_fill_wc(cq, &wc[n]);
	}
	if (n)
		vcx_ring_cq_ci(cq->dbrec, cq->ci);
	vcx_unlock(&cq->lock);

	return !n && err == EIO ? -EIO : n;
}
