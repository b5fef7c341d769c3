/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * cap.h - general device capabilities, port context and access registers.
 * (PRM: HCA Capabilities, HCA vPort Context, Register Access)
 */
#ifndef VCX_CAP_H
#define VCX_CAP_H

#include "types.h"

/* op_mod of QUERY_HCA_CAP is VCX_CAP_OP_MOD(type, mode). */
#define VCX_CAP_OP_MOD(type, mode) ((type) << 1 | (mode))
#define VCX_CAP_MODE_MAX	0
#define VCX_CAP_MODE_CURRENT	1

enum vcx_cap_type {
	VCX_CAP_GENERAL		= 0x00,
};

struct vcx_hca_cap {		/* VCX_CAP_GENERAL */
	vcx_be32 dw[1024];
};
VCX_SIZE(vcx_hca_cap, 0x1000);

#define VCX_CAP_LOG_MAX_SRQ_SZ	VCX_FIELD(vcx_hca_cap, 0x010, 31, 24)
#define VCX_CAP_LOG_MAX_QP_SZ	VCX_FIELD(vcx_hca_cap, 0x010, 23, 16)
#define VCX_CAP_LOG_MAX_QP	VCX_FIELD(vcx_hca_cap, 0x010, 4, 0)
#define VCX_CAP_LOG_MAX_SRQ	VCX_FIELD(vcx_hca_cap, 0x014, 20, 16)
#define VCX_CAP_LOG_MAX_CQ_SZ	VCX_FIELD(vcx_hca_cap, 0x018, 23, 16)
#define VCX_CAP_LOG_MAX_CQ	VCX_FIELD(vcx_hca_cap, 0x018, 4, 0)
#define VCX_CAP_LOG_MAX_EQ_SZ	VCX_FIELD(vcx_hca_cap, 0x01c, 31, 24)
#define VCX_CAP_LOG_MAX_MKEY	VCX_FIELD(vcx_hca_cap, 0x01c, 21, 16)
#define VCX_CAP_LOG_MAX_EQ	VCX_FIELD(vcx_hca_cap, 0x01c, 3, 0)
#define VCX_CAP_LOG_MAX_MRW_SZ	VCX_FIELD(vcx_hca_cap, 0x020, 22, 16)
#define VCX_CAP_LOG_MAX_KLM_LIST VCX_FIELD(vcx_hca_cap, 0x020, 5, 0)
#define VCX_CAP_LOG_MAX_RA_REQ_QP VCX_FIELD(vcx_hca_cap, 0x028, 21, 16)
#define VCX_CAP_LOG_MAX_RA_RES_QP VCX_FIELD(vcx_hca_cap, 0x028, 5, 0)
#define VCX_CAP_GID_TABLE_SIZE	VCX_FIELD(vcx_hca_cap, 0x02c, 15, 0)
#define VCX_CAP_OUT_OF_SEQ_CNT	VCX_FIELD(vcx_hca_cap, 0x030, 31, 31)
#define VCX_CAP_RETRANS_COUNTERS VCX_FIELD(vcx_hca_cap, 0x030, 29, 29)
#define VCX_CAP_MAX_QP_CNT	VCX_FIELD(vcx_hca_cap, 0x030, 25, 16)
#define VCX_CAP_PKEY_TABLE_SIZE	VCX_FIELD(vcx_hca_cap, 0x030, 15, 0)
#define VCX_CAP_IB_VIRT		VCX_FIELD(vcx_hca_cap, 0x034, 29, 29)
#define VCX_CAP_LOCAL_CA_ACK_DELAY VCX_FIELD(vcx_hca_cap, 0x034, 20, 16)
#define VCX_CAP_ENHANCED_ERR_COUNTERS VCX_FIELD(vcx_hca_cap, 0x034, 14, 14)
#define VCX_CAP_PORT_TYPE	VCX_FIELD(vcx_hca_cap, 0x034, 9, 8)
#define VCX_CAP_NUM_PORTS	VCX_FIELD(vcx_hca_cap, 0x034, 7, 0)
#define VCX_CAP_LOG_MAX_MSG	VCX_FIELD(vcx_hca_cap, 0x038, 28, 24)
#define VCX_CAP_STAT_RATE	VCX_FIELD(vcx_hca_cap, 0x03c, 31, 16)
#define VCX_CAP_CQE_VERSION	VCX_FIELD(vcx_hca_cap, 0x03c, 3, 0)
#define VCX_CAP_UMR_SIZE_DISABLED VCX_FIELD(vcx_hca_cap, 0x040, 24, 24)
#define VCX_CAP_CMDIF_CHECKSUM	VCX_FIELD(vcx_hca_cap, 0x040, 15, 14)
#define VCX_CAP_ATOMIC		VCX_FIELD(vcx_hca_cap, 0x040, 1, 1)
#define VCX_CAP_CQ_OI		VCX_FIELD(vcx_hca_cap, 0x044, 31, 31)
#define VCX_CAP_CQ_RESIZE	VCX_FIELD(vcx_hca_cap, 0x044, 30, 30)
#define VCX_CAP_CQ_MODERATION	VCX_FIELD(vcx_hca_cap, 0x044, 29, 29)
#define VCX_CAP_XRC		VCX_FIELD(vcx_hca_cap, 0x044, 3, 3)
#define VCX_CAP_UD		VCX_FIELD(vcx_hca_cap, 0x044, 2, 2)
#define VCX_CAP_UC		VCX_FIELD(vcx_hca_cap, 0x044, 1, 1)
#define VCX_CAP_RC		VCX_FIELD(vcx_hca_cap, 0x044, 0, 0)
#define VCX_CAP_UAR_SZ		VCX_FIELD(vcx_hca_cap, 0x048, 21, 16)
#define VCX_CAP_LOG_PG_SZ	VCX_FIELD(vcx_hca_cap, 0x048, 7, 0)
#define VCX_CAP_BF		VCX_FIELD(vcx_hca_cap, 0x04c, 31, 31)
#define VCX_CAP_MKEY_BY_NAME	VCX_FIELD(vcx_hca_cap, 0x04c, 25, 25)
#define VCX_CAP_LOG_BF_REG_SIZE	VCX_FIELD(vcx_hca_cap, 0x04c, 20, 16)
#define VCX_CAP_MAX_WQE_SZ_SQ	VCX_FIELD(vcx_hca_cap, 0x050, 15, 0)
#define VCX_CAP_MAX_WQE_SZ_RQ	VCX_FIELD(vcx_hca_cap, 0x054, 15, 0)
#define VCX_CAP_LOG_MAX_PD	VCX_FIELD(vcx_hca_cap, 0x064, 20, 16)
#define VCX_CAP_LOG_MAX_XRCD	VCX_FIELD(vcx_hca_cap, 0x064, 4, 0)
#define VCX_CAP_MAX_NUM_EQS	VCX_FIELD(vcx_hca_cap, 0x08c, 15, 0)
#define VCX_CAP_LOG_UAR_PAGE_SZ	VCX_FIELD(vcx_hca_cap, 0x090, 15, 0)

