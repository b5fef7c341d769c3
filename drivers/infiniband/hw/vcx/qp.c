// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp.c - queue pairs: creation, state, events. Reliable connections only.
 */
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/vcx-abi.h>
#include <vcx/cmd_layout.h>

#include "qp_attr.h"
#include "vcx.h"

#define VCX_MIN_LOG_RQ_STRIDE	ilog2(VCX_WQE_UNIT_BYTES)

static bool vcx_qp_is_user(const struct vcx_qp *qp)
{
	return qp->ibqp.uobject;
}

static struct vcx_ucontext *vcx_udata_to_uctx(struct ib_udata *udata)
{
	return rdma_udata_to_drv_context(udata, struct vcx_ucontext,
					 ibucontext);
}

/* ---- Events ------------------------------------------------------------- */

static struct vcx_qp *vcx_qp_get(struct vcx_dev *dev, u32 qpn)
{
	struct vcx_qp *qp;
	unsigned long flags;

	xa_lock_irqsave(&dev->qps, flags);
	qp = xa_load(&dev->qps, qpn);
	if (qp)
		refcount_inc(&qp->refs);
	xa_unlock_irqrestore(&dev->qps, flags);
	return qp;
}

static void vcx_qp_put(struct vcx_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->released);
}

static enum ib_event_type vcx_qp_event_type(u8 type)
{
	switch (type) {
	case VCX_EVENT_PATH_MIGRATED:
		return IB_EVENT_PATH_MIG;
	case VCX_EVENT_COMM_ESTABLISHED:
		return IB_EVENT_COMM_EST;
	case VCX_EVENT_SQ_DRAINED:
		return IB_EVENT_SQ_DRAINED;
	case VCX_EVENT_PATH_MIGRATION_FAILED:
		return IB_EVENT_PATH_MIG_ERR;
	case VCX_EVENT_WQ_INVALID_REQUEST:
		return IB_EVENT_QP_REQ_ERR;
	case VCX_EVENT_WQ_ACCESS_ERROR:
		return IB_EVENT_QP_ACCESS_ERR;
	case VCX_EVENT_LAST_WQE_REACHED:
		return IB_EVENT_QP_LAST_WQE_REACHED;
	default:
		return IB_EVENT_QP_FATAL;
	}
}

/* Thread of the interrupt. The QP may be gone by now. */
void vcx_qp_event(struct vcx_dev *dev, u8 type, u32 qpn)
{
	struct vcx_qp *qp = vcx_qp_get(dev, qpn & VCX_NUMBER_MASK);
	struct ib_event event = {
		.device = &dev->ibdev,
		.event = vcx_qp_event_type(type),
	};

	if (!qp)
		return;
	event.element.qp = &qp->ibqp;
	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
	vcx_qp_put(qp);
}

/* ---- Creation ------------------------------------------------------------------ */

