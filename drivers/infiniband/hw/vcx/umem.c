// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * umem.c - pinned user memory: page lists for the device, queue buffers, and
 * pages of doorbell records.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/iter.h>

#include "vcx.h"

/* Queue contexts give the place in the first page in 1/64 of a page. */
#define VCX_QUEUE_OFFSETS	64
#define VCX_QUEUE_ALIGN		64
/* Five bits of a queue context, counted from 4 KiB. */
#define VCX_QUEUE_MAX_LOG_PAGE	31

/* Lists the pages of a umem, which ib_umem_find_best_pgsz() has been asked. */
int vcx_umem_page_list(struct ib_umem *umem, unsigned long page_bytes,
		       struct vcx_page_list *pages)
{
	struct ib_block_iter iter;
	size_t num = ib_umem_num_dma_blocks(umem, page_bytes);
	u32 i = 0;

	if (num > U32_MAX)
		return -EINVAL;
	pages->addr = kvcalloc(num, sizeof(*pages->addr), GFP_KERNEL_ACCOUNT);
	if (!pages->addr)
		return -ENOMEM;
	rdma_umem_for_each_dma_block(umem, &iter, page_bytes) {
		if (WARN_ON_ONCE(i == num))
			break;
		pages->addr[i++] = rdma_block_iter_dma_address(&iter);
	}
	pages->num = num;
	pages->log_bytes = ilog2(page_bytes);
	return 0;
}

/*
 * The largest page in which the buffer's place can be expressed: a big page
 * has coarse offsets.
 */
static unsigned long vcx_queue_page_bytes(struct ib_umem *umem)
{
	unsigned int log = VCX_QUEUE_MAX_LOG_PAGE;
	unsigned long bytes;

	for (; log >= VCX_LOG_PAGE_BYTES; log--) {
		bytes = ib_umem_find_best_pgoff(umem,
						GENMASK(log,
							VCX_LOG_PAGE_BYTES),
						GENMASK(log - 1, 0));
		if (!bytes)
			return 0;
		if (!(ib_umem_dma_offset(umem, bytes) &
		      (bytes / VCX_QUEUE_OFFSETS - 1)))
			return bytes;
		log = ilog2(bytes);
	}
	return 0;
}

int vcx_user_buf_get(struct vcx_dev *dev, u64 start, size_t bytes,
		     struct vcx_user_buf *buf)
{
	unsigned long page_bytes;
	int err;

	if (start & (VCX_QUEUE_ALIGN - 1))
		return -EINVAL;
	buf->umem = ib_umem_get(&dev->ibdev, start, bytes,
				IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(buf->umem))
		return PTR_ERR(buf->umem);

	page_bytes = vcx_queue_page_bytes(buf->umem);
	if (!page_bytes) {
		err = -EINVAL;
		goto err_release;
	}
	err = vcx_umem_page_list(buf->umem, page_bytes, &buf->pages);
	if (err)
		goto err_release;
	buf->pages.offset = ib_umem_dma_offset(buf->umem, page_bytes);
	return 0;

err_release:
	ib_umem_release(buf->umem);
	buf->umem = NULL;
	return err;
}

void vcx_user_buf_put(struct vcx_user_buf *buf)
{
	kvfree(buf->pages.addr);
	ib_umem_release(buf->umem);
	memset(buf, 0, sizeof(*buf));
}

/*
 * Pins the page of a doorbell record, or finds that it is pinned already: a
 * provider puts many records into a page.
 */
struct vcx_user_db_page *vcx_user_db_get(struct vcx_ucontext *uctx, u64 start,
					 dma_addr_t *addr)
{
	struct vcx_user_db_page *page;
	int err;

	if (start & 7)
		return ERR_PTR(-EINVAL);

	mutex_lock(&uctx->db_lock);
	list_for_each_entry(page, &uctx->db_pages, entry)
		if (page->start == (start & PAGE_MASK))
			goto found;

	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page) {
		err = -ENOMEM;
		goto err_unlock;
	}
	page->start = start & PAGE_MASK;
	page->umem = ib_umem_get(uctx->ibucontext.device, page->start,
				 PAGE_SIZE, IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(page->umem)) {
		err = PTR_ERR(page->umem);
		goto err_free;
	}
	list_add(&page->entry, &uctx->db_pages);
found:
	page->users++;
	*addr = sg_dma_address(page->umem->sgt_append.sgt.sgl) +
		(start & ~PAGE_MASK);
	mutex_unlock(&uctx->db_lock);
	return page;

err_free:
	kfree(page);
err_unlock:
	mutex_unlock(&uctx->db_lock);
	return ERR_PTR(err);
}

void vcx_user_db_put(struct vcx_ucontext *uctx, struct vcx_user_db_page *page)
{
	mutex_lock(&uctx->db_lock);
	if (!--page->users) {
		list_del(&page->entry);
		ib_umem_release(page->umem);
		kfree(page);
	}
	mutex_unlock(&uctx->db_lock);
}
