/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
/*
 * wqe.h - the builder of send WQEs, for ibv_post_send() (wr.c) and for the
 * ibv_wr_*() calls (wr_api.c):
 *
 *   vcx_sq_start   lock; remember where this list of WQEs begins
 *   vcx_wqe_begin  room for one WQE, its control segment
 *   vcx_wqe_raddr, vcx_wqe_sge, vcx_inline_*   its other segments
 *   vcx_wqe_end    its length; the WQE counts from now on
 *   vcx_sq_finish or vcx_sq_forget   doorbell for all of them, or none; unlock
 *
 * The device sees nothing before the doorbell. The first error of a list sticks
 * in sq->err and turns the calls after it into nothing.
 */
#ifndef VCX_PROVIDER_WQE_H
#define VCX_PROVIDER_WQE_H

#include <errno.h>
#include <string.h>

#include <util/util.h>

#include "db.h"
#include "vcx.h"

static inline void vcx_sq_start(struct vcx_qp *qp)
{
	struct vcx_sq *sq = &qp->sq;

	vcx_lock(&sq->lock);
	sq->first_pi = sq->pi;
	sq->first_head = sq->head;
	sq->last = NULL;
	sq->open = false;
	/* A send queue takes requests from RTS on; in ERR they are flushed. */
	sq->err = qp->vqp.qp.state < IBV_QPS_RTS ? EINVAL : 0;
}

static inline void vcx_sq_finish(struct vcx_sq *sq)
{
	if (sq->last)
		vcx_ring_sq(sq->dbrec, sq->doorbell, sq->pi, sq->last);
	vcx_unlock(&sq->lock);
}

static inline void vcx_sq_forget(struct vcx_sq *sq)
{
	sq->pi = sq->first_pi;
	sq->head = sq->first_head;
	vcx_unlock(&sq->lock);
}

static inline void vcx_sq_fail(struct vcx_sq *sq, int err)
{
	sq->open = false;
	if (!sq->err)
		sq->err = err;
}

static inline uint8_t vcx_wqe_flags(const struct vcx_sq *sq,
				    unsigned int send_flags)
{
	uint8_t fm_ce_se = sq->always_signalled;

	if (send_flags & IBV_SEND_SIGNALED)
		fm_ce_se |= VCX_WQE_CE_ALWAYS;
	if (send_flags & IBV_SEND_SOLICITED)
		fm_ce_se |= VCX_WQE_SE;
	if (send_flags & IBV_SEND_FENCE)
		fm_ce_se |= VCX_WQE_FM_FENCE;
	return fm_ce_se;
}

/* False: no WQE was begun, and sq->err says why. */
static inline bool vcx_wqe_begin(struct vcx_sq *sq, enum vcx_wqe_opcode opcode,
				 uint64_t wr_id, unsigned int send_flags,
				 __be32 imm)
{
	struct vcx_sq_slot *slot;

	/* A request that never got its data was not finished. */
	if (sq->open)
		vcx_sq_fail(sq, EINVAL);
	if (sq->err)
		return false;
	if (vcx_outstanding(sq->head, &sq->tail) >= sq->max_wqes) {
		vcx_sq_fail(sq, ENOMEM);
		return false;
	}

	slot = &sq->slots[sq->pi & (sq->num_bbs - 1)];
	slot->wr_id = wr_id;
	slot->head = sq->head;
	sq->ctrl = vcx_sq_at(sq, sq->pi * VCX_WQE_BB_BYTES);
	*sq->ctrl = (struct vcx_wqe_ctrl) {
		.opmod_idx_opcode = htobe32((sq->pi & 0xffff) << 8 | opcode),
		.fm_ce_se = vcx_wqe_flags(sq, send_flags),
		.imm = imm,
	};
	sq->units = 1;
	sq->open = true;
	return true;
}