#define VCX_CAP_PORT_TYPE_IB	0
#define VCX_CAP_PORT_TYPE_ETH	1

/* gid_table_size n stands for 8 << n entries, pkey_table_size for 128 << n. */
#define VCX_CAP_GIDS(n)		(8u << (n))
#define VCX_CAP_PKEYS(n)	(128u << (n))

/* ---- Port context of an InfiniBand port ---------------------------------- */

struct vcx_hca_vport_context {
	vcx_be32 dw[128];
};
VCX_SIZE(vcx_hca_vport_context, 0x200);

#define VCX_VPORT_HAS_SMI	VCX_FIELD(vcx_hca_vport_context, 0x20, 30, 30)
#define VCX_VPORT_GRH_REQUIRED	VCX_FIELD(vcx_hca_vport_context, 0x20, 28, 28)
#define VCX_VPORT_PHYS_STATE	VCX_FIELD(vcx_hca_vport_context, 0x20, 15, 12)
#define VCX_VPORT_PORT_STATE	VCX_FIELD(vcx_hca_vport_context, 0x20, 7, 4)
#define VCX_VPORT_STATE		VCX_FIELD(vcx_hca_vport_context, 0x20, 3, 0)
#define VCX_VPORT_SYSTEM_GUID	VCX_FIELD64(vcx_hca_vport_context, 0x28)
#define VCX_VPORT_PORT_GUID	VCX_FIELD64(vcx_hca_vport_context, 0x30)
#define VCX_VPORT_NODE_GUID	VCX_FIELD64(vcx_hca_vport_context, 0x38)
#define VCX_VPORT_CAP_MASK1	VCX_FIELD(vcx_hca_vport_context, 0x40, 31, 0)
#define VCX_VPORT_CAP_MASK2	VCX_FIELD(vcx_hca_vport_context, 0x48, 31, 0)
#define VCX_VPORT_LID		VCX_FIELD(vcx_hca_vport_context, 0x60, 31, 16)
#define VCX_VPORT_LMC		VCX_FIELD(vcx_hca_vport_context, 0x60, 7, 5)
#define VCX_VPORT_SUBNET_TIMEOUT VCX_FIELD(vcx_hca_vport_context, 0x60, 4, 0)
#define VCX_VPORT_SM_LID	VCX_FIELD(vcx_hca_vport_context, 0x64, 31, 16)
#define VCX_VPORT_SM_SL		VCX_FIELD(vcx_hca_vport_context, 0x64, 15, 12)
#define VCX_VPORT_QKEY_VIOLATIONS VCX_FIELD(vcx_hca_vport_context, 0x68, 31, 16)
#define VCX_VPORT_PKEY_VIOLATIONS VCX_FIELD(vcx_hca_vport_context, 0x68, 15, 0)

