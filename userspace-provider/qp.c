// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * qp.c - making, changing and destroying queue pairs.
 */
#include <errno.h>
#include <stdlib.h>

#include <kernel-abi/vcx-abi.h>
#include <rdma/vcx-abi.h>
#include <util/util.h>

#include <vcx/regs.h>

#include "vcx.h"

DECLARE_DRV_CMD(vcx_cmd_create_qp, IB_USER_VERBS_CMD_CREATE_QP,
		vcx_create_qp_req, vcx_create_qp_resp);

#define VCX_QP_COMP_MASK                                                       \
	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |                 \
	 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

static int vcx_check_qp_attr(const struct ibv_qp_init_attr_ex *attr)
{
	if (!check_comp_mask(attr->comp_mask, VCX_QP_COMP_MASK))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		return EINVAL;
	if (attr->qp_type != IBV_QPT_RC || attr->srq)
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
	    attr->create_flags)
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
	    (attr->send_ops_flags & ~VCX_SEND_OPS))
		return EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq)
		return EINVAL;
	return 0;
}

static void vcx_qp_free_memory(struct vcx_context *ctx, struct vcx_qp *qp)
{
	if (qp->dbrec)
		vcx_dbrec_free(&ctx->dbrecs, qp->dbrec);
	vcx_buf_free(&qp->buf);
	free(qp->rq.wr_ids);
	free(qp->sq.slots);
}

static int vcx_qp_alloc_memory(struct vcx_context *ctx, struct vcx_qp *qp)
{
	size_t rq_bytes = vcx_rq_bytes(&qp->rq);
	size_t bytes = rq_bytes + (size_t)qp->sq.num_bbs * VCX_WQE_BB_BYTES;

	if (qp->sq.num_bbs) {
		qp->sq.slots = calloc(qp->sq.num_bbs, sizeof(*qp->sq.slots));
		if (!qp->sq.slots)
			goto err_free;
	}
	if (qp->rq.num_wqes) {
		qp->rq.wr_ids = calloc(qp->rq.num_wqes,
				       sizeof(*qp->rq.wr_ids));
		if (!qp->rq.wr_ids)
			goto err_free;
	}
	/* Not even one queue: the kernel still wants memory to be there. */
	if (vcx_buf_alloc(&qp->buf, bytes ? bytes : 1, qp->domain,
			  VCX_RESOURCE_QP))
		goto err_free;
	qp->dbrec = vcx_dbrec_alloc(&ctx->dbrecs);
	if (!qp->dbrec)
		goto err_free;

	qp->rq.ring = qp->buf.addr;
	qp->sq.ring = (char *)qp->buf.addr + rq_bytes;
	qp->rq.dbrec = qp->dbrec;
	qp->sq.dbrec = qp->dbrec;
	qp->sq.doorbell = (char *)ctx->uar + VCX_UAR_SQ;
	return 0;

err_free:
	vcx_qp_free_memory(ctx, qp);
	return ENOMEM;
}

static int vcx_qp_create_cmd(struct vcx_context *ctx, struct vcx_qp *qp,
			     const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex attr_copy = *attr;
	struct vcx_cmd_create_qp_resp resp = {};
	struct vcx_cmd_create_qp cmd = {};

	cmd.buf_addr = (uintptr_t)qp->buf.addr;
	cmd.db_addr = (uintptr_t)qp->dbrec;
	cmd.sq_offset = vcx_rq_bytes(&qp->rq);
	if (qp->sq.num_bbs)
		cmd.log_sq_bbs = vcx_log2(qp->sq.num_bbs);
	else
		cmd.flags |= VCX_CREATE_QP_NO_SQ;
	if (qp->rq.num_wqes) {
		cmd.log_rq_wqes = vcx_log2(qp->rq.num_wqes);
		cmd.log_rq_stride = qp->rq.log_stride;
	} else {
		cmd.flags |= VCX_CREATE_QP_NO_RQ;
	}
	/* There are no flags, and the command wants not even to hear of none. */
	attr_copy.comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
	return ibv_cmd_create_qp_ex(&ctx->vctx.context, &qp->vqp, &attr_copy,
				    &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				    sizeof(resp));
}

static void vcx_qp_init(struct vcx_qp *qp,
			const struct ibv_qp_init_attr_ex *attr)
{
	bool single_threaded = vcx_domain_is_single_threaded(qp->domain);

	vcx_lock_init(&qp->sq.lock, single_threaded);
	vcx_lock_init(&qp->rq.lock, single_threaded);
	if (attr->sq_sig_all)
		qp->sq.always_signalled = VCX_WQE_CE_ALWAYS;
}

