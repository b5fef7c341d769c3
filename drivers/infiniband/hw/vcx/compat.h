/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * compat.h - what differs between the kernels that the driver is built for.
 * The only place that looks at the kernel version.
 */
#ifndef VCX_COMPAT_H
#define VCX_COMPAT_H

#include <linux/version.h>
#include <rdma/uverbs_ioctl.h>

/*
 * From 6.11 on create_cq gets the whole bundle of attributes instead of the
 * driver's part of it.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define vcx_cq_attrs uverbs_attr_bundle

static inline struct ib_udata *vcx_cq_udata(struct uverbs_attr_bundle *attrs)
{
	return attrs ? &attrs->driver_udata : NULL;
}
#else
#define vcx_cq_attrs ib_udata

static inline struct ib_udata *vcx_cq_udata(struct ib_udata *udata)
{
	return udata;
}
#endif

#endif /* VCX_COMPAT_H */
