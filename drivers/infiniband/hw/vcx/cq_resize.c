// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cq_resize.c - completion queues get a buffer of another size. The device ends
 * the old one with a RESIZE entry behind the last completion and goes on in the
 * new one, at the counter after it.
 */
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/vcx-abi.h>

#include "vcx.h"

/* ---- Kernel queues -------------------------------------------------------- */

/*
 * Goes over to the new buffer if the old one has its RESIZE entry. Completions
 * before it that nobody has taken yet move along, each up by one: to where they
 * would be if the RESIZE entry had come first. False: there is none.
 */
bool vcx_cq_follow_resize(struct vcx_cq *cq)
{
	u8 owner, log_cqes = cq->next_log_cqes;
	struct vcx_cqe *cqe = NULL, *to;
	u32 at;

	lockdep_assert_held(&cq->lock);
	if (!cq->resizing)
		return false;
	for (at = cq->ci; at - cq->ci < BIT(cq->log_cqes); at++) {
		cqe = vcx_cq_written(cq, at);
		if (!cqe || VCX_CQE_OP(cqe->op_own) == VCX_CQE_RESIZE)
			break;
	}
	if (!cqe || VCX_CQE_OP(cqe->op_own) != VCX_CQE_RESIZE)
		return false;

	for (; at != cq->ci; at--) {
		cqe = vcx_cq_written(cq, at - 1);
		to = vcx_buf_at(&cq->next_buf,
				(at & (BIT(log_cqes) - 1)) * VCX_CQE_BYTES);
		owner = (at >> log_cqes) & VCX_CQE_OP_OWNER;
		*to = *cqe;
		to->op_own = (to->op_own & ~VCX_CQE_OP_OWNER) | owner;
	}
	swap(cq->buf, cq->next_buf);
	cq->log_cqes = log_cqes;
	cq->resizing = false;
	cq->ci++;
	vcx_cq_publish_ci(cq);
	return true;
}

/* The outcome of the command; afterwards next_buf is nobody's. */
static int vcx_cq_end_resize(struct vcx_dev *dev, struct vcx_cq *cq, int err)
{
	unsigned long flags;
	bool lost;

	spin_lock_irqsave(&cq->lock, flags);
	/* A poller may have been faster. */
	lost = !err && cq->resizing && !vcx_cq_follow_resize(cq);
	if (lost)
		err = -EIO;
	cq->resizing = false;
	if (!err)
		cq->ibcq.cqe = BIT(cq->log_cqes) - 1;
	spin_unlock_irqrestore(&cq->lock, flags);

	if (lost)
		vcx_dev_fail(dev, "it did not resize a completion queue");
	/* It may know the buffer that is about to be freed. */
	if (vcx_dev_is_dead(dev))
		pci_clear_master(dev->pdev);
	return err;
}

static int vcx_resize_kernel_cq(struct vcx_dev *dev, struct vcx_cq *cq, int cqe)
{
	struct vcx_page_list pages;
	unsigned long flags;
	u8 log_cqes;
	int err;

	if (cqe < 1 || cqe >= dev->caps.max_cqes)
		return -EINVAL;
	/* One more, so that the queue is never quite full. */
	log_cqes = order_base_2(cqe + 1);

	mutex_lock(&cq->resize_lock);
	err = vcx_buf_alloc(dev, &cq->next_buf,
			    (size_t)VCX_CQE_BYTES << log_cqes);
	if (err)
		goto out_unlock;
	vcx_cq_clear(&cq->next_buf, log_cqes);
	pages = vcx_buf_pages(&cq->next_buf);

	spin_lock_irqsave(&cq->lock, flags);
	cq->next_log_cqes = log_cqes;
	cq->resizing = true;
	spin_unlock_irqrestore(&cq->lock, flags);
	err = vcx_fw_resize_cq(dev, cq->cqn, log_cqes, &pages);
	err = vcx_cq_end_resize(dev, cq, err);
	vcx_buf_free(&cq->next_buf);

out_unlock:
	mutex_unlock(&cq->resize_lock);
	return err;
}

/* ---- User queues ----------------------------------------------------------- */

/*
 * The provider follows the RESIZE entry. The device writes to the old buffer no
 * more when the command is done.
 */
static int vcx_resize_user_cq(struct vcx_dev *dev, struct vcx_cq *cq, int cqe,
			      struct ib_udata *udata)
{
	struct vcx_resize_cq_req req = {};
	struct vcx_user_buf next = {};
	int err;

	if (udata->inlen < sizeof(req) ||
	    !ib_is_udata_cleared(udata, sizeof(req),
				 udata->inlen - sizeof(req)))
		return -EINVAL;
	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	if (cqe < 1 || req.rsvd || !vcx_log_cqes_ok(dev, req.log_cqes, cqe))
		return -EINVAL;

	err = vcx_user_buf_get(dev, req.buf_addr,
			       (size_t)VCX_CQE_BYTES << req.log_cqes, &next);
	if (err)
		return err;
	mutex_lock(&cq->resize_lock);
	err = vcx_fw_resize_cq(dev, cq->cqn, req.log_cqes, &next.pages);
	if (!err) {
		swap(cq->user_buf, next);
		cq->log_cqes = req.log_cqes;
		cq->ibcq.cqe = BIT(req.log_cqes) - 1;
	}
	mutex_unlock(&cq->resize_lock);
	vcx_user_buf_put(&next);
	return err;
}

int vcx_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibcq->device);
	struct vcx_cq *cq = to_vcx_cq(ibcq);

	if (vcx_cq_is_user(cq))
		return vcx_resize_user_cq(dev, cq, cqe, udata);
	return vcx_resize_kernel_cq(dev, cq, cqe);
}
