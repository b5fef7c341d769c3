/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * cmd.h - the command queue: entries, mailboxes, opcodes, statuses. (PRM:
 * Command Interface)
 *
 * The first 16 bytes of a command and of its reply are in the entry; the rest
 * is in chains of mailboxes of 512 data bytes. How many mailboxes count is
 * decided by the length, a chain may be longer.
 */
#ifndef VCX_CMD_H
#define VCX_CMD_H

#include "types.h"

#define VCX_CMD_INLINE_BYTES	16
#define VCX_CMD_MAILBOX_BYTES	512

struct vcx_cmd_entry {
	__u8		type;		/* VCX_CMD_TYPE_PCIE */
	__u8		rsvd_01[3];
	vcx_be32	in_bytes;	/* of the whole command */
	vcx_be64	in_mailbox;	/* 0 when in_bytes <= 16 */
	__u8		in[VCX_CMD_INLINE_BYTES];
	__u8		out[VCX_CMD_INLINE_BYTES];
	vcx_be64	out_mailbox;
	vcx_be32	out_bytes;	/* the driver's room, the device's limit */
	__u8		token;		/* must stand in every mailbox too */
	__u8		signature;	/* not checked */
	__u8		rsvd_3e;
	__u8		status_own;	/* delivery status 7..1, owner bit 0 */
};
VCX_AT(vcx_cmd_entry, in, 0x10);
VCX_AT(vcx_cmd_entry, out_mailbox, 0x30);
VCX_SIZE(vcx_cmd_entry, 64);

#define VCX_CMD_TYPE_PCIE	0x07
#define VCX_CMD_OWNER_DEVICE	0x01

struct vcx_cmd_mailbox {
	__u8		data[VCX_CMD_MAILBOX_BYTES];
	__u8		rsvd_200[48];
	vcx_be64	next;		/* address of the next one, 0: none */
	vcx_be32	block_num;	/* 0, 1, ... along the chain */
	__u8		rsvd_23c;
	__u8		token;
	__u8		ctrl_signature;
	__u8		signature;
};
VCX_AT(vcx_cmd_mailbox, next, 0x230);
VCX_SIZE(vcx_cmd_mailbox, 576);

#define VCX_CMD_MAILBOX_ALIGN	64	/* what the device insists on, in bytes */

/* Delivery status: the command could not be taken or answered at all. */
enum vcx_cmd_delivery {
	VCX_DELIVERY_OK			= 0x00,
	VCX_DELIVERY_SIGNATURE		= 0x01,
	VCX_DELIVERY_TOKEN		= 0x02,
	VCX_DELIVERY_BLOCK_NUM		= 0x03,
	VCX_DELIVERY_OUT_POINTER	= 0x04,
	VCX_DELIVERY_IN_POINTER		= 0x05,
	VCX_DELIVERY_FIRMWARE		= 0x06,
	VCX_DELIVERY_IN_LENGTH		= 0x07,
	VCX_DELIVERY_OUT_LENGTH		= 0x08,
	VCX_DELIVERY_RESERVED		= 0x09,
	VCX_DELIVERY_BAD_DESCRIPTOR	= 0x10,
};

enum vcx_cmd_status {
	VCX_STATUS_OK			= 0x00,
	VCX_STATUS_INTERNAL		= 0x01,
	VCX_STATUS_BAD_OP		= 0x02,
	VCX_STATUS_BAD_PARAM		= 0x03,
	VCX_STATUS_BAD_SYS_STATE	= 0x04,
	VCX_STATUS_BAD_RESOURCE		= 0x05,
	VCX_STATUS_RESOURCE_BUSY	= 0x06,
	VCX_STATUS_LIMIT		= 0x08,
	VCX_STATUS_BAD_RES_STATE	= 0x09,
	VCX_STATUS_BAD_INDEX		= 0x0a,
	VCX_STATUS_NO_RESOURCES		= 0x0f,
	VCX_STATUS_BAD_QP_STATE		= 0x10,
	VCX_STATUS_BAD_PACKET		= 0x30,
	VCX_STATUS_BAD_SIZE_OUTS_CQES	= 0x40,
	VCX_STATUS_BAD_IN_LENGTH	= 0x50,
	VCX_STATUS_BAD_OUT_LENGTH	= 0x51,
};

enum vcx_cmd_opcode {
	VCX_CMD_QUERY_HCA_CAP		= 0x100,
	VCX_CMD_QUERY_ADAPTER		= 0x101,
	VCX_CMD_INIT_HCA		= 0x102,
	VCX_CMD_TEARDOWN_HCA		= 0x103,
	VCX_CMD_ENABLE_HCA		= 0x104,
	VCX_CMD_DISABLE_HCA		= 0x105,
	VCX_CMD_QUERY_PAGES		= 0x107,
	VCX_CMD_MANAGE_PAGES		= 0x108,
	VCX_CMD_SET_HCA_CAP		= 0x109,
	VCX_CMD_QUERY_ISSI		= 0x10a,
	VCX_CMD_SET_ISSI		= 0x10b,
	VCX_CMD_CREATE_MKEY		= 0x200,
	VCX_CMD_QUERY_MKEY		= 0x201,
	VCX_CMD_DESTROY_MKEY		= 0x202,
	VCX_CMD_CREATE_EQ		= 0x301,
	VCX_CMD_DESTROY_EQ		= 0x302,
	VCX_CMD_QUERY_EQ		= 0x303,
	VCX_CMD_CREATE_CQ		= 0x400,
	VCX_CMD_DESTROY_CQ		= 0x401,
	VCX_CMD_QUERY_CQ		= 0x402,
	VCX_CMD_MODIFY_CQ		= 0x403,
	VCX_CMD_CREATE_QP		= 0x500,
	VCX_CMD_DESTROY_QP		= 0x501,
	VCX_CMD_RST2INIT_QP		= 0x502,
	VCX_CMD_INIT2RTR_QP		= 0x503,
	VCX_CMD_RTR2RTS_QP		= 0x504,
	VCX_CMD_RTS2RTS_QP		= 0x505,
	VCX_CMD_SQERR2RTS_QP		= 0x506,
	VCX_CMD_2ERR_QP			= 0x507,
	VCX_CMD_RTS2SQD_QP		= 0x508,
	VCX_CMD_2RST_QP			= 0x50a,
	VCX_CMD_QUERY_QP		= 0x50b,
	VCX_CMD_SQD2RTS_QP		= 0x50c,
	VCX_CMD_INIT2INIT_QP		= 0x50e,
	VCX_CMD_QUERY_HCA_VPORT_CONTEXT	= 0x762,
	VCX_CMD_QUERY_HCA_VPORT_GID	= 0x764,
	VCX_CMD_QUERY_HCA_VPORT_PKEY	= 0x765,
	VCX_CMD_ALLOC_Q_COUNTER		= 0x771,
	VCX_CMD_DEALLOC_Q_COUNTER	= 0x772,
	VCX_CMD_QUERY_Q_COUNTER		= 0x773,
	VCX_CMD_ALLOC_PD		= 0x800,
	VCX_CMD_DEALLOC_PD		= 0x801,
	VCX_CMD_ALLOC_UAR		= 0x802,
	VCX_CMD_DEALLOC_UAR		= 0x803,
	VCX_CMD_ACCESS_REG		= 0x805,
};

#endif /* VCX_CMD_H */