static int vcx_qp_check_init(const struct ib_qp_init_attr *init)
{
	if (init->qp_type != IB_QPT_RC || init->create_flags || init->srq ||
	    init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	return 0;
}

static void vcx_qp_init_kernel_params(struct vcx_dev *dev, struct vcx_qp *qp,
				      struct vcx_qp_params *params)
{
	params->uar = dev->uar.index;
	params->dbrec_addr = qp->dbrec.addr;
	params->pages = vcx_buf_pages(&qp->buf);
	params->has_sq = qp->sq.num_bbs;
	params->has_rq = qp->rq.num_wqes;
	if (params->has_sq)
		params->log_sq_bbs = ilog2(qp->sq.num_bbs);
	if (params->has_rq) {
		params->log_rq_wqes = ilog2(qp->rq.num_wqes);
		params->log_rq_stride = qp->rq.log_stride;
	}
}

/* What the provider says about its rings; their bytes on success. */
static ssize_t vcx_qp_check_req(const struct vcx_dev *dev,
				const struct vcx_create_qp_req *req)
{
	const u32 known = VCX_CREATE_QP_NO_RQ | VCX_CREATE_QP_NO_SQ;
	size_t sq_bytes = 0, rq_bytes = 0;

	if (req->rsvd || req->flags & ~known || (req->flags & known) == known)
		return -EINVAL;
	if (!(req->flags & VCX_CREATE_QP_NO_RQ)) {
		if (req->log_rq_wqes > ilog2(dev->caps.max_rq_wqes) ||
		    req->log_rq_stride < VCX_MIN_LOG_RQ_STRIDE ||
		    req->log_rq_stride > ilog2(dev->caps.max_rq_wqe_bytes))
			return -EINVAL;
		rq_bytes = BIT(req->log_rq_wqes + req->log_rq_stride);
	}
	if (!(req->flags & VCX_CREATE_QP_NO_SQ)) {
		/* The device looks for the send queue right behind. */
		if (req->log_sq_bbs > ilog2(dev->caps.max_sq_bbs) ||
		    req->sq_offset != rq_bytes ||
		    rq_bytes % VCX_WQE_BB_BYTES)
			return -EINVAL;
		sq_bytes = VCX_WQE_BB_BYTES << req->log_sq_bbs;
	}
	return rq_bytes + sq_bytes;
}

static int vcx_qp_init_user(struct vcx_dev *dev, struct vcx_qp *qp,
			    struct ib_udata *udata,
			    struct vcx_qp_params *params)
{
	struct vcx_ucontext *uctx = vcx_udata_to_uctx(udata);
	struct vcx_create_qp_req req = {};
	ssize_t bytes;
	int err;

	if (udata->inlen < sizeof(req) ||
	    !ib_is_udata_cleared(udata, sizeof(req),
				 udata->inlen - sizeof(req)))
		return -EINVAL;
	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	bytes = vcx_qp_check_req(dev, &req);
	if (bytes < 0)
		return bytes;

	err = vcx_user_buf_get(dev, req.buf_addr, bytes, &qp->user_buf);
	if (err)
		return err;
	qp->db_page = vcx_user_db_get(uctx, req.db_addr, &params->dbrec_addr);
	if (IS_ERR(qp->db_page)) {
		vcx_user_buf_put(&qp->user_buf);
		return PTR_ERR(qp->db_page);
	}
	params->uar = uctx->uar.index;
	params->pages = qp->user_buf.pages;
	params->has_sq = !(req.flags & VCX_CREATE_QP_NO_SQ);
	params->has_rq = !(req.flags & VCX_CREATE_QP_NO_RQ);
	params->log_sq_bbs = req.log_sq_bbs;
	params->log_rq_wqes = req.log_rq_wqes;
	params->log_rq_stride = req.log_rq_stride;
	return 0;
}

static void vcx_qp_fini(struct vcx_dev *dev, struct vcx_qp *qp,
			struct ib_udata *udata)
{
	if (vcx_qp_is_user(qp)) {
		vcx_user_db_put(vcx_udata_to_uctx(udata), qp->db_page);
		vcx_user_buf_put(&qp->user_buf);
	} else {
		vcx_kernel_rings_fini(dev, qp);
	}
}

/* Out of the table; returns when no event handler runs any more. */
static void vcx_qp_unpublish(struct vcx_dev *dev, struct vcx_qp *qp)
{
	/* Only if no new QP has taken the number and the place. */
	xa_cmpxchg_irq(&dev->qps, qp->qpn, qp, NULL, 0);
	vcx_qp_put(qp);
	wait_for_completion(&qp->released);
}

/* Makes the QP in the device and says its number to user space. */
static int vcx_qp_create_fw(struct vcx_dev *dev, struct vcx_qp *qp,
			    const struct vcx_qp_params *params,
			    struct ib_udata *udata)
{
	struct vcx_create_qp_resp resp = {};
	int err;

	err = vcx_fw_create_qp(dev, params, &qp->qpn);
	if (err)
		return err;
	qp->ibqp.qp_num = qp->qpn;
	/* Replaces a QP of this number that is about to leave. */
	err = xa_err(xa_store_irq(&dev->qps, qp->qpn, qp, GFP_KERNEL));
	if (err)
		goto err_destroy;
	if (!udata)
		return 0;

	resp.qpn = qp->qpn;
	err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
	if (err)
		goto err_unpublish;
	return 0;

err_unpublish:
	vcx_qp_unpublish(dev, qp);
err_destroy:
	vcx_fw_destroy_qp(dev, qp->qpn);
	return err;
}

int vcx_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		  struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibqp->device);
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	struct vcx_qp_params params = {
		.pdn = to_vcx_pd(ibqp->pd)->pdn,
		.cqn_send = to_vcx_cq(init->send_cq)->cqn,
		.cqn_recv = to_vcx_cq(init->recv_cq)->cqn,
	};
	int err;

	err = vcx_qp_check_init(init);
	if (err)
		return err;
	mutex_init(&qp->mutex);
	refcount_set(&qp->refs, 1);
	init_completion(&qp->released);
	qp->state = IB_QPS_RESET;
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;

	if (udata) {
		err = vcx_qp_init_user(dev, qp, udata, &params);
	} else {
		err = vcx_kernel_rings_init(dev, qp, &init->cap);
		if (!err)
			vcx_qp_init_kernel_params(dev, qp, &params);
	}
	if (err)
		return err;
	qp->uar_index = params.uar;
	qp->dbrec_addr = params.dbrec_addr;
	qp->cap = init->cap;
	err = vcx_qp_create_fw(dev, qp, &params, udata);
	if (err)
		goto err_fini;
	if (!udata)
		vcx_kernel_rings_attach(qp);
	return 0;

