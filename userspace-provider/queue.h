/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
/*
 * queue.h - the rings that the device shares with us, and their arithmetic.
 *
 * Sizes are powers of two. Counters (pi, ci, head, tail) run freely and are
 * masked only to index; their differences are therefore right across a wrap.
 */
#ifndef VCX_QUEUE_H
#define VCX_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/driver.h>

#include <vcx/cqe.h>
#include <vcx/wqe.h>

/* For a power of two, as the sizes of all queues are. */
static inline uint32_t vcx_log2(uint32_t size)
{
	return __builtin_ctz(size);
}

/* A spin lock, or nothing where the application promised one thread. */
struct vcx_lock {
	pthread_spinlock_t spin;
	bool unneeded;
};

static inline void vcx_lock_init(struct vcx_lock *lock, bool unneeded)
{
	lock->unneeded = unneeded;
	pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
}

static inline void vcx_lock_destroy(struct vcx_lock *lock)
{
	pthread_spin_destroy(&lock->spin);
}

static inline void vcx_lock(struct vcx_lock *lock)
{
	if (!lock->unneeded)
		pthread_spin_lock(&lock->spin);
}

static inline void vcx_unlock(struct vcx_lock *lock)
{
	if (!lock->unneeded)
		pthread_spin_unlock(&lock->spin);
}

/* Memory that the device reads or writes; buf.c. */
struct vcx_buf {
	void *addr;
	size_t bytes;			/* whole pages */
	struct vcx_parent_domain *domain; /* its allocator, or NULL for ours */
	uint64_t resource_type;
};

/* What to remember of a send WQE until it is complete. */
struct vcx_sq_slot {
	uint64_t wr_id;
	uint32_t head;			/* count of WQEs before this one */
};

struct vcx_sq {
	struct vcx_lock lock;		/* guards all but the tail */
	void *ring;
	uint32_t num_bbs;		/* 64-byte blocks */
	uint32_t max_wqes;
	uint32_t max_sges;
	uint32_t max_inline_bytes;
	uint32_t qpn;
	uint8_t always_signalled;	/* VCX_WQE_CE_ALWAYS if sq_sig_all */

	uint32_t pi;			/* blocks */
	uint32_t head;			/* WQEs posted */
	/* WQEs retired: written by the poller under the lock of the CQ */
	_Atomic(uint32_t) tail;
	struct vcx_sq_slot *slots;	/* by index of the first block */

	/* The WQE being built, and where this list of them began. */
	struct vcx_wqe_ctrl *ctrl;
	uint32_t units;			/* 16-byte units so far */
	bool open;			/* begun, not ended */
	int err;			/* the first error, until it is told */
	struct vcx_wqe_ctrl *last;	/* newest complete WQE, for the doorbell */
	uint32_t first_pi;
	uint32_t first_head;

	__be32 *dbrec;
	void *doorbell;
};

struct vcx_rq {
	struct vcx_lock lock;		/* guards all but the tail */
	void *ring;
	uint32_t num_wqes;		/* 0: the QP has no receive queue */
	uint32_t log_stride;
	uint32_t max_sges;
	uint32_t head;
	_Atomic(uint32_t) tail;		/* as in struct vcx_sq */
	uint64_t *wr_ids;
	__be32 *dbrec;
};

/* Address of a byte offset that may lie beyond the end of the send queue. */
static inline void *vcx_sq_at(struct vcx_sq *sq, uint32_t bytes)
{
	uint32_t ring_bytes = sq->num_bbs * VCX_WQE_BB_BYTES;

	return (char *)sq->ring + (bytes & (ring_bytes - 1));
}

static inline size_t vcx_rq_bytes(const struct vcx_rq *rq)
{
	return (size_t)rq->num_wqes << rq->log_stride;
}

static inline struct vcx_wqe_data *vcx_rq_at(struct vcx_rq *rq, uint32_t head)
{
	size_t idx = head & (rq->num_wqes - 1);

	return (void *)((char *)rq->ring + (idx << rq->log_stride));
}

/*
 * The poller retires an entry and the poster may then reuse it: release and
 * acquire make the poller's reads of the entry come first.
 */
static inline void vcx_retire(_Atomic(uint32_t) *tail, uint32_t value)
{
	atomic_store_explicit(tail, value, memory_order_release);
}

static inline uint32_t vcx_outstanding(uint32_t head, _Atomic(uint32_t) *tail)
{
	return head - atomic_load_explicit(tail, memory_order_acquire);
}

/* A ring of CQEs; entry ci is ours when vcx_cqe_is_ours(). */
struct vcx_cq_ring {
	struct vcx_buf buf;
	uint32_t num_cqes;
};

static inline struct vcx_cqe *vcx_cqe_at(const struct vcx_cq_ring *ring,
					 uint32_t ci)
{
	struct vcx_cqe *cqes = ring->buf.addr;

	return &cqes[ci & (ring->num_cqes - 1)];
}

/* The owner bit that the device writes in entry ci: the parity of the lap. */
static inline uint8_t vcx_cqe_owner(const struct vcx_cq_ring *ring,
				    uint32_t ci)
{
	return ci & ring->num_cqes ? VCX_CQE_OP_OWNER : 0;
}

static inline bool vcx_cqe_is_ours(const struct vcx_cq_ring *ring, uint32_t ci)
{
	const struct vcx_cqe *cqe = vcx_cqe_at(ring, ci);
	uint8_t op_own = *(const volatile uint8_t *)&cqe->op_own;

	return VCX_CQE_OP(op_own) != VCX_CQE_INVALID &&
	       (op_own & VCX_CQE_OP_OWNER) == vcx_cqe_owner(ring, ci);
}

#endif /* VCX_QUEUE_H */
