// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * cq.c - making, resizing, arming and cleaning completion queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <kernel-abi/vcx-abi.h>
#include <rdma/vcx-abi.h>
#include <util/util.h>

#include <vcx/regs.h>

#include "db.h"
#include "vcx.h"

DECLARE_DRV_CMD(vcx_cmd_create_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ,
		vcx_create_cq_req, vcx_create_cq_resp);
DECLARE_DRV_CMD(vcx_cmd_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		vcx_resize_cq_req, empty);

#define VCX_CQ_WC_FLAGS                                                        \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

/*
 * A ring for cqe entries and one more, which a resize needs: its marker takes
 * an entry. The device never initialises a ring, we do.
 */
static int vcx_cq_ring_alloc(struct vcx_cq_ring *ring, int cqe,
			     struct vcx_parent_domain *domain)
{
	uint32_t i;
	int err;

	ring->num_cqes = roundup_pow_of_two((uint64_t)cqe + 1);
	err = vcx_buf_alloc(&ring->buf, (size_t)ring->num_cqes * VCX_CQE_BYTES,
			    domain, VCX_RESOURCE_CQ);
	if (err)
		return err;

	for (i = 0; i < ring->num_cqes; i++)
		vcx_cqe_at(ring, i)->op_own =
			VCX_CQE_OP_OWN(VCX_CQE_INVALID, 0, 0);
	return 0;
}

static int vcx_check_cq_size(struct vcx_context *ctx, int cqe)
{
	return cqe < 1 || cqe >= ctx->limits.max_cqes ? EINVAL : 0;
}

/* The device stamps every CQE; only the kernel can say how to read a stamp. */
static int vcx_check_timestamps(struct ibv_context *ibctx)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_bytes = sizeof(resp);
	struct ibv_device_attr_ex attr = {};
	int err;

	err = ibv_cmd_query_device_any(ibctx, NULL, &attr, sizeof(attr), &resp,
				       &resp_bytes);
	if (err)
		return err;
	return attr.hca_core_clock ? 0 : EOPNOTSUPP;
}

static int vcx_check_cq_attr(struct ibv_context *ibctx,
			     const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->wc_flags & ~VCX_CQ_WC_FLAGS)
		return EOPNOTSUPP;
	if (!check_comp_mask(attr->comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS |
						      IBV_CQ_INIT_ATTR_MASK_PD))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    (attr->flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
	    !to_vcx_parent_domain(attr->parent_domain))
		return EINVAL;
	if (attr->cqe > INT32_MAX)
		return EINVAL;
	if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		return vcx_check_timestamps(ibctx);
	return 0;
}

static void vcx_cq_init(struct vcx_cq *cq,
			const struct ibv_cq_init_attr_ex *attr)
{
	bool single_threaded = false;

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)
		cq->domain = to_vcx_parent_domain(attr->parent_domain);
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		single_threaded = attr->flags &
				  IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	single_threaded |= vcx_domain_is_single_threaded(cq->domain);

	cq->wc_flags = attr->wc_flags;
	vcx_lock_init(&cq->lock, single_threaded);
	pthread_mutex_init(&cq->resize_mutex, NULL);
	vcx_cq_set_poll_ops(cq);
}

static void vcx_cq_fini(struct vcx_cq *cq)
{
	pthread_mutex_destroy(&cq->resize_mutex);
	vcx_lock_destroy(&cq->lock);
}

static int vcx_cq_create_cmd(struct ibv_context *ibctx, struct vcx_cq *cq,
			     const struct ibv_cq_init_attr_ex *attr)
{
	struct vcx_cmd_create_cq_resp resp = {};
	struct vcx_cmd_create_cq cmd = {};
	int err;

	cmd.buf_addr = (uintptr_t)cq->ring.buf.addr;
	cmd.db_addr = (uintptr_t)cq->dbrec;
	cmd.log_cqes = vcx_log2(cq->ring.num_cqes);
	err = ibv_cmd_create_cq_ex(ibctx, attr, &cq->vcq, &cmd.ibv_cmd,
				   sizeof(cmd), &resp.ibv_resp, sizeof(resp),
				   0);
	if (err)
		return err;
	cq->cqn = resp.cqn;
	cq->vcq.cq.cqe = cq->ring.num_cqes - 1;
	return 0;
}

