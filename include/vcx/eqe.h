/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * eqe.h - event queue entries. (PRM: Event Queue Entry Format)
 *
 * Software fills a new queue with owner bit 1. Entry ci belongs to software
 * when its owner bit equals bit log_size of ci, so the first lap is written
 * with owner 0.
 */
#ifndef VCX_EQE_H
#define VCX_EQE_H

#include "types.h"

#define VCX_EQE_BYTES		64

enum vcx_event_type {
	VCX_EVENT_COMPLETION		= 0x00,
	VCX_EVENT_PATH_MIGRATED		= 0x01,
	VCX_EVENT_COMM_ESTABLISHED	= 0x02,
	VCX_EVENT_SQ_DRAINED		= 0x03,
	VCX_EVENT_CQ_ERROR		= 0x04,
	VCX_EVENT_WQ_CATASTROPHIC	= 0x05,
	VCX_EVENT_PATH_MIGRATION_FAILED	= 0x07,
	VCX_EVENT_INTERNAL_ERROR	= 0x08,
	VCX_EVENT_PORT_CHANGE		= 0x09,
	VCX_EVENT_COMMAND		= 0x0a,
	VCX_EVENT_PAGE_REQUEST		= 0x0b,
	VCX_EVENT_WQ_INVALID_REQUEST	= 0x10,
	VCX_EVENT_WQ_ACCESS_ERROR	= 0x11,
	VCX_EVENT_SRQ_CATASTROPHIC	= 0x12,
	VCX_EVENT_LAST_WQE_REACHED	= 0x13,
	VCX_EVENT_SRQ_LIMIT		= 0x14,
};

/* Sub types of VCX_EVENT_PORT_CHANGE. */
enum vcx_port_event {
	VCX_PORT_EVENT_DOWN		= 1,
	VCX_PORT_EVENT_ACTIVE		= 4,
	VCX_PORT_EVENT_INITIALIZED	= 5,
	VCX_PORT_EVENT_LID		= 6,
	VCX_PORT_EVENT_PKEY		= 7,
	VCX_PORT_EVENT_GUID		= 8,
	VCX_PORT_EVENT_CLIENT_REREGISTER = 9,
};

struct vcx_eqe_completion {	/* VCX_EVENT_COMPLETION */
	__u8		rsvd_00[24];
	vcx_be32	cqn;
};
VCX_SIZE(vcx_eqe_completion, 28);

/* Which queue of a QP an event is about. */
#define VCX_EQE_QUEUE_QP	0
#define VCX_EQE_QUEUE_RQ	1
#define VCX_EQE_QUEUE_SQ	2

struct vcx_eqe_qp {		/* events of a QP or an SRQ */
	__u8		rsvd_00[20];
	__u8		queue_type;	/* VCX_EQE_QUEUE_* */
	__u8		rsvd_15[3];
	vcx_be32	number;		/* QPN or SRQN, 24 bits */
};
VCX_SIZE(vcx_eqe_qp, 28);

struct vcx_eqe_cq_error {	/* VCX_EVENT_CQ_ERROR */
	vcx_be32	cqn;
	__u8		rsvd_04[7];
	__u8		syndrome;	/* VCX_CQ_ERROR_* */
};
VCX_SIZE(vcx_eqe_cq_error, 12);

#define VCX_CQ_ERROR_OVERRUN		1
#define VCX_CQ_ERROR_ACCESS		2	/* the bus refused the queue */

struct vcx_eqe_port {		/* VCX_EVENT_PORT_CHANGE */
	__u8		rsvd_00[8];
	__u8		port;		/* number in 7..4 */
};
VCX_SIZE(vcx_eqe_port, 9);

struct vcx_eqe_command {	/* VCX_EVENT_COMMAND */
	vcx_be32	slots;		/* bit i: slot i is complete */
};
VCX_SIZE(vcx_eqe_command, 4);

struct vcx_eqe_pages {		/* VCX_EVENT_PAGE_REQUEST */
	__u8		rsvd_00[2];
	vcx_be16	function_id;
	vcx_be32	num_pages;	/* signed; negative: to be taken back */
};
VCX_SIZE(vcx_eqe_pages, 8);

struct vcx_eqe {
	__u8		rsvd_00;
	__u8		type;		/* enum vcx_event_type */
	__u8		rsvd_02;
	__u8		sub_type;
	__u8		rsvd_04[28];
	union {
		__u8				raw[28];
		struct vcx_eqe_completion	completion;
		struct vcx_eqe_qp		qp;
		struct vcx_eqe_cq_error		cq_error;
		struct vcx_eqe_port		port;
		struct vcx_eqe_command		command;
		struct vcx_eqe_pages		pages;
	} data;
	__u8		rsvd_3c[2];
	__u8		signature;
	__u8		owner;		/* bit 0 */
};
VCX_AT(vcx_eqe, data, 0x20);
VCX_AT(vcx_eqe, owner, 0x3f);
VCX_SIZE(vcx_eqe, 64);

#define VCX_EQE_OWNER		0x01

#endif /* VCX_EQE_H */
