// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cq.c - completion queues: creation, events, moderation. Polling is in
 * cq_poll.c, resizing in cq_resize.c.
 */
#include <linux/log2.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/vcx-abi.h>

#include "vcx.h"

/*
 * What a new doorbell record says: armed under a sequence number that is not
 * the current one, so not armed.
 */
#define VCX_CQ_NOT_ARMED	VCX_CQ_ARM_SN(2)

#define VCX_CQ_FLAGS	(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | \
			 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

/* ---- Events ------------------------------------------------------------- */

static struct vcx_cq *vcx_cq_get(struct vcx_eq *eq, u32 cqn)
{
	struct vcx_cq *cq;
	unsigned long flags;

	xa_lock_irqsave(&eq->cqs, flags);
	cq = xa_load(&eq->cqs, cqn);
	if (cq)
		refcount_inc(&cq->refs);
	xa_unlock_irqrestore(&eq->cqs, flags);
	return cq;
}

static void vcx_cq_put(struct vcx_cq *cq)
{
	if (refcount_dec_and_test(&cq->refs))
		complete(&cq->released);
}

/* The event of an armed queue; interrupt. A queue may be gone by now. */
void vcx_cq_completion(struct vcx_eq *eq, u32 cqn)
{
	struct vcx_cq *cq = vcx_cq_get(eq, cqn);

	if (!cq)
		return;
	WRITE_ONCE(cq->arm_sn, cq->arm_sn + 1);
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	vcx_cq_put(cq);
}

void vcx_cq_error(struct vcx_dev *dev, u32 cqn, u8 syndrome)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.event = IB_EVENT_CQ_ERR,
	};
	struct vcx_cq *cq = NULL;
	unsigned int i;

	for (i = 0; i < dev->num_comp_eqs && !cq; i++)
		cq = vcx_cq_get(&dev->comp_eqs[i], cqn);
	if (!cq)
		return;
	dev_warn(&dev->pdev->dev, "completion queue %u failed: syndrome %u\n",
		 cqn, syndrome);
	event.element.cq = &cq->ibcq;
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
	vcx_cq_put(cq);
}

/* The device is dead: lets every kernel queue be polled for flushed work. */
void vcx_cqs_kick(struct vcx_dev *dev)
{
	unsigned long cqn;
	struct vcx_cq *cq;
	unsigned int i;

	for (i = 0; i < dev->num_comp_eqs; i++) {
		xa_for_each(&dev->comp_eqs[i].cqs, cqn, cq) {
			cq = vcx_cq_get(&dev->comp_eqs[i], cqn);
			if (!cq)
				continue;
			if (!vcx_cq_is_user(cq) && cq->ibcq.comp_handler)
				cq->ibcq.comp_handler(&cq->ibcq,
						      cq->ibcq.cq_context);
			vcx_cq_put(cq);
		}
	}
}

/* ---- Locks of the two queues of a QP ----------------------------------------- */

void vcx_cqs_lock(struct vcx_cq *a, struct vcx_cq *b, unsigned long *flags)
	__acquires(&a->lock) __acquires(&b->lock)
{
	if (b->cqn < a->cqn)
		swap(a, b);
	spin_lock_irqsave(&a->lock, *flags);
	if (a != b)
		spin_lock_nested(&b->lock, SINGLE_DEPTH_NESTING);
	else
		__acquire(&b->lock);
}

void vcx_cqs_unlock(struct vcx_cq *a, struct vcx_cq *b, unsigned long flags)
	__releases(&a->lock) __releases(&b->lock)
{
	if (a != b)
		spin_unlock(&b->lock);
	else
		__release(&b->lock);
	spin_unlock_irqrestore(&a->lock, flags);
}

/* ---- Creation ------------------------------------------------------------------ */

void vcx_cq_clear(struct vcx_buf *buf, u8 log_cqes)
{
	u32 i;

	for (i = 0; i < BIT(log_cqes); i++) {
		struct vcx_cqe *cqe = vcx_buf_at(buf, i * VCX_CQE_BYTES);

		cqe->op_own = VCX_CQE_OP_OWN(VCX_CQE_INVALID, 0, 1);
	}
}

static int vcx_cq_init_kernel(struct vcx_dev *dev, struct vcx_cq *cq, u32 cqes,
			      struct vcx_cq_params *params)
{
	int err;

	/* One more, so that the queue is never quite full. */
	cq->log_cqes = order_base_2(cqes + 1);
	err = vcx_buf_alloc(dev, &cq->buf,
			    (size_t)VCX_CQE_BYTES << cq->log_cqes);
	if (err)
		return err;
	err = vcx_dbrec_alloc(dev, &cq->dbrec);
	if (err) {
		vcx_buf_free(&cq->buf);
		return err;
	}
	vcx_cq_clear(&cq->buf, cq->log_cqes);
	cq->dbrec.word[VCX_DBR_CQ_ARM] = cpu_to_be32(VCX_CQ_NOT_ARMED);
	params->uar = dev->uar.index;
	params->dbrec_addr = cq->dbrec.addr;
	params->pages = vcx_buf_pages(&cq->buf);
	return 0;
}

static struct vcx_ucontext *vcx_udata_to_uctx(struct ib_udata *udata)
{
	return rdma_udata_to_drv_context(udata, struct vcx_ucontext,
					 ibucontext);
}

