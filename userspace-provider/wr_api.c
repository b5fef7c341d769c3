// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * wr_api.c - posting sends by the ibv_wr_*() calls: start, then requests and
 * their data in turn, then complete or abort. The lock of the send queue is
 * held from start to the end.
 */
#include "wqe.h"

static void vcx_wr_start(struct ibv_qp_ex *ibqp)
{
	vcx_sq_start(to_vcx_qp_ex(ibqp));
}

/* All of the list, or nothing of it. */
static int vcx_wr_complete(struct ibv_qp_ex *ibqp)
{
	struct vcx_sq *sq = &to_vcx_qp_ex(ibqp)->sq;
	int err;

	if (sq->open)
		vcx_sq_fail(sq, EINVAL);
	err = sq->err;
	if (err)
		vcx_sq_forget(sq);
	else
		vcx_sq_finish(sq);
	return err;
}

static void vcx_wr_abort(struct ibv_qp_ex *ibqp)
{
	vcx_sq_forget(&to_vcx_qp_ex(ibqp)->sq);
}

static bool vcx_wr_begin(struct ibv_qp_ex *ibqp, enum vcx_wqe_opcode opcode,
			 __be32 imm)
{
	return vcx_wqe_begin(&to_vcx_qp_ex(ibqp)->sq, opcode, ibqp->wr_id,
			     ibqp->wr_flags, imm);
}

static void vcx_wr_send(struct ibv_qp_ex *ibqp)
{
	vcx_wr_begin(ibqp, VCX_WQE_SEND, 0);
}

static void vcx_wr_send_imm(struct ibv_qp_ex *ibqp, __be32 imm)
{
	vcx_wr_begin(ibqp, VCX_WQE_SEND_IMM, imm);
}

static void vcx_wr_rdma_write(struct ibv_qp_ex *ibqp, uint32_t rkey,
			      uint64_t va)
{
	if (vcx_wr_begin(ibqp, VCX_WQE_RDMA_WRITE, 0))
		vcx_wqe_raddr(&to_vcx_qp_ex(ibqp)->sq, rkey, va);
}

static void vcx_wr_rdma_write_imm(struct ibv_qp_ex *ibqp, uint32_t rkey,
				  uint64_t va, __be32 imm)
{
	if (vcx_wr_begin(ibqp, VCX_WQE_RDMA_WRITE_IMM, imm))
		vcx_wqe_raddr(&to_vcx_qp_ex(ibqp)->sq, rkey, va);
}

static void vcx_wr_rdma_read(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t va)
{
	if (vcx_wr_begin(ibqp, VCX_WQE_RDMA_READ, 0))
		vcx_wqe_raddr(&to_vcx_qp_ex(ibqp)->sq, rkey, va);
}

/*
 * The data calls end the WQE. Without a request before them they are a mistake
 * of the application.
 */
static bool vcx_wr_may_add(struct vcx_sq *sq)
{
	if (!sq->err && !sq->open)
		sq->err = EINVAL;
	return !sq->err;
}

static void vcx_wr_set_sge(struct ibv_qp_ex *ibqp, uint32_t lkey, uint64_t va,
			   uint32_t length)
{
	struct vcx_sq *sq = &to_vcx_qp_ex(ibqp)->sq;

	if (!vcx_wr_may_add(sq))
		return;
	if (!sq->max_sges)
		vcx_sq_fail(sq, EINVAL);
	else
		vcx_wqe_sge(sq, lkey, va, length);
	if (!sq->err)
		vcx_wqe_end(sq);
}

static void vcx_wr_set_sge_list(struct ibv_qp_ex *ibqp, size_t num_sge,
				const struct ibv_sge *sg_list)
{
	struct vcx_sq *sq = &to_vcx_qp_ex(ibqp)->sq;

	if (!vcx_wr_may_add(sq))
		return;
	vcx_wqe_sge_list(sq, num_sge, sg_list);
	if (!sq->err)
		vcx_wqe_end(sq);
}

static void vcx_wr_set_inline_data_list(struct ibv_qp_ex *ibqp, size_t num_buf,
					const struct ibv_data_buf *buf_list)
{
	struct vcx_sq *sq = &to_vcx_qp_ex(ibqp)->sq;
	struct vcx_inline data;
	size_t i;

	if (!vcx_wr_may_add(sq))
		return;
	if (VCX_WQE_CTRL_OPCODE(be32toh(sq->ctrl->opmod_idx_opcode)) ==
	    VCX_WQE_RDMA_READ) {
		vcx_sq_fail(sq, EINVAL);
		return;
	}
	vcx_inline_begin(sq, &data);
	for (i = 0; i < num_buf; i++)
		vcx_inline_add(sq, &data, buf_list[i].addr, buf_list[i].length);
	vcx_inline_end(sq, &data);
	if (!sq->err)
		vcx_wqe_end(sq);
}

static void vcx_wr_set_inline_data(struct ibv_qp_ex *ibqp, void *addr,
				   size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	vcx_wr_set_inline_data_list(ibqp, 1, &buf);
}

void vcx_qp_set_wr_ops(struct vcx_qp *qp)
{
	struct ibv_qp_ex *ibqp = &qp->vqp.qp_ex;

	ibqp->wr_start = vcx_wr_start;
	ibqp->wr_complete = vcx_wr_complete;
	ibqp->wr_abort = vcx_wr_abort;
	ibqp->wr_send = vcx_wr_send;
	ibqp->wr_send_imm = vcx_wr_send_imm;
	ibqp->wr_rdma_write = vcx_wr_rdma_write;
	ibqp->wr_rdma_write_imm = vcx_wr_rdma_write_imm;
	ibqp->wr_rdma_read = vcx_wr_rdma_read;
	ibqp->wr_set_sge = vcx_wr_set_sge;
	ibqp->wr_set_sge_list = vcx_wr_set_sge_list;
	ibqp->wr_set_inline_data = vcx_wr_set_inline_data;
	ibqp->wr_set_inline_data_list = vcx_wr_set_inline_data_list;
}