static void vcx_qp_fini(struct vcx_qp *qp)
{
	vcx_lock_destroy(&qp->rq.lock);
	vcx_lock_destroy(&qp->sq.lock);
}

static int vcx_qp_setup(struct vcx_context *ctx, struct vcx_qp *qp,
			const struct ibv_qp_init_attr_ex *attr)
{
	int err;

	err = vcx_qp_size(qp, &ctx->limits, &attr->cap);
	if (!err)
		err = vcx_qp_alloc_memory(ctx, qp);
	if (err)
		return err;

	err = vcx_qp_create_cmd(ctx, qp, attr);
	if (err)
		goto err_free_memory;
	qp->sq.qpn = qp->vqp.qp.qp_num;

	err = vcx_qp_table_insert(&ctx->qps, qp->vqp.qp.qp_num, qp);
	if (err)
		goto err_destroy;
	return 0;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free_memory:
	vcx_qp_free_memory(ctx, qp);
	return err;
}

struct ibv_qp *vcx_create_qp_ex(struct ibv_context *ibctx,
				struct ibv_qp_init_attr_ex *attr)
{
	struct vcx_qp *qp;
	int err;

	err = vcx_check_qp_attr(attr);
	if (err)
		goto err_out;

	err = ENOMEM;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		goto err_out;
	qp->domain = to_vcx_parent_domain(attr->pd);
	vcx_qp_init(qp, attr);

	err = vcx_qp_setup(to_vcx_context(ibctx), qp, attr);
	if (err)
		goto err_free_qp;

	/* Not before the command, in which libibverbs fills struct verbs_qp. */
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		vcx_qp_set_wr_ops(qp);
		qp->vqp.comp_mask |= VERBS_QP_EX;
	}
	vcx_domain_hold(qp->domain);
	vcx_qp_report_cap(qp, &attr->cap);
	return &qp->vqp.qp;

err_free_qp:
	vcx_qp_fini(qp);
	free(qp);
err_out:
	errno = err;
	return NULL;
}

struct ibv_qp *vcx_create_qp(struct ibv_pd *ibpd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = ibpd,
	};
	struct ibv_qp *ibqp = vcx_create_qp_ex(ibpd->context, &attr_ex);

	if (ibqp)
		attr->cap = attr_ex.cap;
	return ibqp;
}

/*
 * No CQE of this QP can come any more; take those that did. Each CQ is cleaned
 * on its own: until the second one is, its poller still finds the QP.
 */
static void vcx_qp_clean_cqs(struct vcx_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;

	vcx_cq_clean(to_vcx_cq(ibqp->recv_cq), ibqp->qp_num);
	if (ibqp->send_cq != ibqp->recv_cq)
		vcx_cq_clean(to_vcx_cq(ibqp->send_cq), ibqp->qp_num);
}

/* The device has forgotten its counters, so must we. */
static void vcx_qp_reset(struct vcx_qp *qp)
{
	vcx_qp_clean_cqs(qp);

	vcx_lock(&qp->sq.lock);
	qp->sq.pi = 0;
	qp->sq.head = 0;
	vcx_retire(&qp->sq.tail, 0);
	qp->dbrec[VCX_DBR_SQ] = 0;
	vcx_unlock(&qp->sq.lock);

	vcx_lock(&qp->rq.lock);
	qp->rq.head = 0;
	vcx_retire(&qp->rq.tail, 0);
	qp->dbrec[VCX_DBR_RQ] = 0;
	vcx_unlock(&qp->rq.lock);
}

int vcx_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct ibv_modify_qp cmd = {};
	int err;

	err = ibv_cmd_modify_qp(ibqp, attr, attr_mask, &cmd, sizeof(cmd));
	if (err)
		return err;

	if ((attr_mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET)
		vcx_qp_reset(to_vcx_qp(ibqp));
	return 0;
}

int vcx_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};
	int err;

	err = ibv_cmd_query_qp(ibqp, attr, attr_mask, init_attr, &cmd,
			       sizeof(cmd));
	if (err)
		return err;

	/* Only we know how the queues were divided. */
	vcx_qp_report_cap(to_vcx_qp(ibqp), &init_attr->cap);
	attr->cap = init_attr->cap;
	return 0;
}

int vcx_destroy_qp(struct ibv_qp *ibqp)
{
	struct vcx_context *ctx = to_vcx_context(ibqp->context);
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	int err;

	err = ibv_cmd_destroy_qp(ibqp);
	if (err)
		return err;

	vcx_qp_clean_cqs(qp);
	vcx_qp_table_remove(&ctx->qps, ibqp->qp_num);
	vcx_domain_put(qp->domain);
	vcx_qp_free_memory(ctx, qp);
	vcx_qp_fini(qp);
	free(qp);
	return 0;
}