bool vcx_log_cqes_ok(struct vcx_dev *dev, u32 log_cqes, u32 cqes)
{
	return log_cqes <= ilog2(dev->caps.max_cqes) && BIT(log_cqes) > cqes;
}

static int vcx_cq_init_user(struct vcx_dev *dev, struct vcx_cq *cq, u32 cqes,
			    struct ib_udata *udata,
			    struct vcx_cq_params *params)
{
	struct vcx_ucontext *uctx = vcx_udata_to_uctx(udata);
	struct vcx_create_cq_req req = {};
	int err;

	if (udata->inlen < sizeof(req) ||
	    !ib_is_udata_cleared(udata, sizeof(req),
				 udata->inlen - sizeof(req)))
		return -EINVAL;
	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	if (req.rsvd || !vcx_log_cqes_ok(dev, req.log_cqes, cqes))
		return -EINVAL;

	cq->log_cqes = req.log_cqes;
	err = vcx_user_buf_get(dev, req.buf_addr,
			       (size_t)VCX_CQE_BYTES << cq->log_cqes,
			       &cq->user_buf);
	if (err)
		return err;
	cq->db_page = vcx_user_db_get(uctx, req.db_addr, &params->dbrec_addr);
	if (IS_ERR(cq->db_page)) {
		vcx_user_buf_put(&cq->user_buf);
		return PTR_ERR(cq->db_page);
	}
	params->uar = uctx->uar.index;
	params->pages = cq->user_buf.pages;
	return 0;
}

static void vcx_cq_fini(struct vcx_dev *dev, struct vcx_cq *cq,
			struct ib_udata *udata)
{
	if (vcx_cq_is_user(cq)) {
		vcx_user_db_put(vcx_udata_to_uctx(udata), cq->db_page);
		vcx_user_buf_put(&cq->user_buf);
	} else {
		vcx_dbrec_free(dev, &cq->dbrec);
		vcx_buf_free(&cq->buf);
	}
}

static int vcx_cq_check_attr(struct vcx_dev *dev,
			     const struct ib_cq_init_attr *attr)
{
	if (attr->flags & ~VCX_CQ_FLAGS)
		return -EOPNOTSUPP;
	if (attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN &&
	    !dev->caps.cq_ignore_overrun)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe >= dev->caps.max_cqes)
		return -EINVAL;
	return 0;
}

int vcx_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct vcx_cq_attrs *attrs)
{
	struct ib_udata *udata = vcx_cq_udata(attrs);
	struct vcx_dev *dev = to_vcx_dev(ibcq->device);
	struct vcx_create_cq_resp resp = {};
	struct vcx_cq_params params = {};
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	int err;

	err = vcx_cq_check_attr(dev, attr);
	if (err)
		return err;
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_lock);
	INIT_LIST_HEAD(&cq->send_qps);
	INIT_LIST_HEAD(&cq->recv_qps);
	refcount_set(&cq->refs, 1);
	init_completion(&cq->released);
	cq->eq = &dev->comp_eqs[attr->comp_vector % dev->num_comp_eqs];

	if (udata)
		err = vcx_cq_init_user(dev, cq, attr->cqe, udata, &params);
	else
		err = vcx_cq_init_kernel(dev, cq, attr->cqe, &params);
	if (err)
		return err;
	params.eqn = cq->eq->eqn;
	params.log_size = cq->log_cqes;
	params.ignore_overrun = attr->flags &
				IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	err = vcx_fw_create_cq(dev, &params, &cq->cqn);
	if (err)
		goto err_fini;
	/* Replaces a queue of this number that is about to leave. */
	err = xa_err(xa_store_irq(&cq->eq->cqs, cq->cqn, cq, GFP_KERNEL));
	if (err)
		goto err_destroy;
	ibcq->cqe = BIT(cq->log_cqes) - 1;
	if (!udata)
		return 0;

	resp.cqn = cq->cqn;
	err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
	if (err)
		goto err_erase;
	return 0;

err_erase:
	xa_cmpxchg_irq(&cq->eq->cqs, cq->cqn, cq, NULL, 0);
	vcx_cq_put(cq);
	wait_for_completion(&cq->released);
err_destroy:
	vcx_fw_destroy_cq(dev, cq->cqn);
err_fini:
	vcx_cq_fini(dev, cq, udata);
	return err;
}

int vcx_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibcq->device);
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	int err;

	err = vcx_destroy_result(dev, vcx_fw_destroy_cq(dev, cq->cqn));
	if (err)
		return err;
	/* Only if no new queue has taken the number and the place. */
	xa_cmpxchg_irq(&cq->eq->cqs, cq->cqn, cq, NULL, 0);
	vcx_cq_put(cq);
	wait_for_completion(&cq->released);
	vcx_cq_fini(dev, cq, udata);
	return 0;
}

/* ---- Changes --------------------------------------------------------------------- */

int vcx_modify_cq(struct ib_cq *ibcq, u16 count, u16 usecs)
{
	struct vcx_dev *dev = to_vcx_dev(ibcq->device);
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	int err;

	if (usecs > VCX_MAX_CQ_USECS)
		return -EINVAL;
	err = vcx_fw_moderate_cq(dev, cq->cqn, count, usecs);
	if (err)
		return err;
	cq->moderation_count = count;
	cq->moderation_usecs = usecs;
	return 0;
}
