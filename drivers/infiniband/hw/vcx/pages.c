// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * pages.c - memory that the device works in. It says how many 4 KiB pages it
 * wants, before and after initialisation and whenever it likes (page request
 * event), and gives exactly these pages back.
 */
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "vcx.h"

#define VCX_PAGES_PER_COMMAND	512
#define VCX_RECLAIM_TIMEOUT	(5 * HZ)

/* The pages are remembered by their DMA address. */
static unsigned long vcx_pages_key(u64 addr)
{
	return addr >> VCX_LOG_PAGE_BYTES;
}

static int vcx_page_alloc(struct vcx_dev *dev, u64 *addr)
{
	struct device *dma_dev = &dev->pdev->dev;
	struct page *page;
	dma_addr_t dma;
	int err;

	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	dma = dma_map_page(dma_dev, page, 0, VCX_PAGE_BYTES, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dma_dev, dma)) {
		err = -ENOMEM;
		goto err_free;
	}
	err = xa_insert(&dev->pages, vcx_pages_key(dma), page, GFP_KERNEL);
	if (err)
		goto err_unmap;
	*addr = dma;
	return 0;

err_unmap:
	dma_unmap_page(dma_dev, dma, VCX_PAGE_BYTES, DMA_BIDIRECTIONAL);
err_free:
	__free_page(page);
	return err;
}

static void vcx_page_free(struct vcx_dev *dev, u64 addr)
{
	struct page *page = xa_erase(&dev->pages, vcx_pages_key(addr));

	if (!page) {
		dev_err(&dev->pdev->dev,
			"the device returned page %#llx, which it never got\n",
			addr);
		return;
	}
	dma_unmap_page(&dev->pdev->dev, addr, VCX_PAGE_BYTES,
		       DMA_BIDIRECTIONAL);
	__free_page(page);
}

static int vcx_pages_give(struct vcx_dev *dev, u64 *addrs, u32 num)
{
	u32 i;
	int err;

	for (i = 0; i < num; i++) {
		err = vcx_page_alloc(dev, &addrs[i]);
		if (err)
			goto err_free;
	}
	err = vcx_fw_give_pages(dev, addrs, num);
	/* Without an answer the device may have taken them. */
	if (err == -ETIMEDOUT)
		return err;
	if (err)
		goto err_free;
	return 0;

err_free:
	while (i--)
		vcx_page_free(dev, addrs[i]);
	return err;
}

static int vcx_pages_give_all(struct vcx_dev *dev, u32 num)
{
	u64 *addrs;
	int err = 0;
	u32 n;

	addrs = kcalloc(VCX_PAGES_PER_COMMAND, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return -ENOMEM;
	for (; num && !err; num -= n) {
		n = min_t(u32, num, VCX_PAGES_PER_COMMAND);
		err = vcx_pages_give(dev, addrs, n);
	}
	kfree(addrs);
	return err;
}

/* Gives what the device wants at this stage of its initialisation. */
int vcx_pages_supply(struct vcx_dev *dev, enum vcx_pages_stage stage)
{
	s32 num;
	int err;

	err = vcx_fw_query_pages(dev, stage, &num);
	if (err)
		return err;
	if (num <= 0)
		return 0;
	return vcx_pages_give_all(dev, num);
}

/* Takes back at most max pages; how many came is in *num. */
static int vcx_pages_take(struct vcx_dev *dev, u32 max, u32 *num)
{
	u64 *addrs;
	int err;
	u32 i;

	addrs = kcalloc(max, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return -ENOMEM;
	err = vcx_fw_take_pages(dev, addrs, max, num);
	for (i = 0; !err && i < *num; i++)
		vcx_page_free(dev, addrs[i]);
	kfree(addrs);
	return err;
}

/*
 * A page request event: the device wants pages, or less than nothing of them.
 * Thread of the interrupt.
 */
void vcx_pages_request(struct vcx_dev *dev, s32 num_pages)
{
	u32 num = abs(num_pages), taken;
	int err = 0;

	if (num_pages > 0) {
		err = vcx_pages_give_all(dev, num);
		/* The device waits for an answer. */
		if (err)
			vcx_fw_cannot_give_pages(dev);
	}
	while (num_pages < 0 && num && !err) {
		taken = 0;
		err = vcx_pages_take(dev, min_t(u32, num, VCX_PAGES_PER_COMMAND),
				     &taken);
		if (!taken)
			break;
		num -= min(num, taken);
	}
	if (err)
		dev_warn(&dev->pdev->dev,
			 "request for %d pages could not be met: %d\n",
			 num_pages, err);
}

/*
 * Takes everything back after TEARDOWN_HCA. A device that is dead or does not
 * cooperate gets no say; its DMA is switched off before the memory goes, and
 * with it goes the way to hand it another command.
 */
void vcx_pages_reclaim(struct vcx_dev *dev)
{
	unsigned long end = jiffies + VCX_RECLAIM_TIMEOUT;
	unsigned long key, left = 0;
	struct page *page;
	u32 taken;

	while (!xa_empty(&dev->pages) && !vcx_dev_is_dead(dev)) {
		taken = 0;
		if (vcx_pages_take(dev, VCX_PAGES_PER_COMMAND, &taken))
			break;
		if (taken)
			end = jiffies + VCX_RECLAIM_TIMEOUT;
		else if (time_after(jiffies, end))
			break;
	}
	if (xa_empty(&dev->pages))
		return;

	pci_clear_master(dev->pdev);
	xa_for_each(&dev->pages, key, page) {
		vcx_page_free(dev, (u64)key << VCX_LOG_PAGE_BYTES);
		left++;
	}
	if (vcx_dev_is_dead(dev))
		return;
	dev_err(&dev->pdev->dev, "the device did not return %lu pages\n", left);
	vcx_dev_fail(dev, "it kept pages");
}
