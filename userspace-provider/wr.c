// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * wr.c - ibv_post_send().
 */
#include <ccan/array_size.h>

#include "wqe.h"

static const struct {
	enum vcx_wqe_opcode opcode;	/* VCX_WQE_NOP: not supported */
	bool remote;			/* names a remote address */
	bool may_inline;
	bool imm;
} vcx_send_ops[] = {
	[IBV_WR_RDMA_WRITE] = { VCX_WQE_RDMA_WRITE, true, true, false },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { VCX_WQE_RDMA_WRITE_IMM, true, true,
					 true },
	[IBV_WR_SEND] = { VCX_WQE_SEND, false, true, false },
	[IBV_WR_SEND_WITH_IMM] = { VCX_WQE_SEND_IMM, false, true, true },
	[IBV_WR_RDMA_READ] = { VCX_WQE_RDMA_READ, true, false, false },
};

#define VCX_SEND_FLAGS                                                         \
	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |             \
	 IBV_SEND_INLINE)

static int vcx_check_send_wr(const struct ibv_send_wr *wr)
{
	if ((unsigned int)wr->opcode >= ARRAY_SIZE(vcx_send_ops) ||
	    vcx_send_ops[wr->opcode].opcode == VCX_WQE_NOP)
		return EINVAL;
	if (wr->send_flags & ~VCX_SEND_FLAGS)
		return EINVAL;
	if ((wr->send_flags & IBV_SEND_INLINE) &&
	    !vcx_send_ops[wr->opcode].may_inline)
		return EINVAL;
	return wr->num_sge < 0 ? EINVAL : 0;
}

static void vcx_wqe_inline_sges(struct vcx_sq *sq, const struct ibv_send_wr *wr)
{
	struct vcx_inline data;
	int i;

	vcx_inline_begin(sq, &data);
	for (i = 0; i < wr->num_sge; i++)
		vcx_inline_add(sq, &data,
			       (const void *)(uintptr_t)wr->sg_list[i].addr,
			       wr->sg_list[i].length);
	vcx_inline_end(sq, &data);
}

/* An error leaves the queue as it was before this request. */
static int vcx_post_one_send(struct vcx_sq *sq, const struct ibv_send_wr *wr)
{
	int err = vcx_check_send_wr(wr);

	if (err)
		return err;
	if (!vcx_wqe_begin(sq, vcx_send_ops[wr->opcode].opcode, wr->wr_id,
			   wr->send_flags,
			   vcx_send_ops[wr->opcode].imm ? wr->imm_data : 0))
		return sq->err;

	if (vcx_send_ops[wr->opcode].remote)
		vcx_wqe_raddr(sq, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	if (wr->send_flags & IBV_SEND_INLINE)
		vcx_wqe_inline_sges(sq, wr);
	else
		vcx_wqe_sge_list(sq, wr->num_sge, wr->sg_list);
	if (!sq->err)
		vcx_wqe_end(sq);
	return sq->err;
}

/* The requests before a bad one are posted. */
int vcx_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr)
{
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	int err = 0;

	vcx_sq_start(qp);
	for (; wr; wr = wr->next) {
		err = vcx_post_one_send(&qp->sq, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	vcx_sq_finish(&qp->sq);
	return err;
}
