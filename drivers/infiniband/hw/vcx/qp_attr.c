// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp_attr.c - verbs attributes of a queue pair <-> its hardware context.
 *
 * Which attributes a transition needs and admits is checked by
 * ib_modify_qp_is_ok(). Here a transition carries everything that has been set
 * so far; the device takes what the transition requires, and beyond that only
 * what the mask of optional parameters names.
 */
#include <linux/log2.h>
#include <vcx/cmd.h>

#include "fw.h"
#include "qp_attr.h"
#include "vcx.h"

#define VCX_MAX_SL		15
#define VCX_MAX_PATH_BITS	0x7f
#define VCX_MAX_TIMER		31	/* five bits */
#define VCX_MAX_RETRY		7

/* What the paths of queue pairs and address handles have in common. */
int vcx_path_check(const struct vcx_caps *caps, const struct rdma_ah_attr *ah)
{
	if (ah->type != RDMA_AH_ATTR_TYPE_IB ||
	    rdma_ah_get_port_num(ah) != VCX_PORT ||
	    rdma_ah_get_sl(ah) > VCX_MAX_SL ||
	    rdma_ah_get_path_bits(ah) > VCX_MAX_PATH_BITS)
		return -EINVAL;
	if (rdma_ah_get_ah_flags(ah) & IB_AH_GRH &&
	    rdma_ah_read_grh(ah)->sgid_index >= caps->num_gids)
		return -EINVAL;
	return 0;
}

/* Whether the device can do what the attributes say. */
int vcx_qp_attr_check(const struct vcx_caps *caps,
		      const struct ib_qp_attr *attr, int mask)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS || mask & IB_QP_ALT_PATH)
		return -EOPNOTSUPP;
	if (mask & IB_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;

	/*
	 * Any right may be granted: one for which there is no operation (atomics)
	 * is never used, and a peer that tries is refused.
	 */
	if ((mask & IB_QP_PORT && attr->port_num != VCX_PORT) ||
	    (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= caps->num_pkeys) ||
	    (mask & IB_QP_PATH_MTU && (attr->path_mtu < IB_MTU_256 ||
				       attr->path_mtu > IB_MTU_4096)) ||
	    (mask & IB_QP_TIMEOUT && attr->timeout > VCX_MAX_TIMER) ||
	    (mask & IB_QP_MIN_RNR_TIMER &&
	     attr->min_rnr_timer > VCX_MAX_TIMER) ||
	    (mask & IB_QP_RETRY_CNT && attr->retry_cnt > VCX_MAX_RETRY) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > VCX_MAX_RETRY) ||
	    (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	     attr->max_rd_atomic > caps->max_reads_out) ||
	    (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	     attr->max_dest_rd_atomic > caps->max_reads_in))
		return -EINVAL;
	if (mask & IB_QP_AV)
		return vcx_path_check(caps, &attr->ah_attr);
	return 0;
}

/* Sets in *to what the mask names. */
void vcx_qp_attr_merge(struct ib_qp_attr *to, const struct ib_qp_attr *from,
		       int mask)
{
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & IB_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IB_QP_AV)
		to->ah_attr = from->ah_attr;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = from->sq_psn;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
}

/* The command of a transition that ib_modify_qp_is_ok() admits. */
u16 vcx_qp_opcode(enum ib_qp_state from, enum ib_qp_state to)
{
	static const u16 opcode[IB_QPS_ERR + 1][IB_QPS_ERR + 1] = {
		[IB_QPS_RESET][IB_QPS_INIT] = VCX_CMD_RST2INIT_QP,
		[IB_QPS_INIT][IB_QPS_INIT] = VCX_CMD_INIT2INIT_QP,
		[IB_QPS_INIT][IB_QPS_RTR] = VCX_CMD_INIT2RTR_QP,
		[IB_QPS_RTR][IB_QPS_RTS] = VCX_CMD_RTR2RTS_QP,
		[IB_QPS_RTS][IB_QPS_RTS] = VCX_CMD_RTS2RTS_QP,
		[IB_QPS_RTS][IB_QPS_SQD] = VCX_CMD_RTS2SQD_QP,
		[IB_QPS_SQD][IB_QPS_RTS] = VCX_CMD_SQD2RTS_QP,
	};

	if (from > IB_QPS_ERR || to > IB_QPS_ERR)
		return VCX_QP_NO_OPCODE;
	if (to == IB_QPS_RESET)
		return VCX_CMD_2RST_QP;
	if (to == IB_QPS_ERR)
		return VCX_CMD_2ERR_QP;
	return opcode[from][to];
}

