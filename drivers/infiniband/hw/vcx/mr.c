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

/* Makes the key of mr->umem. */
static int vcx_mr_map_umem(struct vcx_dev *dev, struct vcx_mr *mr,
			   struct ib_umem *umem, u32 pdn, u64 virt_addr,
			   int access)
{
	struct vcx_mkey_params params = {
		.pdn = pdn,
		.access = access,
		.start = virt_addr,
		.length = umem->length,
	};
	unsigned long page_bytes;
	int err;

	page_bytes = ib_umem_find_best_pgsz(umem, VCX_MKEY_PAGE_SIZES,
					    virt_addr);
	if (!page_bytes)
		return -EINVAL;
	err = vcx_umem_page_list(umem, page_bytes, &params.pages);
	if (err)
		return err;
	err = vcx_mr_create_key(dev, mr, &params);
	kvfree(params.pages.addr);
	if (!err)
		mr->ibmr.page_size = page_bytes;
	return err;
}

struct ib_mr *vcx_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
			      u64 virt_addr, int access, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibpd->device);
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
	err = vcx_mr_map_umem(dev, mr, mr->umem, to_vcx_pd(ibpd)->pdn,
			      virt_addr, access);
	if (err)
		goto err_release;
	return &mr->ibmr;

err_release:
	ib_umem_release(mr->umem);
err_free:
	kfree(mr);
	return ERR_PTR(err);
}

/*
 * Makes a new key beside the old one and then drops that, so that a failure
 * leaves the region as it was. The keys change, which verbs allow.
 */
struct ib_mr *vcx_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				u64 length, u64 virt_addr, int access,
				struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibmr->device);
	struct vcx_mr *mr = to_vcx_mr(ibmr);
	struct ib_umem *umem = mr->umem;
	struct vcx_mr next = { .ibmr = mr->ibmr };
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

	err = vcx_mr_map_umem(dev, &next, umem, to_vcx_pd(ibpd)->pdn,
			      virt_addr, access);
	if (err)
		goto err_release;
	err = vcx_destroy_result(dev, vcx_fw_destroy_mkey(dev, mr->index));
	if (err)
		goto err_destroy;

	if (umem != mr->umem)
		ib_umem_release(mr->umem);
	mr->umem = umem;
	mr->index = next.index;
	mr->access = next.access;
	mr->ibmr.lkey = next.ibmr.lkey;
	mr->ibmr.rkey = next.ibmr.rkey;
	mr->ibmr.page_size = next.ibmr.page_size;
	return NULL;

err_destroy:
	vcx_fw_destroy_mkey(dev, next.index);
err_release:
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
