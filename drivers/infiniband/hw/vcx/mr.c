// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mr.c - memory regions: all physical memory for the kernel, pinned user
 * memory as a list of pages of equal size.
 */
#include <linux/slab.h>

#include "vcx.h"

/* Absolute page sizes that a memory key can express: 4 KiB to 2 GiB. */
#define VCX_MKEY_PAGE_SIZES	GENMASK_ULL(31, VCX_LOG_PAGE_BYTES)

#define VCX_MR_ACCESS                                                          \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |                      \
	 IB_ACCESS_REMOTE_READ | IB_ZERO_BASED | IB_ACCESS_HUGETLB |           \
	 IB_ACCESS_OPTIONAL)

/*
 * The low byte of a key changes from region to region, so that a stale key
 * whose index is in use again is still refused.
 */
static u8 vcx_next_variant(struct vcx_dev *dev)
{
	return atomic_inc_return(&dev->mkey_variant);
}

static int vcx_mr_create_key(struct vcx_dev *dev, struct vcx_mr *mr,
			     struct vcx_mkey_params *params)
{
	u32 key;
	int err;

	params->variant = vcx_next_variant(dev);
	err = vcx_fw_create_mkey(dev, params, &mr->index);
	if (err)
		return err;
	key = mr->index << 8 | params->variant;
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	mr->access = params->access;
	return 0;
}

struct ib_mr *vcx_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct vcx_dev *dev = to_vcx_dev(ibpd->device);
	struct vcx_mkey_params params = {
		.pdn = to_vcx_pd(ibpd)->pdn,
		.access = access,
		.physical = true,
	};
	struct vcx_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = vcx_mr_create_key(dev, mr, &params);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/* Describes a key for the umem; the caller frees params->pages.addr. */
static int vcx_mr_umem_params(struct ib_umem *umem, u64 virt_addr,
			      struct vcx_mkey_params *params)
{
	unsigned long page_bytes;

	page_bytes = ib_umem_find_best_pgsz(umem, VCX_MKEY_PAGE_SIZES,
					    virt_addr);
	if (!page_bytes)
		return -EINVAL;
	params->start = virt_addr;
	params->length = umem->length;
	return vcx_umem_page_list(umem, page_bytes, &params->pages);
}

struct ib_mr *vcx_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
			      u64 virt_addr, int access, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibpd->device);
	struct vcx_mkey_params params = {
		.pdn = to_vcx_pd(ibpd)->pdn,
		.access = access,
	};
	struct vcx_mr *mr;
	int err;

	if (access & ~VCX_MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get(ibpd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		goto err_free;
	}
	err = vcx_mr_umem_params(mr->umem, virt_addr, &params);
	if (err)
		goto err_release;
	err = vcx_mr_create_key(dev, mr, &params);
	kvfree(params.pages.addr);
	if (err)
		goto err_release;
	mr->ibmr.page_size = BIT(params.pages.log_bytes);
	return &mr->ibmr;

err_release:
	ib_umem_release(mr->umem);
err_free:
	kfree(mr);
	return ERR_PTR(err);
}

/* Nobody remembers the key after this, and its memory may become free. */
static void vcx_mr_drop_key(struct vcx_dev *dev, u32 index)
{
	if (!vcx_destroy_result(dev, vcx_fw_destroy_mkey(dev, index)))
		return;
	vcx_dev_fail(dev, "it did not destroy a memory key");
	pci_clear_master(dev->pdev);
}

/*
 * Changes what the key of a region means. A new key is made first, so that a
 * failure leaves the region as it was. Then the old one goes, and comes back
 * under its index and with its low byte: whoever has the key can go on with it,
 * and in between it allows nothing. Where that is not possible, the new key
 * stays, which verbs allow.
 */
static int vcx_mr_replace_key(struct vcx_dev *dev, struct vcx_mr *mr,
			      struct vcx_mkey_params *params)
{
	const u32 old_index = mr->index, old_key = mr->ibmr.lkey;
	struct vcx_mr spare = {};
	int err;

	err = vcx_mr_create_key(dev, &spare, params);
	if (err)
		return err;
	err = vcx_destroy_result(dev, vcx_fw_destroy_mkey(dev, old_index));
	if (err) {
		vcx_mr_drop_key(dev, spare.index);
		return err;
	}
	mr->index = spare.index;
	mr->access = spare.access;
	mr->ibmr.lkey = spare.ibmr.lkey;
	mr->ibmr.rkey = spare.ibmr.rkey;
	mr->ibmr.page_size = BIT(params->pages.log_bytes);
	if (!dev->caps.mkey_by_name)
		return 0;

	params->index = old_index;
	params->variant = old_key;
	if (vcx_fw_create_mkey(dev, params, &mr->index))
		return 0;
	mr->ibmr.lkey = old_key;
	mr->ibmr.rkey = old_key;
	vcx_mr_drop_key(dev, spare.index);
	return 0;
}

struct ib_mr *vcx_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				u64 length, u64 virt_addr, int access,
				struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibmr->device);
	struct vcx_mkey_params params = { .pdn = to_vcx_pd(ibpd)->pdn };
	struct vcx_mr *mr = to_vcx_mr(ibmr);
	struct ib_umem *umem = mr->umem;
	int err;

	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (access & ~VCX_MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_TRANS)) {
		start = umem->address;
		length = umem->length;
		virt_addr = ibmr->iova;
	}
	/* Memory that was pinned for reading is pinned anew for writing. */
	if (flags & IB_MR_REREG_TRANS ||
	    (ib_access_writable(access) && !umem->writable))
		umem = ib_umem_get(ibmr->device, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);

	params.access = access;
	err = vcx_mr_umem_params(umem, virt_addr, &params);
	if (!err) {
		err = vcx_mr_replace_key(dev, mr, &params);
		kvfree(params.pages.addr);
	}
	/* The memory that no key means any more, the new or the old. */
	if (!err)
		swap(mr->umem, umem);
	if (umem != mr->umem)
		ib_umem_release(umem);
	return ERR_PTR(err);
}

int vcx_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibmr->device);
	struct vcx_mr *mr = to_vcx_mr(ibmr);
	int err;

	err = vcx_destroy_result(dev, vcx_fw_destroy_mkey(dev, mr->index));
	if (err)
		return err;
	ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
