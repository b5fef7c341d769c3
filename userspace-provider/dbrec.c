// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * dbrec.c - doorbell records, packed into pages that the context shares.
 *
 * A record has two words, but a cache line of its own: threads that post to
 * different queues must not fight for one.
 */
#include <stdlib.h>

#include "vcx.h"

#define VCX_DBREC_BYTES		64
#define VCX_DBRECS_PER_PAGE	64
#define VCX_DBREC_PAGE_BYTES	(VCX_DBREC_BYTES * VCX_DBRECS_PER_PAGE)

struct vcx_dbrec_page {
	struct list_node entry;
	struct vcx_buf buf;
	uint64_t free;			/* bit i: record i is free */
};

void vcx_dbrec_pool_init(struct vcx_dbrec_pool *pool)
{
	pthread_mutex_init(&pool->mutex, NULL);
	list_head_init(&pool->pages);
}

static void vcx_dbrec_page_free(struct vcx_dbrec_page *page)
{
	list_del(&page->entry);
	vcx_buf_free(&page->buf);
	free(page);
}

/* Records that the application leaked with its objects go here. */
void vcx_dbrec_pool_destroy(struct vcx_dbrec_pool *pool)
{
	struct vcx_dbrec_page *page, *next;

	list_for_each_safe(&pool->pages, page, next, entry)
		vcx_dbrec_page_free(page);
	pthread_mutex_destroy(&pool->mutex);
}

static struct vcx_dbrec_page *vcx_dbrec_page_alloc(struct vcx_dbrec_pool *pool)
{
	struct vcx_dbrec_page *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	/* Shared by all objects, so never from a parent domain's allocator. */
	if (vcx_buf_alloc(&page->buf, VCX_DBREC_PAGE_BYTES, NULL,
			  VCX_RESOURCE_DBREC)) {
		free(page);
		return NULL;
	}
	page->free = UINT64_MAX;
	list_add(&pool->pages, &page->entry);
	return page;
}

static struct vcx_dbrec_page *vcx_dbrec_find_page(struct vcx_dbrec_pool *pool)
{
	struct vcx_dbrec_page *page;

	list_for_each(&pool->pages, page, entry)
		if (page->free)
			return page;
	return vcx_dbrec_page_alloc(pool);
}

/* Both words are zero. NULL: no memory. */
__be32 *vcx_dbrec_alloc(struct vcx_dbrec_pool *pool)
{
	struct vcx_dbrec_page *page;
	__be32 *dbrec = NULL;
	unsigned int idx;

	pthread_mutex_lock(&pool->mutex);
	page = vcx_dbrec_find_page(pool);
	if (page) {
		idx = __builtin_ctzll(page->free);
		page->free &= page->free - 1;
		dbrec = (void *)((char *)page->buf.addr +
				 idx * VCX_DBREC_BYTES);
		dbrec[0] = 0;
		dbrec[1] = 0;
	}
	pthread_mutex_unlock(&pool->mutex);
	return dbrec;
}

void vcx_dbrec_free(struct vcx_dbrec_pool *pool, __be32 *dbrec)
{
	struct vcx_dbrec_page *page;
	uintptr_t offset;

	pthread_mutex_lock(&pool->mutex);
	list_for_each(&pool->pages, page, entry) {
		offset = (uintptr_t)dbrec - (uintptr_t)page->buf.addr;
		if (offset >= VCX_DBREC_PAGE_BYTES)
			continue;
		page->free |= 1ULL << (offset / VCX_DBREC_BYTES);
		if (page->free == UINT64_MAX)
			vcx_dbrec_page_free(page);
		break;
	}
	pthread_mutex_unlock(&pool->mutex);
}