/* NULL with errno set, as verbs want it. */
static struct vcx_cq *vcx_cq_create(struct ibv_context *ibctx,
				    const struct ibv_cq_init_attr_ex *attr)
{
	struct vcx_context *ctx = to_vcx_context(ibctx);
	struct vcx_cq *cq;
	int err;

	err = vcx_check_cq_attr(ibctx, attr);
	if (!err)
		err = vcx_check_cq_size(ctx, attr->cqe);
	if (err)
		goto err_out;

	err = ENOMEM;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		goto err_out;
	vcx_cq_init(cq, attr);

	err = vcx_cq_ring_alloc(&cq->ring, attr->cqe, cq->domain);
	if (err)
		goto err_free_cq;
	err = ENOMEM;
	cq->dbrec = vcx_dbrec_alloc(&ctx->dbrecs);
	if (!cq->dbrec)
		goto err_free_ring;
	err = vcx_cq_create_cmd(ibctx, cq, attr);
	if (err)
		goto err_free_dbrec;

	vcx_domain_hold(cq->domain);
	return cq;

err_free_dbrec:
	vcx_dbrec_free(&ctx->dbrecs, cq->dbrec);
err_free_ring:
	vcx_buf_free(&cq->ring.buf);
err_free_cq:
	vcx_cq_fini(cq);
	free(cq);
err_out:
	errno = err;
	return NULL;
}

struct ibv_cq *vcx_create_cq(struct ibv_context *ibctx, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = comp_vector,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct vcx_cq *cq = vcx_cq_create(ibctx, &attr);

	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *vcx_create_cq_ex(struct ibv_context *ibctx,
				   struct ibv_cq_init_attr_ex *attr)
{
	struct vcx_cq *cq = vcx_cq_create(ibctx, attr);

	return cq ? &cq->vcq.cq_ex : NULL;
}

int vcx_destroy_cq(struct ibv_cq *ibcq)
{
	struct vcx_context *ctx = to_vcx_context(ibcq->context);
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	int err;

	err = ibv_cmd_destroy_cq(ibcq);
	if (err)
		return err;

	vcx_domain_put(cq->domain);
	vcx_dbrec_free(&ctx->dbrecs, cq->dbrec);
	vcx_buf_free(&cq->ring.buf);
	vcx_cq_fini(cq);
	free(cq);
	return 0;
}

/*
 * An event is told once per arm, and the device knows a new arm from a repeated
 * one by the sequence number, which moves with each event (vcx_cq_event).
 *
 * No lock: an application may arm between ibv_start_poll() and ibv_end_poll().
 * A consumer counter that is read a moment too early only means an event for
 * an entry that a poller is just taking.
 */
int vcx_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct vcx_context *ctx = to_vcx_context(ibcq->context);
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	uint32_t ci = *(const volatile uint32_t *)&cq->ci;
	uint32_t arm_sn = atomic_load_explicit(&cq->arm_sn,
					       memory_order_relaxed);

	vcx_ring_cq_arm(cq->dbrec, (char *)ctx->uar + VCX_UAR_CQ_ARM,
			VCX_CQ_ARM_SN(arm_sn) | VCX_CQ_ARM_CI(ci) |
				(solicited_only ? VCX_CQ_ARM_SOLICITED : 0),
			cq->cqn);
	return 0;
}

void vcx_cq_event(struct ibv_cq *ibcq)
{
	atomic_fetch_add_explicit(&to_vcx_cq(ibcq)->arm_sn, 1,
				  memory_order_relaxed);
}

/* Copy an entry to where counter ci puts it, with the owner bit of that lap. */
static void vcx_cqe_copy(const struct vcx_cq_ring *to, uint32_t ci,
			 const struct vcx_cqe *from)
{
	struct vcx_cqe *cqe = vcx_cqe_at(to, ci);

	memcpy(cqe, from, sizeof(*cqe));
	cqe->op_own = (from->op_own & ~VCX_CQE_OP_OWNER) |
		      vcx_cqe_owner(to, ci);
}