bool vcx_qp_opcode_has_context(u16 opcode)
{
	return opcode != VCX_CMD_2RST_QP && opcode != VCX_CMD_2ERR_QP &&
	       opcode != VCX_CMD_RTS2SQD_QP;
}

/* The optional parameters that a command admits and the mask contains. */
u32 vcx_qp_opt_mask(u16 opcode, int mask)
{
	const u32 access = VCX_QP_OPT_RRE | VCX_QP_OPT_RWE | VCX_QP_OPT_RAE;
	u32 given = 0, admitted;

	switch (opcode) {
	case VCX_CMD_INIT2INIT_QP:
	case VCX_CMD_INIT2RTR_QP:
		admitted = access | VCX_QP_OPT_PKEY_INDEX;
		break;
	case VCX_CMD_RTR2RTS_QP:
	case VCX_CMD_RTS2RTS_QP:
	case VCX_CMD_SQD2RTS_QP:
		admitted = access | VCX_QP_OPT_MIN_RNR_NAK;
		break;
	default:
		return 0;
	}
	/* Reads are let in by the access flag and by their number. */
	if (mask & (IB_QP_ACCESS_FLAGS | IB_QP_MAX_DEST_RD_ATOMIC))
		given |= access;
	if (mask & IB_QP_PKEY_INDEX)
		given |= VCX_QP_OPT_PKEY_INDEX;
	if (mask & IB_QP_MIN_RNR_TIMER)
		given |= VCX_QP_OPT_MIN_RNR_NAK;
	return given & admitted;
}

static struct vcx_ads *vcx_qpc_path(struct vcx_qpc *qpc)
{
	return (struct vcx_ads *)&qpc->dw[VCX_QPC_PRIMARY_PATH_DW];
}

static void vcx_qp_path_to_ads(const struct ib_qp_attr *attr,
			       struct vcx_ads *ads)
{
	const struct rdma_ah_attr *ah = &attr->ah_attr;
	const struct ib_global_route *grh;

	VCX_SET(ads, VCX_ADS_PKEY_INDEX, attr->pkey_index);
	VCX_SET(ads, VCX_ADS_PORT, attr->port_num);
	VCX_SET(ads, VCX_ADS_ACK_TIMEOUT, attr->timeout);
	if (ah->type != RDMA_AH_ATTR_TYPE_IB)
		return;		/* not set yet */

	/* The port has one rate; stat_rate stays 0, no limit. */
	VCX_SET(ads, VCX_ADS_RLID, rdma_ah_get_dlid(ah));
	VCX_SET(ads, VCX_ADS_MLID, rdma_ah_get_path_bits(ah));
	VCX_SET(ads, VCX_ADS_SL, rdma_ah_get_sl(ah));
	if (!(rdma_ah_get_ah_flags(ah) & IB_AH_GRH))
		return;
	grh = rdma_ah_read_grh(ah);
	VCX_SET(ads, VCX_ADS_GRH, 1);
	VCX_SET(ads, VCX_ADS_SRC_ADDR_INDEX, grh->sgid_index);
	VCX_SET(ads, VCX_ADS_HOP_LIMIT, grh->hop_limit);
	VCX_SET(ads, VCX_ADS_TCLASS, grh->traffic_class);
	VCX_SET(ads, VCX_ADS_FLOW_LABEL, grh->flow_label);
	memcpy(&ads->dw[VCX_ADS_RGID_DW], grh->dgid.raw, sizeof(grh->dgid));
}

/* The responder's depth is rounded up, the requester's is never exceeded. */
static u32 vcx_log_depth_in(u8 reads)
{
	return reads ? order_base_2(reads) : 0;
}

static u32 vcx_log_depth_out(u8 reads)
{
	return reads ? ilog2(reads) : 0;
}

