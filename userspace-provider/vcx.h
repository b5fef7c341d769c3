/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
/*
 * vcx.h - the objects of the provider.
 *
 * Lock order: a CQ's resize_mutex, then its lock. Locks of two queues are
 * never held together. The poller of a CQ touches the QPs whose entries it
 * takes, under the lock of that CQ alone; a QP therefore leaves only after
 * both of its CQs were cleaned (qp.c).
 */
#ifndef VCX_H
#define VCX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ccan/container_of.h>
#include <ccan/list.h>
#include <infiniband/driver.h>

#include "queue.h"

#define VCX_QPN_BITS		24
#define VCX_QPN_MASK		((1u << VCX_QPN_BITS) - 1)
#define VCX_QP_TABLE_LOG_LEAF	12
#define VCX_QP_TABLE_LEAVES	(1 << (VCX_QPN_BITS - VCX_QP_TABLE_LOG_LEAF))

/* What the application's allocator is asked for (parent domains). */
enum vcx_resource_type {
	VCX_RESOURCE_QP = 1,
	VCX_RESOURCE_CQ,
	VCX_RESOURCE_DBREC,
};

struct vcx_device {
	struct verbs_device vdev;
};

/* What the device can do, as the kernel said; see vcx-abi.h. */
struct vcx_limits {
	uint32_t max_sq_wqe_bytes;
	uint32_t max_rq_wqe_bytes;
	uint32_t max_sq_bbs;
	uint32_t max_rq_wqes;
	uint32_t max_cqes;
};

/* QPN -> QP. Readers take no lock; see qp_table.c. */
struct vcx_qp_table {
	pthread_mutex_t mutex;
	pthread_cond_t removed;
	_Atomic(struct vcx_qp_leaf *) *leaves;	/* VCX_QP_TABLE_LEAVES */
};

struct vcx_dbrec_pool {
	pthread_mutex_t mutex;
	struct list_head pages;		/* struct vcx_dbrec_page */
};

struct vcx_context {
	struct verbs_context vctx;
	void *uar;			/* our page of doorbell registers */
	size_t uar_bytes;
	struct vcx_limits limits;
	struct vcx_dbrec_pool dbrecs;
	struct vcx_qp_table qps;
};

struct vcx_td {
	struct ibv_td ibtd;
	_Atomic(uint32_t) users;
};

struct vcx_pd {
	struct ibv_pd ibpd;
	_Atomic(uint32_t) users;	/* parent domains */
	bool is_parent_domain;
};

struct vcx_parent_domain {
	struct vcx_pd pd;		/* is_parent_domain */
	struct vcx_pd *protection;
	struct vcx_td *td;		/* or NULL */
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size,
		       size_t alignment, uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr,
		     uint64_t resource_type);
	void *pd_context;
	_Atomic(uint32_t) users;	/* objects made from it */
};

struct vcx_ah {
	struct ibv_ah ibah;
	struct vcx_wqe_datagram av;	/* but for Q_Key and QPN */
	struct vcx_parent_domain *domain; /* or NULL */
};

struct vcx_cq {
	struct verbs_cq vcq;
	uint32_t cqn;
	uint64_t wc_flags;		/* IBV_WC_EX_WITH_* */
	struct vcx_parent_domain *domain; /* or NULL */

	struct vcx_lock lock;		/* guards ring, ci, cqe, qp */
	struct vcx_cq_ring ring;
	uint32_t ci;
	const struct vcx_cqe *cqe;	/* the entry being read */
	struct vcx_qp *qp;		/* whose entry it is */

	__be32 *dbrec;
	_Atomic(uint32_t) arm_sn;
	pthread_mutex_t resize_mutex;	/* guards against a second resize */
};

struct vcx_qp {
	struct verbs_qp vqp;
	struct vcx_sq sq;
	struct vcx_rq rq;
	struct vcx_buf buf;		/* receive queue, then send queue */
	__be32 *dbrec;
	struct vcx_parent_domain *domain; /* or NULL */
};

static inline struct vcx_context *to_vcx_context(struct ibv_context *ibctx)
{
	return container_of(ibctx, struct vcx_context, vctx.context);
}

static inline struct vcx_pd *to_vcx_pd(struct ibv_pd *ibpd)
{
	return container_of(ibpd, struct vcx_pd, ibpd);
}

static inline struct vcx_td *to_vcx_td(struct ibv_td *ibtd)
{
	return container_of(ibtd, struct vcx_td, ibtd);
}

static inline struct vcx_ah *to_vcx_ah(struct ibv_ah *ibah)
{
	return container_of(ibah, struct vcx_ah, ibah);
}

static inline struct vcx_cq *to_vcx_cq(struct ibv_cq *ibcq)
{
	return container_of(ibcq, struct vcx_cq, vcq.cq);
}