/*
 * The device has put VCX_CQE_RESIZE behind the last entry of the old ring and
 * goes on in the new one, at the counter after it. Unread entries move up by
 * one, into the place that they would have had if the marker had come first.
 */
static int vcx_cq_switch_ring(struct vcx_cq *cq, struct vcx_cq_ring *ring)
{
	const struct vcx_cqe *cqe;
	int err = EIO;
	uint32_t ci;

	for (ci = cq->ci; vcx_cqe_is_ours(&cq->ring, ci); ci++) {
		cqe = vcx_cqe_at(&cq->ring, ci);
		udma_from_device_barrier();
		if (VCX_CQE_OP(cqe->op_own) == VCX_CQE_RESIZE) {
			err = 0;
			break;
		}
		vcx_cqe_copy(ring, ci + 1, cqe);
	}
	cq->ring = *ring;
	cq->ci++;
	vcx_ring_cq_ci(cq->dbrec, cq->ci);
	return err;
}

/*
 * Polling goes on meanwhile: a poller that meets the marker sees an empty queue
 * until the rings are switched, and what it arms then tells of the entries in
 * the new ring.
 */
int vcx_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct vcx_context *ctx = to_vcx_context(ibcq->context);
	struct vcx_cq *cq = to_vcx_cq(ibcq);
	struct ib_uverbs_resize_cq_resp resp = {};
	struct vcx_cmd_resize_cq cmd = {};
	struct vcx_cq_ring ring, old;
	int err;

	err = vcx_check_cq_size(ctx, cqe);
	if (err)
		return err;

	pthread_mutex_lock(&cq->resize_mutex);
	err = vcx_cq_ring_alloc(&ring, cqe, cq->domain);
	if (err)
		goto out_unlock;

	cmd.buf_addr = (uintptr_t)ring.buf.addr;
	cmd.log_cqes = vcx_log2(ring.num_cqes);
	err = ibv_cmd_resize_cq(ibcq, ring.num_cqes - 1, &cmd.ibv_cmd,
				sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		vcx_buf_free(&ring.buf);
		goto out_unlock;
	}

	vcx_lock(&cq->lock);
	old = cq->ring;
	err = vcx_cq_switch_ring(cq, &ring);
	vcx_unlock(&cq->lock);
	ibcq->cqe = ring.num_cqes - 1;
	vcx_buf_free(&old.buf);

out_unlock:
	pthread_mutex_unlock(&cq->resize_mutex);
	return err;
}

/*
 * Drop the entries of a QP that can complete nothing more. From the newest to
 * the oldest, the others move up into the gaps.
 */
static void vcx_cq_clean_locked(struct vcx_cq *cq, uint32_t qpn)
{
	uint32_t dropped = 0;
	struct vcx_cqe *cqe;
	uint32_t pi = cq->ci;

	while (pi - cq->ci < cq->ring.num_cqes &&
	       vcx_cqe_is_ours(&cq->ring, pi))
		pi++;
	udma_from_device_barrier();

	while (pi-- != cq->ci) {
		cqe = vcx_cqe_at(&cq->ring, pi);
		if ((be32toh(cqe->sop_qpn) & VCX_QPN_MASK) == qpn)
			dropped++;
		else if (dropped)
			vcx_cqe_copy(&cq->ring, pi + dropped, cqe);
	}

	if (dropped) {
		cq->ci += dropped;
		vcx_ring_cq_ci(cq->dbrec, cq->ci);
	}
}

/* The mutex keeps a resize from having entries in two rings meanwhile. */
void vcx_cq_clean(struct vcx_cq *cq, uint32_t qpn)
{
	pthread_mutex_lock(&cq->resize_mutex);
	vcx_lock(&cq->lock);
	vcx_cq_clean_locked(cq, qpn);
	vcx_unlock(&cq->lock);
	pthread_mutex_unlock(&cq->resize_mutex);
}
