/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * cmd_layout.h - input and output of each firmware command, in the order of
 * the opcodes. (PRM: Command Reference)
 *
 * Object numbers are 24 bits wide; the upper byte of their word is reserved.
 * Where an input or output goes on with a list of addresses, a comment says so
 * and the list begins where the structure ends.
 */
#ifndef VCX_CMD_LAYOUT_H
#define VCX_CMD_LAYOUT_H

#include "cap.h"
#include "cmd.h"
#include "context.h"
#include "types.h"

#define VCX_NUMBER_MASK		0xffffffu

/* ---- Common shapes ------------------------------------------------------- */

struct vcx_cmd_in {		/* heads every input */
	vcx_be16	opcode;
	vcx_be16	uid;		/* 0 */
	__u8		rsvd_04[2];
	vcx_be16	op_mod;
};
VCX_SIZE(vcx_cmd_in, 8);

struct vcx_cmd_out {		/* heads every output */
	__u8		status;		/* enum vcx_cmd_status */
	__u8		rsvd_01[3];
	vcx_be32	syndrome;	/* which check refused it */
};
VCX_SIZE(vcx_cmd_out, 8);

/* Input with at most one object number: ALLOC_*, DEALLOC_*, DESTROY_*, ... */
struct vcx_number_in {
	struct vcx_cmd_in hdr;
	vcx_be32	number;
	__u8		rsvd_0c[4];
};
VCX_SIZE(vcx_number_in, 16);

/* Output with at most one object number: ALLOC_*, CREATE_*, ... */
struct vcx_number_out {
	struct vcx_cmd_out hdr;
	vcx_be32	number;
	__u8		rsvd_0c[4];
};
VCX_SIZE(vcx_number_out, 16);

/* Output of ENABLE_HCA and DISABLE_HCA: the status alone. */
struct vcx_status_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[4];
};
VCX_SIZE(vcx_status_out, 12);

/* ---- Device ---------------------------------------------------------------- */

struct vcx_query_hca_cap_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[8];
	struct vcx_hca_cap cap;
};
VCX_SIZE(vcx_query_hca_cap_out, 0x1010);

struct vcx_set_hca_cap_in {
	struct vcx_cmd_in hdr;
	__u8		rsvd_08[8];
	struct vcx_hca_cap cap;
};
VCX_SIZE(vcx_set_hca_cap_in, 0x1010);

struct vcx_query_adapter_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[0x20];
	vcx_be32	ieee_vendor_id;	/* 24 bits */
	__u8		rsvd_2c[2];
	vcx_be16	vsd_vendor_id;
	__u8		vsd[208];
	char		psid[16];	/* board id, text */
};
VCX_AT(vcx_query_adapter_out, psid, 0x100);
VCX_SIZE(vcx_query_adapter_out, 0x110);

/* op_mod of TEARDOWN_HCA is 0: graceful. */

#define VCX_QUERY_PAGES_BOOT	1	/* op_mod of QUERY_PAGES */
#define VCX_QUERY_PAGES_INIT	2
#define VCX_QUERY_PAGES_REGULAR	3

struct vcx_query_pages_out {
	struct vcx_cmd_out hdr;
	vcx_be32	function_id;	/* 16 bits, 0 */
	vcx_be32	num_pages;	/* signed */
};
VCX_SIZE(vcx_query_pages_out, 16);

#define VCX_MANAGE_PAGES_CANT_GIVE 0	/* op_mod of MANAGE_PAGES */
#define VCX_MANAGE_PAGES_GIVE	1
#define VCX_MANAGE_PAGES_TAKE	2

/* A give goes on with num_pages addresses, vcx_be64 each. */
struct vcx_manage_pages_in {
	struct vcx_cmd_in hdr;
	vcx_be32	function_id;
	vcx_be32	num_pages;
};
VCX_SIZE(vcx_manage_pages_in, 16);

/* The output of a take goes on with num_pages addresses, vcx_be64 each. */
struct vcx_manage_pages_out {
	struct vcx_cmd_out hdr;
	vcx_be32	num_pages;
	__u8		rsvd_0c[4];
};
VCX_SIZE(vcx_manage_pages_out, 16);

struct vcx_query_issi_out {
	struct vcx_cmd_out hdr;
	vcx_be32	current_issi;	/* 16 bits */
	__u8		rsvd_0c[0x60];
	vcx_be32	supported_issi;	/* bit i: ISSI i */
};
VCX_AT(vcx_query_issi_out, supported_issi, 0x6c);
VCX_SIZE(vcx_query_issi_out, 0x70);

struct vcx_set_issi_in {
	struct vcx_cmd_in hdr;
	vcx_be32	current_issi;	/* 16 bits */
	__u8		rsvd_0c[4];
};
VCX_SIZE(vcx_set_issi_in, 16);

/* ---- Memory keys ------------------------------------------------------------- */

