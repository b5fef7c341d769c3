// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * vcx.c - the provider's entry: which devices are ours, contexts, and the table
 * of everything the provider can do.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kernel-abi/vcx-abi.h>
#include <rdma/vcx-abi.h>
#include <util/util.h>

#include <vcx/regs.h>

#include "vcx.h"

#define VCX_KERNEL_DRIVER	"vcx"

DECLARE_DRV_CMD(vcx_cmd_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		vcx_alloc_ucontext_req, vcx_alloc_ucontext_resp);

static int vcx_query_device_ex(struct ibv_context *ibctx,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr,
			       size_t attr_bytes)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_bytes = sizeof(resp);
	uint64_t fw;
	int err;

	err = ibv_cmd_query_device_any(ibctx, input, attr, attr_bytes, &resp,
				       &resp_bytes);
	if (err)
		return err;

	fw = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%04u", (unsigned int)(fw >> 32),
		 (unsigned int)(fw >> 16) & 0xffff, (unsigned int)fw & 0xffff);
	return 0;
}

static int vcx_query_port(struct ibv_context *ibctx, uint8_t port_num,
			  struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};

	return ibv_cmd_query_port(ibctx, port_num, attr, &cmd, sizeof(cmd));
}

static void vcx_free_context(struct ibv_context *ibctx)
{
	struct vcx_context *ctx = to_vcx_context(ibctx);

	vcx_dbrec_pool_destroy(&ctx->dbrecs);
	munmap(ctx->uar, ctx->uar_bytes);
	vcx_qp_table_destroy(&ctx->qps);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops vcx_context_ops = {
	.alloc_parent_domain = vcx_alloc_parent_domain,
	.alloc_pd = vcx_alloc_pd,
	.alloc_td = vcx_alloc_td,
	.cq_event = vcx_cq_event,
	.create_ah = vcx_create_ah,
	.create_cq = vcx_create_cq,
	.create_cq_ex = vcx_create_cq_ex,
	.create_qp = vcx_create_qp,
	.create_qp_ex = vcx_create_qp_ex,
	.dealloc_pd = vcx_dealloc_pd,
	.dealloc_td = vcx_dealloc_td,
	.dereg_mr = vcx_dereg_mr,
	.destroy_ah = vcx_destroy_ah,
	.destroy_cq = vcx_destroy_cq,
	.destroy_qp = vcx_destroy_qp,
	.free_context = vcx_free_context,
	.modify_qp = vcx_modify_qp,
	.poll_cq = vcx_poll_cq,
	.post_recv = vcx_post_recv,
	.post_send = vcx_post_send,
	.query_device_ex = vcx_query_device_ex,
	.query_port = vcx_query_port,
	.query_qp = vcx_query_qp,
	.reg_mr = vcx_reg_mr,
	.req_notify_cq = vcx_req_notify_cq,
	.rereg_mr = vcx_rereg_mr,
	.resize_cq = vcx_resize_cq,
};

/* The kernel answers in sizes of the device; a zero would be its mistake. */
static int vcx_set_limits(struct vcx_limits *limits,
			  const struct vcx_alloc_ucontext_resp *resp)
{
	limits->max_sq_wqe_bytes = resp->max_sq_wqe_bytes;
	if (limits->max_sq_wqe_bytes > VCX_WQE_MAX_BYTES)
		limits->max_sq_wqe_bytes = VCX_WQE_MAX_BYTES;
	limits->max_rq_wqe_bytes = resp->max_rq_wqe_bytes;
	limits->max_sq_bbs = resp->max_sq_bbs;
	limits->max_rq_wqes = resp->max_rq_wqes;
	limits->max_cqes = resp->max_cqes;

	if (limits->max_sq_wqe_bytes < VCX_WQE_BB_BYTES ||
	    limits->max_rq_wqe_bytes < VCX_WQE_UNIT_BYTES ||
	    !limits->max_sq_bbs || !limits->max_rq_wqes || !limits->max_cqes)
		return EPROTO;
	return 0;
}

/* The page of doorbell registers that is this context's alone. */
static int vcx_map_uar(struct vcx_context *ctx, int cmd_fd,
		       const struct vcx_alloc_ucontext_resp *resp)
{
	void *uar;

	if (resp->uar_page_bytes < VCX_PAGE_BYTES)
		return EPROTO;
	uar = mmap(NULL, resp->uar_page_bytes, PROT_WRITE, MAP_SHARED, cmd_fd,
		   resp->uar_mmap_offset);
	if (uar == MAP_FAILED)
		return errno;
	ctx->uar = uar;
	ctx->uar_bytes = resp->uar_page_bytes;
	return 0;
}

static struct verbs_context *vcx_alloc_context(struct ibv_device *ibdev,
					       int cmd_fd, void *private_data)
{
	struct vcx_cmd_get_context_resp resp = {};
	struct vcx_cmd_get_context cmd = {};
	struct vcx_context *ctx;
	int err;

	/* The kernel driver has no number in the kernel's list of drivers. */
	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx,
					   RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;

	err = ibv_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd),
				  &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_uninit;
	err = vcx_set_limits(&ctx->limits, &resp.drv_payload);
	if (err)
		goto err_uninit;
	err = vcx_qp_table_init(&ctx->qps);
	if (err)
		goto err_uninit;
	err = vcx_map_uar(ctx, cmd_fd, &resp.drv_payload);
	if (err)
		goto err_destroy_table;

	vcx_dbrec_pool_init(&ctx->dbrecs);
	verbs_set_ops(&ctx->vctx, &vcx_context_ops);
	return &ctx->vctx;

err_destroy_table:
	vcx_qp_table_destroy(&ctx->qps);
err_uninit:
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	errno = err;
	return NULL;
}

static struct verbs_device *vcx_device_alloc(struct verbs_sysfs_dev *sysfs_dev)
{
	struct vcx_device *dev = calloc(1, sizeof(*dev));

	return dev ? &dev->vdev : NULL;
}

static void vcx_device_uninit(struct verbs_device *vdev)
{
	free(container_of(vdev, struct vcx_device, vdev));
}

/*
 * Ours is what the kernel driver of that name drives. Neither PCI ids nor the
 * RDMA device's name can tell: another driver may be bound to the same device,
 * and udev renames RDMA devices. The name decides only if sysfs does not.
 */
static bool vcx_device_match(struct verbs_sysfs_dev *sysfs_dev)
{
	char path[PATH_MAX], driver[PATH_MAX];
	const char *name;
	ssize_t len;

	if (!check_snprintf(path, sizeof(path), "%s/device/driver",
			    sysfs_dev->ibdev_path))
		return false;
	len = readlink(path, driver, sizeof(driver) - 1);
	if (len < 0)
		return sysfs_dev->match;
	driver[len] = '\0';
	name = strrchr(driver, '/');
	return strcmp(name ? name + 1 : driver, VCX_KERNEL_DRIVER) == 0;
}

static const struct verbs_match_ent vcx_match_table[] = {
	VERBS_NAME_MATCH("vcx", NULL),
	{},
};

static const struct verbs_device_ops vcx_device_ops = {
	.name = "vcx",
	.match_min_abi_version = VCX_UVERBS_ABI_VERSION,
	.match_max_abi_version = VCX_UVERBS_ABI_VERSION,
	.match_table = vcx_match_table,
	.match_device = vcx_device_match,
	.alloc_context = vcx_alloc_context,
	.alloc_device = vcx_device_alloc,
	.uninit_device = vcx_device_uninit,
};
PROVIDER_DRIVER(vcx, vcx_device_ops);