/* Segments follow each other, and wrap with the ring. */
static inline void *vcx_wqe_next_unit(struct vcx_sq *sq)
{
	return vcx_sq_at(sq, sq->pi * VCX_WQE_BB_BYTES +
				     sq->units++ * VCX_WQE_UNIT_BYTES);
}

static inline void vcx_wqe_end(struct vcx_sq *sq)
{
	sq->ctrl->qpn_ds = htobe32(sq->qpn << 8 | sq->units);
	sq->pi += DIV_ROUND_UP(sq->units * VCX_WQE_UNIT_BYTES,
			       VCX_WQE_BB_BYTES);
	sq->head++;
	sq->last = sq->ctrl;
	sq->open = false;
}

static inline void vcx_wqe_raddr(struct vcx_sq *sq, uint32_t rkey, uint64_t va)
{
	struct vcx_wqe_raddr *seg = vcx_wqe_next_unit(sq);

	*seg = (struct vcx_wqe_raddr) {
		.va = htobe64(va),
		.rkey = htobe32(rkey),
	};
}

/*
 * An entry of no bytes gets no segment: a byte count of zero means 2^31. Above
 * 2^31 a count cannot be told, its top bit marks inline data.
 */
static inline void vcx_wqe_sge(struct vcx_sq *sq, uint32_t lkey, uint64_t va,
			       uint32_t length)
{
	struct vcx_wqe_data *seg;

	if (!length)
		return;
	if (length > VCX_WQE_INLINE) {
		vcx_sq_fail(sq, EINVAL);
		return;
	}
	seg = vcx_wqe_next_unit(sq);
	*seg = (struct vcx_wqe_data) {
		.byte_count = htobe32(length & ~VCX_WQE_INLINE),
		.lkey = htobe32(lkey),
		.va = htobe64(va),
	};
}

static inline void vcx_wqe_sge_list(struct vcx_sq *sq, size_t num_sge,
				    const struct ibv_sge *sg_list)
{
	size_t i;

	if (num_sge > sq->max_sges) {
		vcx_sq_fail(sq, EINVAL);
		return;
	}
	for (i = 0; i < num_sge; i++)
		vcx_wqe_sge(sq, sg_list[i].lkey, sg_list[i].addr,
			    sg_list[i].length);
}

/* Inline data under construction: a header word, then bytes, then padding. */
struct vcx_inline {
	struct vcx_wqe_inline *header;
	uint32_t begin;			/* of the bytes, from start of the ring */
	uint32_t bytes;
};

static inline void vcx_inline_begin(struct vcx_sq *sq, struct vcx_inline *data)
{
	data->begin = sq->pi * VCX_WQE_BB_BYTES +
		      sq->units * VCX_WQE_UNIT_BYTES;
	data->header = vcx_sq_at(sq, data->begin);
	data->begin += sizeof(*data->header);
	data->bytes = 0;
}

static inline void vcx_inline_add(struct vcx_sq *sq, struct vcx_inline *data,
				  const void *from, size_t length)
{
	uint32_t ring_bytes = sq->num_bbs * VCX_WQE_BB_BYTES;
	uint32_t at = (data->begin + data->bytes) & (ring_bytes - 1);
	size_t first = ring_bytes - at;

	if (sq->err)
		return;
	if (length > sq->max_inline_bytes - data->bytes) {
		vcx_sq_fail(sq, EINVAL);
		return;
	}
	if (first > length)
		first = length;
	memcpy((char *)sq->ring + at, from, first);
	memcpy(sq->ring, (const char *)from + first, length - first);
	data->bytes += length;
}

static inline void vcx_inline_end(struct vcx_sq *sq,
				  const struct vcx_inline *data)
{
	if (sq->err || !data->bytes)
		return;
	data->header->byte_count = htobe32(VCX_WQE_INLINE | data->bytes);
	sq->units += DIV_ROUND_UP(sizeof(*data->header) + data->bytes,
				  VCX_WQE_UNIT_BYTES);
}

#endif /* VCX_PROVIDER_WQE_H */