void vcx_qp_attr_to_qpc(const struct vcx_caps *caps,
			const struct ib_qp_attr *attr, struct vcx_qpc *qpc)
{
	int access = attr->qp_access_flags;
	bool reads;

	VCX_SET(qpc, VCX_QPC_ST, VCX_QP_ST_RC);
	VCX_SET(qpc, VCX_QPC_PM_STATE, VCX_QP_PM_MIGRATED);
	VCX_SET(qpc, VCX_QPC_MTU, attr->path_mtu);
	VCX_SET(qpc, VCX_QPC_LOG_MSG_MAX, caps->log_max_msg);
	VCX_SET(qpc, VCX_QPC_REMOTE_QPN, attr->dest_qp_num);
	VCX_SET(qpc, VCX_QPC_LOG_SRA_MAX,
		vcx_log_depth_out(attr->max_rd_atomic));
	VCX_SET(qpc, VCX_QPC_LOG_RRA_MAX,
		vcx_log_depth_in(attr->max_dest_rd_atomic));
	VCX_SET(qpc, VCX_QPC_RETRY_COUNT, attr->retry_cnt);
	VCX_SET(qpc, VCX_QPC_RNR_RETRY, attr->rnr_retry);
	VCX_SET(qpc, VCX_QPC_NEXT_SEND_PSN, attr->sq_psn);
	VCX_SET(qpc, VCX_QPC_NEXT_RCV_PSN, attr->rq_psn);
	VCX_SET(qpc, VCX_QPC_MIN_RNR_NAK, attr->min_rnr_timer);
	VCX_SET(qpc, VCX_QPC_RWE, !!(access & IB_ACCESS_REMOTE_WRITE));
	/* A depth of zero cannot be said in a logarithm. */
	reads = access & IB_ACCESS_REMOTE_READ && attr->max_dest_rd_atomic;
	VCX_SET(qpc, VCX_QPC_RRE, reads);
	vcx_qp_path_to_ads(attr, vcx_qpc_path(qpc));
}

enum ib_qp_state vcx_qpc_to_state(const struct vcx_qpc *qpc)
{
	switch (VCX_GET(qpc, VCX_QPC_STATE)) {
	case VCX_QP_STATE_RST:
		return IB_QPS_RESET;
	case VCX_QP_STATE_INIT:
		return IB_QPS_INIT;
	case VCX_QP_STATE_RTR:
		return IB_QPS_RTR;
	case VCX_QP_STATE_RTS:
		return IB_QPS_RTS;
	case VCX_QP_STATE_SQER:
		return IB_QPS_SQE;
	case VCX_QP_STATE_SQD:
	case VCX_QP_STATE_SQ_DRAINING:
		return IB_QPS_SQD;
	default:
		return IB_QPS_ERR;
	}
}

static void vcx_ads_to_path(const struct vcx_ads *ads, struct ib_qp_attr *attr)
{
	struct rdma_ah_attr *ah = &attr->ah_attr;
	union ib_gid dgid;

	attr->pkey_index = VCX_GET(ads, VCX_ADS_PKEY_INDEX);
	attr->port_num = VCX_GET(ads, VCX_ADS_PORT);
	attr->timeout = VCX_GET(ads, VCX_ADS_ACK_TIMEOUT);

	memset(ah, 0, sizeof(*ah));
	ah->type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_port_num(ah, attr->port_num);
	rdma_ah_set_dlid(ah, VCX_GET(ads, VCX_ADS_RLID));
	rdma_ah_set_path_bits(ah, VCX_GET(ads, VCX_ADS_MLID));
	rdma_ah_set_sl(ah, VCX_GET(ads, VCX_ADS_SL));
	if (!VCX_GET(ads, VCX_ADS_GRH))
		return;
	memcpy(dgid.raw, &ads->dw[VCX_ADS_RGID_DW], sizeof(dgid));
	rdma_ah_set_grh(ah, &dgid, VCX_GET(ads, VCX_ADS_FLOW_LABEL),
			VCX_GET(ads, VCX_ADS_SRC_ADDR_INDEX),
			VCX_GET(ads, VCX_ADS_HOP_LIMIT),
			VCX_GET(ads, VCX_ADS_TCLASS));
}

/*
 * Overwrites what the context says exactly. The depths of reads, which it
 * rounds, and the access flags, which depend on them, stay as they were set.
 */
void vcx_qpc_to_attr(const struct vcx_qpc *qpc, struct ib_qp_attr *attr)
{
	attr->qp_state = vcx_qpc_to_state(qpc);
	attr->cur_qp_state = attr->qp_state;
	attr->sq_draining =
		VCX_GET(qpc, VCX_QPC_STATE) == VCX_QP_STATE_SQ_DRAINING;
	attr->path_mtu = VCX_GET(qpc, VCX_QPC_MTU);
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->rq_psn = VCX_GET(qpc, VCX_QPC_NEXT_RCV_PSN);
	attr->sq_psn = VCX_GET(qpc, VCX_QPC_NEXT_SEND_PSN);
	attr->dest_qp_num = VCX_GET(qpc, VCX_QPC_REMOTE_QPN);
	attr->min_rnr_timer = VCX_GET(qpc, VCX_QPC_MIN_RNR_NAK);
	attr->retry_cnt = VCX_GET(qpc, VCX_QPC_RETRY_COUNT);
	attr->rnr_retry = VCX_GET(qpc, VCX_QPC_RNR_RETRY);
	vcx_ads_to_path(vcx_qpc_path((struct vcx_qpc *)qpc), attr);
}