err_fini:
	vcx_qp_fini(dev, qp, udata);
	return err;
}

int vcx_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibqp->device);
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	int err;

	err = vcx_destroy_result(dev, vcx_fw_destroy_qp(dev, qp->qpn));
	if (err)
		return err;
	if (!vcx_qp_is_user(qp))
		vcx_kernel_rings_detach(qp);
	vcx_qp_unpublish(dev, qp);
	vcx_qp_fini(dev, qp, udata);
	return 0;
}

/* ---- State --------------------------------------------------------------------------- */

/* Tells the device; the parts of the context that do not change go along. */
static int vcx_qp_transition(struct vcx_dev *dev, struct vcx_qp *qp,
			     const struct ib_qp_attr *attr,
			     enum ib_qp_state next, int mask)
{
	u16 opcode = vcx_qp_opcode(qp->state, next);
	struct vcx_qpc qpc = {};
	u16 op_mod = 0;

	if (opcode == VCX_QP_NO_OPCODE)
		return -EOPNOTSUPP;
	if (opcode == VCX_CMD_RTS2SQD_QP && mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
	    attr->en_sqd_async_notify)
		op_mod = VCX_RTS2SQD_EVENT;
	if (!vcx_qp_opcode_has_context(opcode))
		return vcx_fw_modify_qp(dev, opcode, op_mod, qp->qpn, 0, NULL);

	vcx_qp_attr_to_qpc(&dev->caps, attr, &qpc);
	VCX_SET(&qpc, VCX_QPC_PD, to_vcx_pd(qp->ibqp.pd)->pdn);
	VCX_SET(&qpc, VCX_QPC_UAR_PAGE, qp->uar_index);
	VCX_SET(&qpc, VCX_QPC_USER_INDEX, VCX_QP_NO_USER_INDEX);
	VCX_SET(&qpc, VCX_QPC_CQN_SND, to_vcx_cq(qp->ibqp.send_cq)->cqn);
	VCX_SET(&qpc, VCX_QPC_CQN_RCV, to_vcx_cq(qp->ibqp.recv_cq)->cqn);
	VCX_SET64(&qpc, VCX_QPC_DBR_ADDR, qp->dbrec_addr);
	if (dev->has_counter_set)
		VCX_SET(&qpc, VCX_QPC_COUNTER_SET_ID, dev->counter_set);
	return vcx_fw_modify_qp(dev, opcode, op_mod, qp->qpn,
				vcx_qp_opt_mask(opcode, mask), &qpc);
}

static int vcx_qp_modify_locked(struct vcx_dev *dev, struct vcx_qp *qp,
				const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : qp->state;
	struct ib_qp_attr merged = qp->attr;
	int err;

	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != qp->state)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(qp->state, next, qp->ibqp.qp_type, mask))
		return -EINVAL;
	if (qp->state == IB_QPS_RESET && next == IB_QPS_RESET)
		return 0;

	vcx_qp_attr_merge(&merged, attr, mask);
	merged.en_sqd_async_notify = attr->en_sqd_async_notify;
	err = vcx_qp_transition(dev, qp, &merged, next, mask);
	/* The queues of a dead device end by themselves. */
	if (next == IB_QPS_RESET || next == IB_QPS_ERR)
		err = vcx_destroy_result(dev, err);
	if (err)
		return err;

	if (next == IB_QPS_RESET) {
		memset(&merged, 0, sizeof(merged));
		WRITE_ONCE(qp->state, next);
		if (!vcx_qp_is_user(qp))
			vcx_kernel_rings_reset(qp);
	}
	qp->attr = merged;
	WRITE_ONCE(qp->state, next);
	return 0;
}

int vcx_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibqp->device);
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	int err;

	err = vcx_qp_attr_check(&dev->caps, attr, mask);
	if (err)
		return err;
	mutex_lock(&qp->mutex);
	err = vcx_qp_modify_locked(dev, qp, attr, mask);
	mutex_unlock(&qp->mutex);
	return err;
}

int vcx_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct vcx_dev *dev = to_vcx_dev(ibqp->device);
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	struct vcx_qpc qpc;
	int err;

	mutex_lock(&qp->mutex);
	err = vcx_fw_query_qp(dev, qp->qpn, &qpc);
	if (!err) {
		*attr = qp->attr;
		vcx_qpc_to_attr(&qpc, attr);
		/* The device may have moved it by itself. */
		WRITE_ONCE(qp->state, attr->qp_state);
	}
	mutex_unlock(&qp->mutex);
	if (err)
		return err;

	attr->cap = qp->cap;
	memset(init, 0, sizeof(*init));
	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->cap = qp->cap;
	init->qp_type = ibqp->qp_type;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	return 0;
}
