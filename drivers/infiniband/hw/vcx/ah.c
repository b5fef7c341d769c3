// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ah.c - address handles: the address vector that a datagram's WQE carries. The
 * device knows nothing of a handle, so making one neither sleeps nor takes
 * anything that could run out.
 */
#include <rdma/uverbs_ioctl.h>

#include "qp_attr.h"
#include "vcx.h"

#define VCX_FIRST_MULTICAST_LID	0xc000
#define VCX_PERMISSIVE_LID	0xffff

/* Multicast packets have a GRH (InfiniBand, 9.3 Local Route Header, DLID). */
static bool vcx_dlid_ok(const struct rdma_ah_attr *attr)
{
	u32 dlid = rdma_ah_get_dlid(attr);

	if (dlid < VCX_FIRST_MULTICAST_LID)
		return dlid;
	return dlid == VCX_PERMISSIVE_LID ||
	       rdma_ah_get_ah_flags(attr) & IB_AH_GRH;
}

/* Any rate that verbs know: none is slower than the port, which has one. */
static bool vcx_rate_ok(u8 rate)
{
	return rate == IB_RATE_PORT_CURRENT || ib_rate_to_mbps(rate) > 0;
}

static int vcx_ah_check(const struct vcx_caps *caps,
			const struct rdma_ah_attr *attr)
{
	if (!vcx_dlid_ok(attr) ||
	    !vcx_rate_ok(rdma_ah_get_static_rate(attr)))
		return -EINVAL;
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH &&
	    rdma_ah_read_grh(attr)->flow_label > VCX_WQE_GRH_FLOW_MASK)
		return -EINVAL;
	return vcx_path_check(caps, attr);
}

static void vcx_ah_to_av(const struct rdma_ah_attr *attr,
			 struct vcx_wqe_datagram *av)
{
	const struct ib_global_route *grh;

	memset(av, 0, sizeof(*av));
	av->ext_qpn = cpu_to_be32(VCX_WQE_DATAGRAM_EXT);
	av->stat_rate_sl = rdma_ah_get_sl(attr);
	av->fl_mlid = rdma_ah_get_path_bits(attr);
	av->rlid = cpu_to_be16(rdma_ah_get_dlid(attr));
	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return;
	grh = rdma_ah_read_grh(attr);
	av->tclass = grh->traffic_class;
	av->hop_limit = grh->hop_limit;
	av->grh = cpu_to_be32(VCX_WQE_GRH_PRESENT |
			      grh->sgid_index << VCX_WQE_GRH_SGID_SHIFT |
			      grh->flow_label);
	memcpy(av->rgid, grh->dgid.raw, sizeof(av->rgid));
}

int vcx_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata)
{
	struct vcx_dev *dev = to_vcx_dev(ibah->device);
	struct vcx_ah *ah = to_vcx_ah(ibah);
	int err;

	if (udata && udata->inlen &&
	    !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;
	err = vcx_ah_check(&dev->caps, init->ah_attr);
	if (err)
		return err;
	vcx_ah_to_av(init->ah_attr, &ah->av);
	/* Asked for, though the vector says "as fast as the port". */
	ah->static_rate = rdma_ah_get_static_rate(init->ah_attr);
	return 0;
}

int vcx_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	const struct vcx_ah *ah = to_vcx_ah(ibah);
	u32 grh = be32_to_cpu(ah->av.grh);
	union ib_gid dgid;

	memset(attr, 0, sizeof(*attr));
	attr->type = ibah->type;
	rdma_ah_set_port_num(attr, VCX_PORT);
	rdma_ah_set_dlid(attr, be16_to_cpu(ah->av.rlid));
	rdma_ah_set_sl(attr, ah->av.stat_rate_sl);
	rdma_ah_set_path_bits(attr, ah->av.fl_mlid);
	rdma_ah_set_static_rate(attr, ah->static_rate);
	if (!(grh & VCX_WQE_GRH_PRESENT))
		return 0;
	memcpy(dgid.raw, ah->av.rgid, sizeof(dgid));
	rdma_ah_set_grh(attr, &dgid, grh & VCX_WQE_GRH_FLOW_MASK,
			(grh >> VCX_WQE_GRH_SGID_SHIFT) & 0xff,
			ah->av.hop_limit, ah->av.tclass);
	return 0;
}

/* The core frees the handle; nothing else knows of it. */
int vcx_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
