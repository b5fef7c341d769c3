// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * pd.c - protection domains.
 */
#include <rdma/uverbs_ioctl.h>
#include <rdma/vcx-abi.h>

#include "vcx.h"

int vcx_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibpd->device);
	struct vcx_pd *pd = to_vcx_pd(ibpd);
	struct vcx_alloc_pd_resp resp = {};
	int err;

	err = vcx_fw_alloc_pd(dev, &pd->pdn);
	if (err || !udata)
		return err;

	resp.pdn = pd->pdn;
	err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
	if (err)
		vcx_fw_dealloc_pd(dev, pd->pdn);
	return err;
}

int vcx_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibpd->device);

	return vcx_destroy_result(dev, vcx_fw_dealloc_pd(dev,
						to_vcx_pd(ibpd)->pdn));
}
