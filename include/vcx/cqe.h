/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * cqe.h - completion queue entries. (PRM: Completion Queue Entry Format)
 *
 * An entry belongs to software when its owner bit equals the parity of the
 * lap (0 in the first) and its opcode is not VCX_CQE_INVALID. Software fills a
 * new queue with VCX_CQE_INVALID; the device never initialises it. In a queue
 * of 128-byte entries the format below is the second half of an entry.
 */
#ifndef VCX_CQE_H
#define VCX_CQE_H

#include "types.h"

#define VCX_CQE_BYTES		64

enum vcx_cqe_opcode {
	VCX_CQE_REQ		= 0x0,	/* a send WQE is complete */
	VCX_CQE_RESP_WRITE_IMM	= 0x1,
	VCX_CQE_RESP_SEND	= 0x2,
	VCX_CQE_RESP_SEND_IMM	= 0x3,
	VCX_CQE_RESP_SEND_INV	= 0x4,
	VCX_CQE_RESIZE		= 0x5,	/* go on in the new buffer */
	VCX_CQE_REQ_ERR		= 0xd,
	VCX_CQE_RESP_ERR	= 0xe,
	VCX_CQE_INVALID		= 0xf,
};

/* IBA completion status of an error entry. */
enum vcx_cqe_syndrome {
	VCX_SYNDROME_LOCAL_LENGTH	= 0x01,
	VCX_SYNDROME_LOCAL_QP_OP	= 0x02,
	VCX_SYNDROME_LOCAL_PROTECTION	= 0x04,
	VCX_SYNDROME_FLUSHED		= 0x05,
	VCX_SYNDROME_MW_BIND		= 0x06,
	VCX_SYNDROME_BAD_RESPONSE	= 0x10,
	VCX_SYNDROME_LOCAL_ACCESS	= 0x11,
	VCX_SYNDROME_REMOTE_INVALID_REQ	= 0x12,
	VCX_SYNDROME_REMOTE_ACCESS	= 0x13,
	VCX_SYNDROME_REMOTE_OP		= 0x14,
	VCX_SYNDROME_RETRY_EXCEEDED	= 0x15,
	VCX_SYNDROME_RNR_EXCEEDED	= 0x16,
	VCX_SYNDROME_ABORTED		= 0x22,
};

struct vcx_cqe {
	__u8		rsvd_00[17];
	__u8		ml_path;
	__u8		rsvd_12[4];
	vcx_be16	slid;
	vcx_be32	flags_rqpn;	/* grh 29..28, sl 27..24, source 23..0 */
	__u8		rsvd_1c[4];
	vcx_be32	srqn_uidx;	/* 23..0: SRQN or user index */
	vcx_be32	imm_inval_pkey;
	__u8		rsvd_28[4];
	vcx_be32	byte_count;
	vcx_be64	timestamp;	/* ns since the device was made */
	vcx_be32	sop_qpn;	/* send opcode 31..24, QPN 23..0 */
	vcx_be16	wqe_counter;	/* index in the control segment */
	__u8		signature;
	__u8		op_own;		/* VCX_CQE_OP_* */
};
VCX_AT(vcx_cqe, slid, 0x16);
VCX_AT(vcx_cqe, srqn_uidx, 0x20);
VCX_AT(vcx_cqe, byte_count, 0x2c);
VCX_AT(vcx_cqe, op_own, 0x3f);
VCX_SIZE(vcx_cqe, 64);

/* The same entry when the opcode is VCX_CQE_REQ_ERR or VCX_CQE_RESP_ERR. */
struct vcx_err_cqe {
	__u8		rsvd_00[32];
	vcx_be32	srqn_uidx;
	__u8		rsvd_24[18];
	__u8		vendor_syndrome; /* VCX_VENDOR_* below */
	__u8		syndrome;	/* enum vcx_cqe_syndrome */
	vcx_be32	sop_qpn;
	vcx_be16	wqe_counter;
	__u8		signature;
	__u8		op_own;
};
VCX_AT(vcx_err_cqe, vendor_syndrome, 0x36);
VCX_SIZE(vcx_err_cqe, 64);

/*
 * Why, more precisely than the syndrome. Zero where the syndrome says it all.
 * These numbers are vcx's own.
 */
enum vcx_vendor_syndrome {
	VCX_VENDOR_NONE			= 0x00,
	VCX_VENDOR_WQE_UNREADABLE	= 0x01,	/* DMA error in the queue */
	VCX_VENDOR_WQE_SIZE		= 0x02,	/* ds too small or too large */
	VCX_VENDOR_WQE_OPCODE		= 0x03,	/* unknown, or not for this QP */
	VCX_VENDOR_WQE_SEGMENT		= 0x04,	/* segments do not fit the opcode */
	VCX_VENDOR_MESSAGE_TOO_LONG	= 0x05,
	VCX_VENDOR_KEY_INVALID		= 0x10,	/* no such key, or a stale variant */
	VCX_VENDOR_KEY_FREE		= 0x11,
	VCX_VENDOR_KEY_PD		= 0x12,	/* key of another PD or QP */
	VCX_VENDOR_KEY_RIGHTS		= 0x13,
	VCX_VENDOR_KEY_BOUNDS		= 0x14,
	VCX_VENDOR_DMA			= 0x15,	/* the bus refused the address */
	VCX_VENDOR_RECEIVE_TOO_SHORT	= 0x20,
	VCX_VENDOR_PACKET_LENGTH	= 0x21,	/* flushed: the peer's packet lied */
	VCX_VENDOR_OPCODE_SEQUENCE	= 0x22,	/* flushed: and it came out of turn */
	VCX_VENDOR_READ_DEPTH		= 0x23,	/* flushed: more reads than log_rra_max */
	VCX_VENDOR_RESPONSE_LENGTH	= 0x24,
	VCX_VENDOR_RESPONSE_OPCODE	= 0x25,
	VCX_VENDOR_CQ_OVERRUN		= 0x30,	/* flushed: the QP's other CQ is full */
};

#define VCX_CQE_OP_OWN(op, solicited, owner)                                   \
	((__u8)((__u32)(op) << 4 | (__u32)(solicited) << 1 | (owner)))
#define VCX_CQE_OP(op_own)	((op_own) >> 4)
#define VCX_CQE_OP_SOLICITED	0x02
#define VCX_CQE_OP_OWNER	0x01
#define VCX_CQE_GRH_PRESENT	0x10000000u	/* in flags_rqpn */

#endif /* VCX_CQE_H */
