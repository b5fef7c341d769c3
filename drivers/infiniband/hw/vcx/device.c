// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * device.c - the verbs device: what it can do, its operations, registration.
 */
#include <linux/limits.h>
#include <linux/utsname.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/vcx-abi.h>

#include "vcx.h"

/* A send WQE of RDMA needs two units of 16 bytes before its data segments. */
#define VCX_SEND_HEAD_UNITS	2

/* CQE timestamps are in nanoseconds. */
#define VCX_TIMESTAMP_KHZ	1000000

static void vcx_fw_version(struct vcx_dev *dev, u16 *major, u16 *minor,
			   u16 *sub)
{
	u32 rev = ioread32be(&dev->seg->fw_rev);

	*major = rev & 0xffff;
	*minor = rev >> 16;
	*sub = ioread32be(&dev->seg->cmdif_rev_fw_sub) & 0xffff;
}

static void vcx_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	u16 major, minor, sub;

	vcx_fw_version(to_vcx_dev(ibdev), &major, &minor, &sub);
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%04u", major, minor, sub);
}

/* Only what exists: reliable connections, and handles for no datagrams yet. */
static int vcx_query_device(struct ib_device *ibdev,
			    struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibdev);
	const struct vcx_caps *caps = &dev->caps;
	u16 major, minor, sub;

	if (udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;

	vcx_fw_version(dev, &major, &minor, &sub);
	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = (u64)major << 32 | (u64)minor << 16 | sub;
	attr->sys_image_guid = cpu_to_be64(dev->system_guid);
	attr->vendor_id = dev->pdev->vendor;
	attr->vendor_part_id = dev->pdev->device;
	attr->hw_ver = dev->pdev->revision;
	attr->device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_RC_RNR_NAK_GEN;
	attr->max_mr_size = BIT_ULL(caps->log_max_mr);
	attr->page_size_cap = GENMASK(31, VCX_LOG_PAGE_BYTES);
	attr->max_mr = caps->max_mkeys;
	attr->max_pd = caps->max_pds;
	attr->max_ah = INT_MAX;		/* the device does not see them */
	attr->max_qp = caps->max_qps;
	attr->max_qp_wr = caps->max_sq_bbs;
	attr->max_send_sge = caps->max_sq_wqe_bytes / VCX_WQE_UNIT_BYTES -
			     VCX_SEND_HEAD_UNITS;
	attr->max_recv_sge = caps->max_rq_wqe_bytes / VCX_WQE_UNIT_BYTES;
	attr->max_sge_rd = attr->max_send_sge;
	attr->max_cq = caps->max_cqs;
	attr->max_cqe = caps->max_cqes - 1;
	attr->max_qp_rd_atom = caps->max_reads_in;
	attr->max_qp_init_rd_atom = caps->max_reads_out;
	attr->max_res_rd_atom = caps->max_qps * caps->max_reads_in;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->masked_atomic_cap = IB_ATOMIC_NONE;
	attr->max_pkeys = caps->num_pkeys;
	attr->local_ca_ack_delay = caps->ack_delay;
	attr->timestamp_mask = U64_MAX;
	attr->hca_core_clock = VCX_TIMESTAMP_KHZ;
	if (caps->cq_moderation) {
		attr->cq_caps.max_cq_moderation_count = VCX_MAX_CQ_COUNT;
		attr->cq_caps.max_cq_moderation_period = VCX_MAX_CQ_USECS;
	}
	return 0;
}

static int vcx_modify_device(struct ib_device *ibdev, int mask,
			     struct ib_device_modify *modify)
{
	int err;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (!(mask & IB_DEVICE_MODIFY_NODE_DESC))
		return 0;
	err = vcx_fw_set_node_desc(to_vcx_dev(ibdev), modify->node_desc);
	if (!err)
		memcpy(ibdev->node_desc, modify->node_desc,
		       IB_DEVICE_NODE_DESC_MAX);
	return err;
}