#define VCX_PORT_STATE_DOWN	1	/* VCX_VPORT_PORT_STATE and _STATE */
#define VCX_PORT_STATE_INIT	2
#define VCX_PORT_STATE_ARMED	3
#define VCX_PORT_STATE_ACTIVE	4
#define VCX_PORT_PHYS_POLLING	2	/* VCX_VPORT_PHYS_STATE */
#define VCX_PORT_PHYS_LINK_UP	5

/* ---- Registers of ACCESS_REG ---------------------------------------------- */

enum vcx_register {
	VCX_REG_PMTU		= 0x5003,
	VCX_REG_PTYS		= 0x5004,
	VCX_REG_PVLC		= 0x500f,
	VCX_REG_NODE_DESC	= 0x6001,
	VCX_REG_HOST_ENDIANNESS	= 0x7004,
	VCX_REG_DTOR		= 0xc00e,
};

#define VCX_ACCESS_REG_WRITE	0	/* op_mod */
#define VCX_ACCESS_REG_READ	1

#define VCX_NODE_DESC_BYTES	64

struct vcx_reg_ptys {
	vcx_be32 dw[16];
};
VCX_SIZE(vcx_reg_ptys, 0x40);

#define VCX_PTYS_LOCAL_PORT	VCX_FIELD(vcx_reg_ptys, 0x00, 23, 16)
#define VCX_PTYS_PROTO_MASK	VCX_FIELD(vcx_reg_ptys, 0x00, 2, 0)
#define VCX_PTYS_IB_WIDTH_CAP	VCX_FIELD(vcx_reg_ptys, 0x10, 31, 16)
#define VCX_PTYS_IB_PROTO_CAP	VCX_FIELD(vcx_reg_ptys, 0x10, 15, 0)
#define VCX_PTYS_IB_WIDTH_ADMIN	VCX_FIELD(vcx_reg_ptys, 0x1c, 31, 16)
#define VCX_PTYS_IB_PROTO_ADMIN	VCX_FIELD(vcx_reg_ptys, 0x1c, 15, 0)
#define VCX_PTYS_IB_WIDTH_OPER	VCX_FIELD(vcx_reg_ptys, 0x28, 31, 16)
#define VCX_PTYS_IB_PROTO_OPER	VCX_FIELD(vcx_reg_ptys, 0x28, 15, 0)

#define VCX_PTYS_PROTO_IB	1
#define VCX_PTYS_WIDTH_4X	4
#define VCX_PTYS_SPEED_EDR	32

struct vcx_reg_pmtu {
	vcx_be32 dw[4];
};
VCX_SIZE(vcx_reg_pmtu, 0x10);

#define VCX_PMTU_LOCAL_PORT	VCX_FIELD(vcx_reg_pmtu, 0x00, 23, 16)
#define VCX_PMTU_MAX		VCX_FIELD(vcx_reg_pmtu, 0x04, 31, 16) /* bytes */
#define VCX_PMTU_ADMIN		VCX_FIELD(vcx_reg_pmtu, 0x08, 31, 16)
#define VCX_PMTU_OPER		VCX_FIELD(vcx_reg_pmtu, 0x0c, 31, 16)

struct vcx_reg_pvlc {
	vcx_be32 dw[4];
};
VCX_SIZE(vcx_reg_pvlc, 0x10);

#define VCX_PVLC_LOCAL_PORT	VCX_FIELD(vcx_reg_pvlc, 0x00, 23, 16)
#define VCX_PVLC_HW_CAP		VCX_FIELD(vcx_reg_pvlc, 0x04, 3, 0) /* VLs */
#define VCX_PVLC_ADMIN		VCX_FIELD(vcx_reg_pvlc, 0x08, 3, 0)
#define VCX_PVLC_OPERATIONAL	VCX_FIELD(vcx_reg_pvlc, 0x0c, 3, 0)

#endif /* VCX_CAP_H */