static inline struct vcx_cq *to_vcx_cq_ex(struct ibv_cq_ex *ibcq)
{
	return container_of(ibcq, struct vcx_cq, vcq.cq_ex);
}

static inline struct vcx_qp *to_vcx_qp(struct ibv_qp *ibqp)
{
	return container_of(ibqp, struct vcx_qp, vqp.qp);
}

static inline struct vcx_qp *to_vcx_qp_ex(struct ibv_qp_ex *ibqp)
{
	return container_of(ibqp, struct vcx_qp, vqp.qp_ex);
}

/* The parent domain that a PD handle stands for, or NULL. */
static inline struct vcx_parent_domain *
to_vcx_parent_domain(struct ibv_pd *ibpd)
{
	struct vcx_pd *pd = to_vcx_pd(ibpd);

	return pd->is_parent_domain ?
		container_of(pd, struct vcx_parent_domain, pd) : NULL;
}

/* buf.c */
int vcx_buf_alloc(struct vcx_buf *buf, size_t bytes,
		  struct vcx_parent_domain *domain, uint64_t resource_type);
void vcx_buf_free(struct vcx_buf *buf);

/* dbrec.c */
void vcx_dbrec_pool_init(struct vcx_dbrec_pool *pool);
void vcx_dbrec_pool_destroy(struct vcx_dbrec_pool *pool);
__be32 *vcx_dbrec_alloc(struct vcx_dbrec_pool *pool);
void vcx_dbrec_free(struct vcx_dbrec_pool *pool, __be32 *dbrec);

/* qp_table.c */
int vcx_qp_table_init(struct vcx_qp_table *table);
void vcx_qp_table_destroy(struct vcx_qp_table *table);
int vcx_qp_table_insert(struct vcx_qp_table *table, uint32_t qpn,
			struct vcx_qp *qp);
void vcx_qp_table_remove(struct vcx_qp_table *table, uint32_t qpn);
struct vcx_qp *vcx_qp_table_find(struct vcx_qp_table *table, uint32_t qpn);

/* pd.c */
struct ibv_pd *vcx_alloc_pd(struct ibv_context *ibctx);
int vcx_dealloc_pd(struct ibv_pd *ibpd);
struct ibv_td *vcx_alloc_td(struct ibv_context *ibctx,
			    struct ibv_td_init_attr *attr);
int vcx_dealloc_td(struct ibv_td *ibtd);
struct ibv_pd *vcx_alloc_parent_domain(struct ibv_context *ibctx,
				       struct ibv_parent_domain_init_attr *attr);
void vcx_domain_hold(struct vcx_parent_domain *domain);
void vcx_domain_put(struct vcx_parent_domain *domain);
bool vcx_domain_is_single_threaded(const struct vcx_parent_domain *domain);

/* ah.c */
struct ibv_ah *vcx_create_ah(struct ibv_pd *ibpd, struct ibv_ah_attr *attr);
int vcx_destroy_ah(struct ibv_ah *ibah);

/* mr.c */
struct ibv_mr *vcx_reg_mr(struct ibv_pd *ibpd, void *addr, size_t length,
			  uint64_t hca_va, int access);
int vcx_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *ibpd,
		 void *addr, size_t length, int access);
int vcx_dereg_mr(struct verbs_mr *vmr);

/* cq.c */
struct ibv_cq *vcx_create_cq(struct ibv_context *ibctx, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *vcx_create_cq_ex(struct ibv_context *ibctx,
				   struct ibv_cq_init_attr_ex *attr);
int vcx_resize_cq(struct ibv_cq *ibcq, int cqe);
int vcx_destroy_cq(struct ibv_cq *ibcq);
int vcx_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);
void vcx_cq_event(struct ibv_cq *ibcq);
void vcx_cq_clean(struct vcx_cq *cq, uint32_t qpn);

/* poll.c */
int vcx_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
void vcx_cq_set_poll_ops(struct vcx_cq *cq);

/* qp.c */
struct ibv_qp *vcx_create_qp(struct ibv_pd *ibpd,
			     struct ibv_qp_init_attr *attr);
struct ibv_qp *vcx_create_qp_ex(struct ibv_context *ibctx,
				struct ibv_qp_init_attr_ex *attr);
int vcx_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask);
int vcx_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr);
int vcx_destroy_qp(struct ibv_qp *ibqp);

/* qp_size.c */
int vcx_qp_size(struct vcx_qp *qp, const struct vcx_limits *limits,
		const struct ibv_qp_cap *cap);
void vcx_qp_report_cap(const struct vcx_qp *qp, struct ibv_qp_cap *cap);

/* wr.c, wr_api.c, recv.c */
#define VCX_SEND_OPS                                                           \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |      \
	 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |                  \
	 IBV_QP_EX_WITH_RDMA_READ)

int vcx_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr);
void vcx_qp_set_wr_ops(struct vcx_qp *qp);
int vcx_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr);

#endif /* VCX_H */