/* Goes on with the translations; length a multiple of 16. */
struct vcx_create_mkey_in {
	struct vcx_cmd_in hdr;
	vcx_be32	input_index;	/* the index that it gets; 0: any */
	vcx_be32	flags;		/* VCX_CREATE_MKEY_* */
	struct vcx_mkc	mkc;
	__u8		rsvd_50[16];
	vcx_be32	translations_octwords; /* of 16 bytes, in this command */
	__u8		rsvd_64[0xac];
};
VCX_AT(vcx_create_mkey_in, translations_octwords, 0x60);
VCX_SIZE(vcx_create_mkey_in, 0x110);

#define VCX_CREATE_MKEY_PG_ACCESS 0x80000000u

struct vcx_query_mkey_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[8];
	struct vcx_mkc	mkc;
	__u8		rsvd_50[0xc0];
	__u8		translations[32]; /* the first four */
};
VCX_SIZE(vcx_query_mkey_out, 0x130);

/* ---- Event queues -------------------------------------------------------------- */

/* Goes on with the page addresses of the queue, vcx_be64 each. */
struct vcx_create_eq_in {
	struct vcx_cmd_in hdr;
	__u8		rsvd_08[8];
	struct vcx_eqc	eqc;
	__u8		rsvd_50[8];
	vcx_be64	event_bitmask[4]; /* bit n of [0]: event type n */
	__u8		rsvd_78[0x98];
};
VCX_AT(vcx_create_eq_in, event_bitmask, 0x58);
VCX_SIZE(vcx_create_eq_in, 0x110);

struct vcx_query_eq_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[8];
	struct vcx_eqc	eqc;
	__u8		rsvd_50[8];
	vcx_be64	event_bitmask[4];
	__u8		rsvd_78[0x98];
};
VCX_SIZE(vcx_query_eq_out, 0x110);

/* ---- Completion queues ----------------------------------------------------------- */

/* Goes on with the page addresses of the queue, vcx_be64 each. */
struct vcx_create_cq_in {
	struct vcx_cmd_in hdr;
	__u8		rsvd_08[8];
	struct vcx_cqc	cqc;
	__u8		rsvd_50[0xc0];
};
VCX_SIZE(vcx_create_cq_in, 0x110);

struct vcx_query_cq_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[8];
	struct vcx_cqc	cqc;
	__u8		rsvd_50[0xc0];
};
VCX_SIZE(vcx_query_cq_out, 0x110);

#define VCX_MODIFY_CQ_OP_RESIZE	1	/* op_mod of MODIFY_CQ */

/* A resize goes on with the page addresses of the new queue. */
struct vcx_modify_cq_in {
	struct vcx_cmd_in hdr;
	vcx_be32	cqn;
	vcx_be32	field_select;	/* VCX_MODIFY_CQ_* */
	struct vcx_cqc	cqc;
	__u8		rsvd_50[0xc0];
};
VCX_SIZE(vcx_modify_cq_in, 0x110);

/* field_select without op_mod resize */
#define VCX_MODIFY_CQ_PERIOD	0x01
#define VCX_MODIFY_CQ_MAX_COUNT	0x02
#define VCX_MODIFY_CQ_OI	0x04
#define VCX_MODIFY_CQ_PERIOD_MODE 0x10
/* field_select with op_mod resize */
#define VCX_MODIFY_CQ_LOG_SIZE	0x01
#define VCX_MODIFY_CQ_PAGE_OFFSET 0x02
#define VCX_MODIFY_CQ_LOG_PAGE_SIZE 0x04

/* ---- Queue pairs ------------------------------------------------------------------- */

/*
 * CREATE_QP and every transition that takes a context. CREATE_QP goes on with
 * the page addresses of the queue (receive queue first, then send queue).
 */
struct vcx_qp_in {
	struct vcx_cmd_in hdr;
	vcx_be32	qpn;		/* 0 in CREATE_QP */
	__u8		rsvd_0c[4];
	vcx_be32	opt_param_mask;	/* VCX_QP_OPT_* */
	__u8		rsvd_14[4];
	struct vcx_qpc	qpc;
	__u8		rsvd_100[16];
};
VCX_AT(vcx_qp_in, qpc, 0x18);
VCX_SIZE(vcx_qp_in, 0x110);

/* Goes on with the page addresses of the queue. */
struct vcx_query_qp_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[8];
	vcx_be32	opt_param_mask;
	__u8		rsvd_14[4];
	struct vcx_qpc	qpc;
	__u8		rsvd_100[16];
};
VCX_SIZE(vcx_query_qp_out, 0x110);

#define VCX_RTS2SQD_EVENT	1	/* op_mod: report VCX_EVENT_SQ_DRAINED */

/* ---- Port ------------------------------------------------------------------------------ */

/* QUERY_HCA_VPORT_CONTEXT, _GID and _PKEY */
struct vcx_query_vport_in {
	struct vcx_cmd_in hdr;
	vcx_be32	vport;		/* VCX_QUERY_VPORT_* */
	vcx_be32	index;		/* 16 bits; 0xffff: the whole table */
};
VCX_SIZE(vcx_query_vport_in, 16);

