// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * qp_table.c - from the QPN in a CQE to the QP, in two levels.
 *
 * Pollers read without a lock. That is safe because an entry is set before the
 * QP can complete anything, is cleared after its last CQE was taken or cleaned,
 * and leaves live as long as the context.
 */
#include <errno.h>
#include <stdlib.h>

#include "vcx.h"

#define VCX_QP_TABLE_LEAF	(1 << VCX_QP_TABLE_LOG_LEAF)

struct vcx_qp_leaf {
	_Atomic(struct vcx_qp *) qps[VCX_QP_TABLE_LEAF];
};

int vcx_qp_table_init(struct vcx_qp_table *table)
{
	table->leaves = calloc(VCX_QP_TABLE_LEAVES, sizeof(*table->leaves));
	if (!table->leaves)
		return ENOMEM;
	pthread_mutex_init(&table->mutex, NULL);
	pthread_cond_init(&table->removed, NULL);
	return 0;
}

void vcx_qp_table_destroy(struct vcx_qp_table *table)
{
	unsigned int i;

	for (i = 0; i < VCX_QP_TABLE_LEAVES; i++)
		free(atomic_load_explicit(&table->leaves[i],
					  memory_order_relaxed));
	free(table->leaves);
	pthread_cond_destroy(&table->removed);
	pthread_mutex_destroy(&table->mutex);
}

static struct vcx_qp_leaf *vcx_qp_leaf(struct vcx_qp_table *table, uint32_t qpn)
{
	return atomic_load_explicit(&table->leaves[qpn >> VCX_QP_TABLE_LOG_LEAF],
				    memory_order_acquire);
}

static struct vcx_qp_leaf *vcx_qp_leaf_make(struct vcx_qp_table *table,
					    uint32_t qpn)
{
	struct vcx_qp_leaf *leaf = vcx_qp_leaf(table, qpn);

	if (leaf)
		return leaf;
	leaf = calloc(1, sizeof(*leaf));
	if (leaf)
		atomic_store_explicit(
			&table->leaves[qpn >> VCX_QP_TABLE_LOG_LEAF], leaf,
			memory_order_release);
	return leaf;
}

/*
 * The kernel may give us the number of a QP that another thread is destroying:
 * it is free there, while that thread has yet to clean its CQs of old entries.
 * Wait for it, or old entries would be taken for ours.
 */
int vcx_qp_table_insert(struct vcx_qp_table *table, uint32_t qpn,
			struct vcx_qp *qp)
{
	struct vcx_qp_leaf *leaf;
	_Atomic(struct vcx_qp *) *entry;

	if (qpn >> VCX_QPN_BITS)
		return EINVAL;

	pthread_mutex_lock(&table->mutex);
	leaf = vcx_qp_leaf_make(table, qpn);
	if (leaf) {
		entry = &leaf->qps[qpn & (VCX_QP_TABLE_LEAF - 1)];
		while (atomic_load_explicit(entry, memory_order_relaxed))
			pthread_cond_wait(&table->removed, &table->mutex);
		atomic_store_explicit(entry, qp, memory_order_release);
	}
	pthread_mutex_unlock(&table->mutex);
	return leaf ? 0 : ENOMEM;
}

void vcx_qp_table_remove(struct vcx_qp_table *table, uint32_t qpn)
{
	struct vcx_qp_leaf *leaf;

	pthread_mutex_lock(&table->mutex);
	leaf = vcx_qp_leaf(table, qpn);
	atomic_store_explicit(&leaf->qps[qpn & (VCX_QP_TABLE_LEAF - 1)], NULL,
			      memory_order_relaxed);
	pthread_cond_broadcast(&table->removed);
	pthread_mutex_unlock(&table->mutex);
}

struct vcx_qp *vcx_qp_table_find(struct vcx_qp_table *table, uint32_t qpn)
{
	struct vcx_qp_leaf *leaf = vcx_qp_leaf(table, qpn);

	if (!leaf)
		return NULL;
	return atomic_load_explicit(&leaf->qps[qpn & (VCX_QP_TABLE_LEAF - 1)],
				    memory_order_acquire);
}
