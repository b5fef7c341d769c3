// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * gid.c - the port: its state, GIDs and P_Keys.
 */
#include "vcx.h"

static enum ib_mtu vcx_ib_mtu(u16 bytes)
{
	switch (bytes) {
	case 256:
		return IB_MTU_256;
	case 512:
		return IB_MTU_512;
	case 1024:
		return IB_MTU_1024;
	case 2048:
		return IB_MTU_2048;
	case 4096:
		return IB_MTU_4096;
	default:
		return 0;
	}
}

/* Link widths are numbered 1, 2, 4, 8 for 1X, 2X, 4X, 8X. */
static u8 vcx_ib_width(u16 width)
{
	switch (width) {
	case 2:
		return IB_WIDTH_2X;
	case VCX_PTYS_WIDTH_4X:
		return IB_WIDTH_4X;
	case 8:
		return IB_WIDTH_8X;
	default:
		return IB_WIDTH_1X;
	}
}

/* The verbs' VLCap: 1 to 5 for 1, 2, 4, 8 and 15 data lanes; 0: unknown. */
static u8 vcx_ib_vl_cap(u8 num_vls)
{
	return num_vls == 15 ? 5 : fls(num_vls);
}

int vcx_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct vcx_dev *dev = to_vcx_dev(ibdev);
	u16 max_mtu, active_mtu, width, speed;
	struct vcx_port_info info;
	u8 num_vls;
	int err;

	err = vcx_fw_query_port(dev, &info);
	if (!err)
		err = vcx_fw_query_mtu(dev, &max_mtu, &active_mtu);
	if (!err)
		err = vcx_fw_query_speed(dev, &width, &speed);
	if (!err)
		err = vcx_fw_query_vls(dev, &num_vls);
	if (err)
		return err;

	/* The interface numbers states and speeds as verbs do. */
	attr->state = info.state;
	attr->phys_state = info.phys_state;
	attr->active_width = vcx_ib_width(width);
	attr->active_speed = speed;
	attr->max_mtu = vcx_ib_mtu(max_mtu);
	attr->active_mtu = vcx_ib_mtu(active_mtu);
	attr->max_vl_num = vcx_ib_vl_cap(num_vls);
	attr->gid_tbl_len = dev->caps.num_gids;
	attr->pkey_tbl_len = dev->caps.num_pkeys;
	attr->max_msg_sz = BIT(dev->caps.log_max_msg);
	attr->port_cap_flags = info.cap_mask;
	attr->port_cap_flags2 = info.cap_mask2;
	attr->bad_pkey_cntr = info.pkey_violations;
	attr->qkey_viol_cntr = info.qkey_violations;
	attr->lid = info.lid;
	attr->lmc = info.lmc;
	attr->sm_lid = info.sm_lid;
	attr->sm_sl = info.sm_sl;
	attr->subnet_timeout = info.subnet_timeout;
	return 0;
}

int vcx_query_gid(struct ib_device *ibdev, u32 port, int index,
		  union ib_gid *gid)
{
	return vcx_fw_query_gid(to_vcx_dev(ibdev), index, gid->raw);
}

int vcx_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	return vcx_fw_query_pkey(to_vcx_dev(ibdev), index, pkey);
}

/*
 * An InfiniBand port without management: QP 0 and QP 1 do not exist, so that
 * MADs, the subnet administration and its users (CM, IPoIB) have no part.
 */
int vcx_get_port_immutable(struct ib_device *ibdev, u32 port,
			   struct ib_port_immutable *immutable)
{
	struct vcx_dev *dev = to_vcx_dev(ibdev);

	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	immutable->gid_tbl_len = dev->caps.num_gids;
	immutable->pkey_tbl_len = dev->caps.num_pkeys;
	return 0;
}
