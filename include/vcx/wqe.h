/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * wqe.h - work queue entries. (PRM: Work Request Format)
 *
 * A send WQE is a control segment and 16-byte units after it; it starts on a
 * 64-byte boundary of the send queue, takes whole 64-byte basic blocks, and
 * may wrap at the end of the queue. A receive WQE is an array of data segments
 * with the stride of the queue.
 */
#ifndef VCX_WQE_H
#define VCX_WQE_H

#include "types.h"

#define VCX_WQE_BB_BYTES	64	/* basic block of a send queue */
#define VCX_WQE_UNIT_BYTES	16	/* unit of ds and of segments */
#define VCX_WQE_MAX_BYTES	1008	/* ds has 6 bits */

enum vcx_wqe_opcode {
	VCX_WQE_NOP		= 0x00,
	VCX_WQE_SEND_INVAL	= 0x01,
	VCX_WQE_RDMA_WRITE	= 0x08,
	VCX_WQE_RDMA_WRITE_IMM	= 0x09,
	VCX_WQE_SEND		= 0x0a,
	VCX_WQE_SEND_IMM	= 0x0b,
	VCX_WQE_RDMA_READ	= 0x10,
	VCX_WQE_ATOMIC_CS	= 0x11,
	VCX_WQE_ATOMIC_FA	= 0x12,
	VCX_WQE_UMR		= 0x25,
};

struct vcx_wqe_ctrl {
	vcx_be32	opmod_idx_opcode; /* 31..24, 23..8, 7..0 */
	vcx_be32	qpn_ds;		/* QPN 31..8, units of 16 bytes 5..0 */
	__u8		signature;
	__u8		rsvd_09[2];
	__u8		fm_ce_se;	/* VCX_WQE_FM_*, _CE_*, _SE */
	vcx_be32	imm;		/* immediate data or key to invalidate */
};
VCX_SIZE(vcx_wqe_ctrl, 16);

#define VCX_WQE_CTRL_OPCODE(v)	((v) & 0xff)
#define VCX_WQE_CTRL_INDEX(v)	(((v) >> 8) & 0xffff)
#define VCX_WQE_CTRL_QPN(v)	((v) >> 8)
#define VCX_WQE_CTRL_DS(v)	((v) & 0x3f)

#define VCX_WQE_FM_MASK		0xe0
#define VCX_WQE_FM_NONE		0x00
#define VCX_WQE_FM_INITIATOR_SMALL 0x20	/* wait for prior local invalidates */
#define VCX_WQE_FM_FENCE	0x40	/* wait for prior reads and atomics */
#define VCX_WQE_FM_STRONG_ORDER	0x60	/* wait for everything before */
#define VCX_WQE_FM_SMALL_AND_FENCE 0x80
#define VCX_WQE_CE_MASK		0x0c
#define VCX_WQE_CE_ON_ERROR	0x00	/* unsignalled */
#define VCX_WQE_CE_ALWAYS	0x08	/* signalled */
#define VCX_WQE_CE_AND_EVENT	0x0c	/* signalled, and an event */
#define VCX_WQE_SE		0x02	/* solicited event at the receiver */

/* Remote address: RDMA write, read, atomics. */
struct vcx_wqe_raddr {
	vcx_be64	va;
	vcx_be32	rkey;
	__u8		rsvd_0c[4];
};
VCX_SIZE(vcx_wqe_raddr, 16);

/*
 * Where a datagram goes: Q_Key and number of the queue pair, and the address
 * vector of its port.
 */
struct vcx_wqe_datagram {
	vcx_be32	qkey;
	__u8		rsvd_04[4];
	vcx_be32	ext_qpn;	/* VCX_WQE_DATAGRAM_EXT | QPN 23..0 */
	__u8		stat_rate_sl;	/* static rate 7..4, service level 3..0 */
	__u8		fl_mlid;	/* force loopback 7, source path bits 6..0 */
	vcx_be16	rlid;
	__u8		rsvd_10[4];
	__u8		rmac[6];	/* Ethernet only */
	__u8		tclass;
	__u8		hop_limit;
	vcx_be32	grh;		/* VCX_WQE_GRH_*, flow label 19..0 */
	__u8		rgid[16];
};
VCX_AT(vcx_wqe_datagram, rlid, 0x0e);
VCX_AT(vcx_wqe_datagram, grh, 0x1c);
VCX_SIZE(vcx_wqe_datagram, 48);

#define VCX_WQE_DATAGRAM_EXT	0x80000000u /* all 48 bytes are there */
#define VCX_WQE_GRH_PRESENT	0x40000000u
#define VCX_WQE_GRH_SGID_SHIFT	20	/* index of the source GID, 8 bits */
#define VCX_WQE_GRH_FLOW_MASK	0x000fffffu

/* Data by reference: one scatter or gather entry. */
struct vcx_wqe_data {
	vcx_be32	byte_count;	/* below 2^31; 0 means 2^31 */
	vcx_be32	lkey;
	vcx_be64	va;
};
VCX_SIZE(vcx_wqe_data, 16);

/* Ends the list in a receive WQE; its byte count is zero. */
#define VCX_WQE_LKEY_TERMINATE	0x00000100u

/* Data by value: this word, then the bytes, padded to 16. */
struct vcx_wqe_inline {
	vcx_be32	byte_count;	/* VCX_WQE_INLINE | length */
};
VCX_SIZE(vcx_wqe_inline, 4);

#define VCX_WQE_INLINE		0x80000000u
#define VCX_WQE_INLINE_MASK	0x000003ffu

#endif /* VCX_WQE_H */
