// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * qp_size.c - from what an application asks of a QP to the sizes of its queues,
 * and back to what it is told that it got. No memory, no kernel.
 */
#include <errno.h>

#include <util/util.h>

#include "vcx.h"

/* Every send WQE has room for the control and remote address segments. */
#define VCX_SQ_WQE_HEAD_BYTES                                                  \
	(sizeof(struct vcx_wqe_ctrl) + sizeof(struct vcx_wqe_raddr))

static int vcx_size_sq(struct vcx_sq *sq, const struct vcx_limits *limits,
		       const struct ibv_qp_cap *cap)
{
	uint64_t wqe_bytes, data_bytes, inline_bytes = 0;
	uint32_t bbs_per_wqe;

	if (!cap->max_send_wr)
		return 0;

	data_bytes = (uint64_t)cap->max_send_sge * sizeof(struct vcx_wqe_data);
	if (cap->max_inline_data)
		inline_bytes = sizeof(struct vcx_wqe_inline) +
			       (uint64_t)cap->max_inline_data;
	wqe_bytes = VCX_SQ_WQE_HEAD_BYTES +
		    (data_bytes > inline_bytes ? data_bytes : inline_bytes);
	if (wqe_bytes > limits->max_sq_wqe_bytes ||
	    cap->max_send_wr > limits->max_sq_bbs)
		return EINVAL;

	bbs_per_wqe = DIV_ROUND_UP(wqe_bytes, VCX_WQE_BB_BYTES);
	sq->num_bbs = roundup_pow_of_two((uint64_t)cap->max_send_wr *
					 bbs_per_wqe);
	if (sq->num_bbs > limits->max_sq_bbs)
		return EINVAL;

	sq->max_wqes = sq->num_bbs / bbs_per_wqe;

	/* Give what fits: the last block is there anyway. */
	data_bytes = bbs_per_wqe * VCX_WQE_BB_BYTES;
	if (data_bytes > limits->max_sq_wqe_bytes)
		data_bytes = limits->max_sq_wqe_bytes;
	data_bytes -= VCX_SQ_WQE_HEAD_BYTES;
	sq->max_sges = data_bytes / sizeof(struct vcx_wqe_data);
	sq->max_inline_bytes = data_bytes - sizeof(struct vcx_wqe_inline);
	return 0;
}

static int vcx_size_rq(struct vcx_rq *rq, const struct vcx_limits *limits,
		       const struct ibv_qp_cap *cap)
{
	uint64_t stride, num_wqes;

	if (!cap->max_recv_wr)
		return 0;

	stride = roundup_pow_of_two((cap->max_recv_sge ? cap->max_recv_sge : 1) *
				    (uint64_t)sizeof(struct vcx_wqe_data));
	if (stride > limits->max_rq_wqe_bytes ||
	    cap->max_recv_wr > limits->max_rq_wqes)
		return EINVAL;
	num_wqes = roundup_pow_of_two(cap->max_recv_wr);
	/* The send queue follows, and begins with a block. */
	if (num_wqes * stride < VCX_WQE_BB_BYTES)
		num_wqes = VCX_WQE_BB_BYTES / stride;
	if (num_wqes > limits->max_rq_wqes)
		return EINVAL;
	rq->num_wqes = num_wqes;
	rq->log_stride = vcx_log2(stride);
	rq->max_sges = stride / sizeof(struct vcx_wqe_data);
	return 0;
}

/* Zero requests give no queue. EINVAL: more than the device can. */
int vcx_qp_size(struct vcx_qp *qp, const struct vcx_limits *limits,
		const struct ibv_qp_cap *cap)
{
	int err;

	err = vcx_size_sq(&qp->sq, limits, cap);
	if (!err)
		err = vcx_size_rq(&qp->rq, limits, cap);
	return err;
}

void vcx_qp_report_cap(const struct vcx_qp *qp, struct ibv_qp_cap *cap)
{
	cap->max_send_wr = qp->sq.max_wqes;
	cap->max_send_sge = qp->sq.max_sges;
	cap->max_inline_data = qp->sq.max_inline_bytes;
	cap->max_recv_wr = qp->rq.num_wqes;
	cap->max_recv_sge = qp->rq.max_sges;
}