static const struct ib_device_ops vcx_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = VCX_UVERBS_ABI_VERSION,

	.alloc_pd = vcx_alloc_pd,
	.alloc_ucontext = vcx_alloc_ucontext,
	.create_ah = vcx_create_ah,
	.create_cq = vcx_create_cq,
	.create_qp = vcx_create_qp,
	.create_user_ah = vcx_create_ah,
	.dealloc_pd = vcx_dealloc_pd,
	.dealloc_ucontext = vcx_dealloc_ucontext,
	.dereg_mr = vcx_dereg_mr,
	.destroy_ah = vcx_destroy_ah,
	.destroy_cq = vcx_destroy_cq,
	.destroy_qp = vcx_destroy_qp,
	.disassociate_ucontext = vcx_disassociate_ucontext,
	.fill_res_cq_entry = vcx_fill_res_cq_entry,
	.fill_res_mr_entry = vcx_fill_res_mr_entry,
	.fill_res_qp_entry = vcx_fill_res_qp_entry,
	.get_dev_fw_str = vcx_get_dev_fw_str,
	.get_dma_mr = vcx_get_dma_mr,
	.get_port_immutable = vcx_get_port_immutable,
	.get_vector_affinity = vcx_get_vector_affinity,
	.mmap = vcx_mmap,
	.modify_device = vcx_modify_device,
	.modify_qp = vcx_modify_qp,
	.poll_cq = vcx_poll_cq,
	.post_recv = vcx_post_recv,
	.post_send = vcx_post_send,
	.query_ah = vcx_query_ah,
	.query_device = vcx_query_device,
	.query_gid = vcx_query_gid,
	.query_pkey = vcx_query_pkey,
	.query_port = vcx_query_port,
	.query_qp = vcx_query_qp,
	.reg_user_mr = vcx_reg_user_mr,
	.req_notify_cq = vcx_req_notify_cq,
	.rereg_user_mr = vcx_rereg_user_mr,

	INIT_RDMA_OBJ_SIZE(ib_ah, vcx_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, vcx_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, vcx_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, vcx_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, vcx_ucontext, ibucontext),
};

static const struct ib_device_ops vcx_moderation_ops = {
	.modify_cq = vcx_modify_cq,
};

static const struct ib_device_ops vcx_resize_ops = {
	.resize_cq = vcx_resize_cq,
};

static const struct ib_device_ops vcx_counter_ops = {
	.alloc_hw_port_stats = vcx_alloc_hw_port_stats,
	.get_hw_stats = vcx_get_hw_stats,
};

/* A node without a name of its own is called after the host. */
static int vcx_init_node_desc(struct vcx_dev *dev)
{
	char *desc = dev->ibdev.node_desc;
	int err;

	BUILD_BUG_ON(IB_DEVICE_NODE_DESC_MAX != VCX_NODE_DESC_BYTES);
	err = vcx_fw_query_node_desc(dev, desc);
	if (!err && !desc[0])
		strscpy(desc, init_utsname()->nodename,
			IB_DEVICE_NODE_DESC_MAX);
	return err;
}

static int vcx_init_ibdev(struct vcx_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;
	struct vcx_port_info info;
	int err;

	err = vcx_fw_query_port(dev, &info);
	if (err)
		return err;
	err = vcx_init_node_desc(dev);
	if (err)
		return err;
	dev->system_guid = info.system_guid;
	ibdev->node_guid = cpu_to_be64(info.node_guid);
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = dev->caps.num_ports;
	ibdev->num_comp_vectors = dev->num_comp_eqs;
	ibdev->dev.parent = &dev->pdev->dev;

	ib_set_device_ops(ibdev, &vcx_ops);
	if (dev->caps.cq_moderation)
		ib_set_device_ops(ibdev, &vcx_moderation_ops);
	if (dev->caps.cq_resize)
		ib_set_device_ops(ibdev, &vcx_resize_ops);
	if (dev->has_counter_set)
		ib_set_device_ops(ibdev, &vcx_counter_ops);
	return 0;
}

int vcx_ib_register(struct vcx_dev *dev)
{
	int err;

	xa_init_flags(&dev->qps, XA_FLAGS_LOCK_IRQ);
	vcx_counters_init(dev);
	err = vcx_init_ibdev(dev);
	if (err)
		goto err_counters;
	WRITE_ONCE(dev->ib_registered, true);
	err = ib_register_device(&dev->ibdev, "vcx%d", &dev->pdev->dev);
	if (err)
		goto err_flag;
	/* Pairs with vcx_may_dispatch(). */
	smp_store_release(&dev->ib_events, true);
	return 0;

err_flag:
	WRITE_ONCE(dev->ib_registered, false);
	flush_work(&dev->health.flush_work);
err_counters:
	vcx_counters_fini(dev);
	return err;
}

void vcx_ib_unregister(struct vcx_dev *dev)
{
	/* The core forgets the device: no event may be on its way to it. */
	WRITE_ONCE(dev->ib_events, false);
	synchronize_irq(dev->irqs[0].irq);
	flush_work(&dev->health.fatal_work);

	ib_unregister_device(&dev->ibdev);

	WRITE_ONCE(dev->ib_registered, false);
	flush_work(&dev->health.flush_work);
	vcx_counters_fini(dev);
}
