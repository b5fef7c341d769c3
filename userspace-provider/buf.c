// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * buf.c - memory that the device reads and writes.
 *
 * Whole pages of their own, so that the kernel pins nothing else and a page
 * can be kept from fork(): copy on write would give the parent a new page
 * while the device goes on with the old one.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <util/util.h>

#include "vcx.h"

/* The application's allocator may decline by IBV_ALLOCATOR_USE_DEFAULT. */
static void *vcx_domain_alloc(struct vcx_parent_domain *domain, size_t bytes,
			      size_t alignment, uint64_t resource_type)
{
	if (!domain || !domain->alloc)
		return IBV_ALLOCATOR_USE_DEFAULT;
	return domain->alloc(&domain->pd.ibpd, domain->pd_context, bytes,
			     alignment, resource_type);
}

static void vcx_buf_release(struct vcx_buf *buf)
{
	if (buf->domain)
		buf->domain->free(&buf->domain->pd.ibpd,
				  buf->domain->pd_context, buf->addr,
				  buf->resource_type);
	else
		munmap(buf->addr, buf->bytes);
	buf->addr = NULL;
}

int vcx_buf_alloc(struct vcx_buf *buf, size_t bytes,
		  struct vcx_parent_domain *domain, uint64_t resource_type)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE);
	int err;

	buf->bytes = align(bytes, page_bytes);
	buf->domain = domain;
	buf->resource_type = resource_type;
	buf->addr = vcx_domain_alloc(domain, buf->bytes, page_bytes,
				     resource_type);
	if (buf->addr == IBV_ALLOCATOR_USE_DEFAULT) {
		buf->domain = NULL;
		buf->addr = mmap(NULL, buf->bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (buf->addr == MAP_FAILED)
			buf->addr = NULL;
	}
	if (!buf->addr)
		return ENOMEM;

	err = ibv_dontfork_range(buf->addr, buf->bytes);
	if (err)
		vcx_buf_release(buf);
	return err;
}

/* Not allocated, or freed already: nothing to do. */
void vcx_buf_free(struct vcx_buf *buf)
{
	if (!buf->addr)
		return;
	ibv_dofork_range(buf->addr, buf->bytes);
	vcx_buf_release(buf);
}
