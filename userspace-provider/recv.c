// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * recv.c - posting receives.
 */
#include <errno.h>

#include "db.h"
#include "vcx.h"

/*
 * A receive WQE is data segments only; a list shorter than the stride ends with
 * a segment that says so. Entries of no bytes are left out: a byte count of
 * zero means 2^31.
 */
static int vcx_build_recv(struct vcx_rq *rq, const struct ibv_recv_wr *wr)
{
	struct vcx_wqe_data *seg = vcx_rq_at(rq, rq->head);
	uint32_t max_segs = (1u << rq->log_stride) / sizeof(*seg);
	uint32_t segs = 0;
	int i;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sges)
		return EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		if (!sge->length)
			continue;
		if (sge->length > VCX_WQE_INLINE)
			return EINVAL;
		seg[segs++] = (struct vcx_wqe_data) {
			.byte_count = htobe32(sge->length & ~VCX_WQE_INLINE),
			.lkey = htobe32(sge->lkey),
			.va = htobe64(sge->addr),
		};
	}
	if (segs < max_segs)
		seg[segs] = (struct vcx_wqe_data) {
			.lkey = htobe32(VCX_WQE_LKEY_TERMINATE),
		};
	return 0;
}

static int vcx_post_one_recv(struct vcx_qp *qp, const struct ibv_recv_wr *wr)
{
	struct vcx_rq *rq = &qp->rq;
	int err;

	if (qp->vqp.qp.state == IBV_QPS_RESET || !rq->num_wqes)
		return EINVAL;
	if (vcx_outstanding(rq->head, &rq->tail) >= rq->num_wqes)
		return ENOMEM;
	err = vcx_build_recv(rq, wr);
	if (err)
		return err;
	rq->wr_ids[rq->head & (rq->num_wqes - 1)] = wr->wr_id;
	rq->head++;
	return 0;
}

/* The requests before a bad one are posted. */
int vcx_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr)
{
	struct vcx_qp *qp = to_vcx_qp(ibqp);
	struct vcx_rq *rq = &qp->rq;
	uint32_t first_head;
	int err = 0;

	vcx_lock(&rq->lock);
	first_head = rq->head;
	for (; wr; wr = wr->next) {
		err = vcx_post_one_recv(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (rq->head != first_head)
		vcx_ring_rq(rq->dbrec, rq->head);
	vcx_unlock(&rq->lock);
	return err;
}
