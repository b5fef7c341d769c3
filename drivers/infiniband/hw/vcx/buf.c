// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * buf.c - queue buffers and doorbell records of the kernel. A buffer is made of
 * single pages, so that a large queue does not depend on contiguous memory.
 */
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/slab.h>

#include "vcx.h"

int vcx_buf_alloc(struct vcx_dev *dev, struct vcx_buf *buf, size_t bytes)
{
	u32 num_pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	dma_addr_t addr;

	buf->dma_dev = &dev->pdev->dev;
	buf->num_pages = 0;
	buf->page = kvcalloc(num_pages, sizeof(*buf->page), GFP_KERNEL);
	buf->addr = kvcalloc(num_pages, sizeof(*buf->addr), GFP_KERNEL);
	if (!buf->page || !buf->addr)
		goto err_free;

	while (buf->num_pages < num_pages) {
		void *page = dma_alloc_coherent(buf->dma_dev, PAGE_SIZE, &addr,
						GFP_KERNEL);

		if (!page)
			goto err_free;
		buf->page[buf->num_pages] = page;
		buf->addr[buf->num_pages++] = addr;
	}
	return 0;

err_free:
	vcx_buf_free(buf);
	return -ENOMEM;
}

void vcx_buf_free(struct vcx_buf *buf)
{
	while (buf->num_pages--)
		dma_free_coherent(buf->dma_dev, PAGE_SIZE,
				  buf->page[buf->num_pages],
				  buf->addr[buf->num_pages]);
	kvfree(buf->addr);
	kvfree(buf->page);
	memset(buf, 0, sizeof(*buf));
}

struct vcx_page_list vcx_buf_pages(const struct vcx_buf *buf)
{
	return (struct vcx_page_list) {
		.addr = buf->addr,
		.num = buf->num_pages,
		.log_bytes = PAGE_SHIFT,
	};
}

int vcx_dbrec_alloc(struct vcx_dev *dev, struct vcx_dbrec *rec)
{
	rec->word = dma_pool_zalloc(dev->dbrec_pool, GFP_KERNEL, &rec->addr);
	return rec->word ? 0 : -ENOMEM;
}

void vcx_dbrec_free(struct vcx_dev *dev, struct vcx_dbrec *rec)
{
	dma_pool_free(dev->dbrec_pool, rec->word, rec->addr);
	rec->word = NULL;
}
