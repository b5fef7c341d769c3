// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * uar.c - doorbell pages: one for the kernel, one for each user context. The
 * device takes the doorbell of a queue only from the page that the queue was
 * created with, so that processes cannot ring for each other.
 */
#include <linux/io.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/vcx-abi.h>

#include "vcx.h"

/* A larger page would give a process the doorbells of others. */
static_assert(PAGE_SIZE == VCX_PAGE_BYTES);

static phys_addr_t vcx_uar_phys(struct vcx_dev *dev, u32 index)
{
	return pci_resource_start(dev->pdev, VCX_PCI_BAR) +
	       (phys_addr_t)index * VCX_PAGE_BYTES;
}

/* The device's answer is used as an address: it must lie in the BAR. */
static int vcx_uar_alloc(struct vcx_dev *dev, u32 *index)
{
	u64 pages = pci_resource_len(dev->pdev, VCX_PCI_BAR) / VCX_PAGE_BYTES;
	int err;

	err = vcx_fw_alloc_uar(dev, index);
	if (err)
		return err;
	if (*index >= VCX_UAR_FIRST_PAGE && *index < pages)
		return 0;
	dev_err(&dev->pdev->dev, "doorbell page %u is outside the BAR\n",
		*index);
	vcx_fw_dealloc_uar(dev, *index);
	return -EIO;
}

int vcx_kernel_uar_init(struct vcx_dev *dev)
{
	int err;

	err = vcx_uar_alloc(dev, &dev->uar.index);
	if (err)
		return err;
	dev->uar.map = ioremap(vcx_uar_phys(dev, dev->uar.index),
			       VCX_PAGE_BYTES);
	if (!dev->uar.map) {
		vcx_fw_dealloc_uar(dev, dev->uar.index);
		return -ENOMEM;
	}
	return 0;
}

void vcx_kernel_uar_fini(struct vcx_dev *dev)
{
	iounmap(dev->uar.map);
	vcx_fw_dealloc_uar(dev, dev->uar.index);
}

int vcx_alloc_ucontext(struct ib_ucontext *ibucontext, struct ib_udata *udata)
{
	struct vcx_ucontext *uctx = to_vcx_ucontext(ibucontext);
	struct vcx_dev *dev = to_vcx_dev(ibucontext->device);
	struct vcx_alloc_ucontext_resp resp = {};
	struct vcx_alloc_ucontext_req req = {};
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if (req.comp_mask)
		return -EOPNOTSUPP;

	mutex_init(&uctx->db_lock);
	INIT_LIST_HEAD(&uctx->db_pages);
	err = vcx_uar_alloc(dev, &uctx->uar.index);
	if (err)
		return err;
	err = rdma_user_mmap_entry_insert(ibucontext, &uctx->uar_mmap,
					  VCX_PAGE_BYTES);
	if (err)
		goto err_uar;

	resp.uar_mmap_offset = rdma_user_mmap_get_offset(&uctx->uar_mmap);
	resp.uar_page_bytes = VCX_PAGE_BYTES;
	resp.uar_index = uctx->uar.index;
	resp.max_sq_wqe_bytes = dev->caps.max_sq_wqe_bytes;
	resp.max_rq_wqe_bytes = dev->caps.max_rq_wqe_bytes;
	resp.max_sq_bbs = dev->caps.max_sq_bbs;
	resp.max_rq_wqes = dev->caps.max_rq_wqes;
	resp.max_cqes = dev->caps.max_cqes;
	resp.max_msg_bytes = BIT(dev->caps.log_max_msg);
	resp.log_sq_db_bytes = dev->caps.log_sq_db_bytes;
	err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
	if (err)
		goto err_mmap;
	return 0;

err_mmap:
	rdma_user_mmap_entry_remove(&uctx->uar_mmap);
err_uar:
	vcx_fw_dealloc_uar(dev, uctx->uar.index);
	return err;
}

void vcx_dealloc_ucontext(struct ib_ucontext *ibucontext)
{
	struct vcx_ucontext *uctx = to_vcx_ucontext(ibucontext);

	rdma_user_mmap_entry_remove(&uctx->uar_mmap);
	vcx_fw_dealloc_uar(to_vcx_dev(ibucontext->device), uctx->uar.index);
}

/*
 * Says that the driver can be removed under a user context. The core has taken
 * the doorbell page out of the process and destroys the objects afterwards.
 */
void vcx_disassociate_ucontext(struct ib_ucontext *ibucontext)
{
}

int vcx_mmap(struct ib_ucontext *ibucontext, struct vm_area_struct *vma)
{
	struct vcx_ucontext *uctx = to_vcx_ucontext(ibucontext);
	struct vcx_dev *dev = to_vcx_dev(ibucontext->device);
	struct rdma_user_mmap_entry *entry;
	int err;

	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	entry = rdma_user_mmap_entry_get(ibucontext, vma);
	if (!entry)
		return -EINVAL;
	err = rdma_user_mmap_io(ibucontext, vma,
				PHYS_PFN(vcx_uar_phys(dev, uctx->uar.index)),
				VCX_PAGE_BYTES,
				pgprot_noncached(vma->vm_page_prot), entry);
	rdma_user_mmap_entry_put(entry);
	return err;
}