#define VCX_QUERY_VPORT_OTHER	0x80000000u
#define VCX_QUERY_VPORT_PORT(n)	(((n) & 0xfu) << 16)
#define VCX_QUERY_VPORT_PORT_GET(v) (((v) >> 16) & 0xf)

struct vcx_query_vport_context_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[8];
	struct vcx_hca_vport_context context;
};
VCX_SIZE(vcx_query_vport_context_out, 0x210);

/* Goes on with gids_num GIDs of 16 bytes. */
struct vcx_query_vport_gid_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[4];
	vcx_be16	gids_num;
	__u8		rsvd_0e[2];
};
VCX_SIZE(vcx_query_vport_gid_out, 16);

/* Goes on with P_Keys, vcx_be32 each, the key in the low half. */
struct vcx_query_vport_pkey_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[8];
};
VCX_SIZE(vcx_query_vport_pkey_out, 16);

/* ---- Queue counters ----------------------------------------------------------------------- */

struct vcx_query_q_counter_in {
	struct vcx_cmd_in hdr;
	__u8		rsvd_08[16];
	vcx_be32	clear;		/* bit 31: set to zero after reading */
	vcx_be32	counter_set_id;	/* 8 bits */
};
VCX_SIZE(vcx_query_q_counter_in, 0x20);

#define VCX_QUERY_Q_COUNTER_CLEAR 0x80000000u

struct vcx_query_q_counter_out {
	struct vcx_cmd_out hdr;
	vcx_be32	dw[62];		/* VCX_Q_COUNTER_*, as offsets / 4 - 2 */
};
VCX_SIZE(vcx_query_q_counter_out, 0x100);

/* Offsets of the counters in the output; 32 bits each. */
enum vcx_q_counter {
	VCX_Q_COUNTER_RX_WRITE_REQUESTS		= 0x10,
	VCX_Q_COUNTER_RX_READ_REQUESTS		= 0x18,
	VCX_Q_COUNTER_RX_ATOMIC_REQUESTS	= 0x20,
	VCX_Q_COUNTER_OUT_OF_BUFFER		= 0x30,
	VCX_Q_COUNTER_OUT_OF_SEQUENCE		= 0x38,
	VCX_Q_COUNTER_DUPLICATE_REQUEST		= 0x40,
	VCX_Q_COUNTER_RNR_NAK_RETRY_ERR		= 0x48,
	VCX_Q_COUNTER_PACKET_SEQ_ERR		= 0x50,
	VCX_Q_COUNTER_IMPLIED_NAK_SEQ_ERR	= 0x58,
	VCX_Q_COUNTER_LOCAL_ACK_TIMEOUT_ERR	= 0x60,
	VCX_Q_COUNTER_RESP_LOCAL_LENGTH_ERROR	= 0x78,
	VCX_Q_COUNTER_REQ_LOCAL_LENGTH_ERROR	= 0x7c,
	VCX_Q_COUNTER_RESP_LOCAL_QP_ERROR	= 0x80,
	VCX_Q_COUNTER_LOCAL_OPERATION_ERROR	= 0x84,
	VCX_Q_COUNTER_RESP_LOCAL_PROTECTION	= 0x88,
	VCX_Q_COUNTER_REQ_LOCAL_PROTECTION	= 0x8c,
	VCX_Q_COUNTER_RESP_CQE_ERROR		= 0x90,
	VCX_Q_COUNTER_REQ_CQE_ERROR		= 0x94,
	VCX_Q_COUNTER_REQ_BAD_RESPONSE		= 0x9c,
	VCX_Q_COUNTER_REQ_REMOTE_INVALID_REQUEST = 0xa0,
	VCX_Q_COUNTER_RESP_REMOTE_INVALID_REQUEST = 0xa4,
	VCX_Q_COUNTER_REQ_REMOTE_ACCESS_ERRORS	= 0xa8,
	VCX_Q_COUNTER_RESP_REMOTE_ACCESS_ERRORS	= 0xac,
	VCX_Q_COUNTER_REQ_REMOTE_OPERATION_ERRORS = 0xb0,
	VCX_Q_COUNTER_REQ_RETRIES_EXCEEDED	= 0xb4,
	VCX_Q_COUNTER_CQ_OVERFLOW		= 0xb8,
	VCX_Q_COUNTER_RESP_CQE_FLUSH_ERROR	= 0xbc,
	VCX_Q_COUNTER_REQ_CQE_FLUSH_ERROR	= 0xc0,
};

/* ---- Registers ------------------------------------------------------------------------------ */

/* Goes on with the register. */
struct vcx_access_reg_in {
	struct vcx_cmd_in hdr;
	vcx_be32	register_id;	/* 16 bits, enum vcx_register */
	vcx_be32	argument;
};
VCX_SIZE(vcx_access_reg_in, 16);

/* Goes on with the register. */
struct vcx_access_reg_out {
	struct vcx_cmd_out hdr;
	__u8		rsvd_08[8];
};
VCX_SIZE(vcx_access_reg_out, 16);

#endif /* VCX_CMD_LAYOUT_H */
