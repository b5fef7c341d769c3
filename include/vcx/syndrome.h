/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * syndrome.h - why a command was refused: the syndrome word of its output.
 * These numbers are vcx's own; there is one for each check of the device.
 *
 * Bits 23..16 are the status of the output, bits 15..8 the sort of object the
 * check is about, bits 7..0 count. A driver decides by the status and prints
 * the syndrome.
 */
#ifndef VCX_SYNDROME_H
#define VCX_SYNDROME_H

#include "cmd.h"

#define VCX_REFUSAL(status, object, n) ((status) << 16 | (object) << 8 | (n))
#define VCX_REFUSAL_STATUS(syndrome) ((syndrome) >> 16 & 0xff)

/* Bits 15..8 */
enum vcx_refusal_object {
	VCX_REFUSAL_COMMAND	= 0x00,	/* the command as such */
	VCX_REFUSAL_QUEUE	= 0x01,	/* memory of an EQ, CQ or QP */
	VCX_REFUSAL_HCA		= 0x02,
	VCX_REFUSAL_PAGES	= 0x03,
	VCX_REFUSAL_CAP		= 0x04,
	VCX_REFUSAL_UAR		= 0x05,
	VCX_REFUSAL_PD		= 0x06,
	VCX_REFUSAL_EQ		= 0x07,
	VCX_REFUSAL_CQ		= 0x08,
	VCX_REFUSAL_MKEY	= 0x09,
	VCX_REFUSAL_QP		= 0x0a,
	VCX_REFUSAL_VPORT	= 0x0b,
	VCX_REFUSAL_REG		= 0x0c,
	VCX_REFUSAL_COUNTER	= 0x0d,
};

#define VCX_REFUSAL_PARAM(object, n)                                           \
	VCX_REFUSAL(VCX_STATUS_BAD_PARAM, object, n)
#define VCX_REFUSAL_FIND(object, n)                                            \
	VCX_REFUSAL(VCX_STATUS_BAD_RESOURCE, object, n)
#define VCX_REFUSAL_FULL(object, n)                                            \
	VCX_REFUSAL(VCX_STATUS_LIMIT, object, n)
#define VCX_REFUSAL_USED(object, n)                                            \
	VCX_REFUSAL(VCX_STATUS_BAD_RES_STATE, object, n)

enum vcx_cmd_syndrome {
	VCX_CMD_ACCEPTED = 0,

	/* no such opcode */
	VCX_REFUSED_OPCODE =
		VCX_REFUSAL(VCX_STATUS_BAD_OP, VCX_REFUSAL_COMMAND, 1),
	/* input shorter than the opcode's layout, or longer than any */
	VCX_REFUSED_IN_LENGTH =
		VCX_REFUSAL(VCX_STATUS_BAD_IN_LENGTH, VCX_REFUSAL_COMMAND, 2),
	/* output shorter than the opcode's layout */
	VCX_REFUSED_OUT_LENGTH =
		VCX_REFUSAL(VCX_STATUS_BAD_OUT_LENGTH, VCX_REFUSAL_COMMAND, 3),
	/* not between ENABLE_HCA, INIT_HCA, ... where the opcode belongs */
	VCX_REFUSED_HCA_STATE =
		VCX_REFUSAL(VCX_STATUS_BAD_SYS_STATE, VCX_REFUSAL_COMMAND, 4),
	/* uid is not zero */
	VCX_REFUSED_UID = VCX_REFUSAL_PARAM(VCX_REFUSAL_COMMAND, 5),
	/* op_mod that the opcode does not have */
	VCX_REFUSED_OP_MOD = VCX_REFUSAL_PARAM(VCX_REFUSAL_COMMAND, 6),
	/* the input ends before the list that it announces */
	VCX_REFUSED_LIST_LENGTH =
		VCX_REFUSAL(VCX_STATUS_BAD_IN_LENGTH, VCX_REFUSAL_COMMAND, 7),
	/* no room in the output for the list that is asked for */
	VCX_REFUSED_OUT_LIST_LENGTH =
		VCX_REFUSAL(VCX_STATUS_BAD_OUT_LENGTH, VCX_REFUSAL_COMMAND, 8),
	/* the device keeps no more page addresses than it does */
	VCX_REFUSED_PAGE_LISTS = VCX_REFUSAL_FULL(VCX_REFUSAL_COMMAND, 9),
	/* nothing is wrong: a test wanted this command to fail */
	VCX_REFUSED_FOR_TEST =
		VCX_REFUSAL(VCX_STATUS_INTERNAL, VCX_REFUSAL_COMMAND, 10),

	/* log_page_size beyond 2 GiB */
	VCX_REFUSED_QUEUE_PAGE_SIZE = VCX_REFUSAL_PARAM(VCX_REFUSAL_QUEUE, 1),
	/* page_offset is no multiple of the entry size */
	VCX_REFUSED_QUEUE_OFFSET = VCX_REFUSAL_PARAM(VCX_REFUSAL_QUEUE, 2),
	/* fewer page addresses than the queue needs */
	VCX_REFUSED_QUEUE_PAGES = VCX_REFUSAL_PARAM(VCX_REFUSAL_QUEUE, 3),
	/* a page address that is no multiple of the page size */
	VCX_REFUSED_QUEUE_PAGE_ALIGN = VCX_REFUSAL_PARAM(VCX_REFUSAL_QUEUE, 4),
	/* doorbell record not aligned to 8 bytes */
	VCX_REFUSED_DOORBELL_RECORD = VCX_REFUSAL_PARAM(VCX_REFUSAL_QUEUE, 5),

	/* function_id is not zero */
	VCX_REFUSED_FUNCTION = VCX_REFUSAL_PARAM(VCX_REFUSAL_HCA, 1),
	/* TEARDOWN_HCA that is not graceful */
	VCX_REFUSED_PROFILE = VCX_REFUSAL_PARAM(VCX_REFUSAL_HCA, 2),
	/* SET_ISSI with an ISSI that is not supported */
	VCX_REFUSED_ISSI = VCX_REFUSAL_PARAM(VCX_REFUSAL_HCA, 3),
	/* INIT_HCA before all requested pages were given */
	VCX_REFUSED_PAGES_OWED = VCX_REFUSAL_USED(VCX_REFUSAL_HCA, 4),

	/* more pages than the device asks for */
	VCX_REFUSED_PAGES_UNASKED = VCX_REFUSAL_FULL(VCX_REFUSAL_PAGES, 1),
	/* an address that is no multiple of 4096 */
	VCX_REFUSED_PAGE_ALIGN = VCX_REFUSAL_PARAM(VCX_REFUSAL_PAGES, 2),
	/* a page that the device has, or the same one twice */
	VCX_REFUSED_PAGE_TWICE = VCX_REFUSAL_PARAM(VCX_REFUSAL_PAGES, 3),
	/* a take between INIT_HCA and TEARDOWN_HCA */
	VCX_REFUSED_PAGES_IN_USE = VCX_REFUSAL_USED(VCX_REFUSAL_PAGES, 4),

	/* capability type that the general capabilities do not announce */
	VCX_REFUSED_CAP_TYPE = VCX_REFUSAL_PARAM(VCX_REFUSAL_CAP, 1),
	/* op_mod of SET_HCA_CAP with the mode bit */
	VCX_REFUSED_CAP_MODE = VCX_REFUSAL_PARAM(VCX_REFUSAL_CAP, 2),
	/* a field that cannot be set differs from the current capability */
	VCX_REFUSED_CAP_READ_ONLY = VCX_REFUSAL_PARAM(VCX_REFUSAL_CAP, 3),
	/* log_max_qp above the maximum */
	VCX_REFUSED_CAP_LOG_MAX_QP = VCX_REFUSAL_PARAM(VCX_REFUSAL_CAP, 4),

	VCX_REFUSED_UAR_NONE_LEFT = VCX_REFUSAL_FULL(VCX_REFUSAL_UAR, 1),
	VCX_REFUSED_UAR_NUMBER = VCX_REFUSAL_FIND(VCX_REFUSAL_UAR, 2),
	/* DEALLOC_UAR while an EQ, CQ or QP uses it */
	VCX_REFUSED_UAR_IN_USE = VCX_REFUSAL_USED(VCX_REFUSAL_UAR, 3),

	VCX_REFUSED_PD_NONE_LEFT = VCX_REFUSAL_FULL(VCX_REFUSAL_PD, 1),
	VCX_REFUSED_PD_NUMBER = VCX_REFUSAL_FIND(VCX_REFUSAL_PD, 2),
	/* DEALLOC_PD while a QP or a memory key uses it */
	VCX_REFUSED_PD_IN_USE = VCX_REFUSAL_USED(VCX_REFUSAL_PD, 3),

	VCX_REFUSED_EQ_NONE_LEFT = VCX_REFUSAL_FULL(VCX_REFUSAL_EQ, 1),
	VCX_REFUSED_EQ_NUMBER = VCX_REFUSAL_FIND(VCX_REFUSAL_EQ, 2),
	/* DESTROY_EQ while a CQ reports to it */
	VCX_REFUSED_EQ_IN_USE = VCX_REFUSAL_USED(VCX_REFUSAL_EQ, 3),
	VCX_REFUSED_EQ_LOG_SIZE = VCX_REFUSAL_PARAM(VCX_REFUSAL_EQ, 4),
	/* intr is no MSI-X vector of the device */
	VCX_REFUSED_EQ_VECTOR = VCX_REFUSAL_PARAM(VCX_REFUSAL_EQ, 5),

	VCX_REFUSED_CQ_NONE_LEFT = VCX_REFUSAL_FULL(VCX_REFUSAL_CQ, 1),
	VCX_REFUSED_CQ_NUMBER = VCX_REFUSAL_FIND(VCX_REFUSAL_CQ, 2),
	/* DESTROY_CQ while a QP completes to it */
	VCX_REFUSED_CQ_IN_USE = VCX_REFUSAL_USED(VCX_REFUSAL_CQ, 3),
	VCX_REFUSED_CQ_LOG_SIZE = VCX_REFUSAL_PARAM(VCX_REFUSAL_CQ, 4),
	/* cqe_sz neither 64 nor 128 bytes */
	VCX_REFUSED_CQ_CQE_SIZE = VCX_REFUSAL_PARAM(VCX_REFUSAL_CQ, 5),
	/* field_select with unknown bits, or without those that op_mod needs */
	VCX_REFUSED_CQ_FIELD_SELECT = VCX_REFUSAL_PARAM(VCX_REFUSAL_CQ, 6),
	/* a resize that changes cqe_sz */
	VCX_REFUSED_CQ_RESIZE_CQE_SIZE = VCX_REFUSAL_PARAM(VCX_REFUSAL_CQ, 7),
	/* the new queue cannot hold what is in the old one, and one more */
	VCX_REFUSED_CQ_RESIZE_TOO_SMALL =
		VCX_REFUSAL(VCX_STATUS_BAD_SIZE_OUTS_CQES, VCX_REFUSAL_CQ, 8),
	/* the bus refused the doorbell record or the old queue */
	VCX_REFUSED_CQ_RESIZE_DMA = VCX_REFUSAL_USED(VCX_REFUSAL_CQ, 9),
	/* a resize of a queue that has failed */
	VCX_REFUSED_CQ_FAILED = VCX_REFUSAL_USED(VCX_REFUSAL_CQ, 10),
	/* no room in the old queue for the entry that ends it */
	VCX_REFUSED_CQ_RESIZE_FULL = VCX_REFUSAL_USED(VCX_REFUSAL_CQ, 12),
	/* cq_period_mode neither from event nor from entry */
	VCX_REFUSED_CQ_PERIOD_MODE = VCX_REFUSAL_PARAM(VCX_REFUSAL_CQ, 11),

	VCX_REFUSED_MKEY_NONE_LEFT = VCX_REFUSAL_FULL(VCX_REFUSAL_MKEY, 1),
	VCX_REFUSED_MKEY_NUMBER = VCX_REFUSAL_FIND(VCX_REFUSAL_MKEY, 2),
	/* neither physical addresses nor a page list */
	VCX_REFUSED_MKEY_MODE = VCX_REFUSAL_PARAM(VCX_REFUSAL_MKEY, 3),
	/* a page list with length64, which has no bounds */
	VCX_REFUSED_MKEY_LENGTH64 = VCX_REFUSAL_PARAM(VCX_REFUSAL_MKEY, 4),
	/* start + len goes beyond 2^64 */
	VCX_REFUSED_MKEY_BOUNDS = VCX_REFUSAL_PARAM(VCX_REFUSAL_MKEY, 5),
	/* pages below 4 KiB */
	VCX_REFUSED_MKEY_PAGE_SIZE = VCX_REFUSAL_PARAM(VCX_REFUSAL_MKEY, 6),
	/* fewer translations than start and len need */
	VCX_REFUSED_MKEY_PAGES = VCX_REFUSAL_PARAM(VCX_REFUSAL_MKEY, 7),
	/* more translations than one key can have */
	VCX_REFUSED_MKEY_LIST = VCX_REFUSAL_FULL(VCX_REFUSAL_MKEY, 8),
	/* a page address that is no multiple of the page size */
	VCX_REFUSED_MKEY_PAGE_ALIGN = VCX_REFUSAL_PARAM(VCX_REFUSAL_MKEY, 9),
	/* an index is asked for that is in use or has never been */
	VCX_REFUSED_MKEY_INPUT_INDEX =
		VCX_REFUSAL(VCX_STATUS_BAD_INDEX, VCX_REFUSAL_MKEY, 10),

	VCX_REFUSED_QP_NONE_LEFT = VCX_REFUSAL_FULL(VCX_REFUSAL_QP, 1),
	VCX_REFUSED_QP_NUMBER = VCX_REFUSAL_FIND(VCX_REFUSAL_QP, 2),
	/* CREATE_QP that asks for a certain number */
	VCX_REFUSED_QP_INPUT_NUMBER = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 3),
	/* service type that is not implemented */
	VCX_REFUSED_QP_SERVICE_TYPE = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 4),
	/* rq_type that is not implemented */
	VCX_REFUSED_QP_RQ_TYPE = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 5),
	VCX_REFUSED_QP_RQ_SIZE = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 6),
	VCX_REFUSED_QP_RQ_STRIDE = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 7),
	VCX_REFUSED_QP_SQ_SIZE = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 8),
	/* a receive queue that does not end on a 64-byte boundary */
	VCX_REFUSED_QP_SQ_OFFSET = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 9),
	VCX_REFUSED_QP_SEND_CQ = VCX_REFUSAL_FIND(VCX_REFUSAL_QP, 10),
	VCX_REFUSED_QP_RECV_CQ = VCX_REFUSAL_FIND(VCX_REFUSAL_QP, 11),
	VCX_REFUSED_QP_COUNTER_SET = VCX_REFUSAL_FIND(VCX_REFUSAL_QP, 12),
	/* the transition does not begin in this state */
	VCX_REFUSED_QP_STATE =
		VCX_REFUSAL(VCX_STATUS_BAD_QP_STATE, VCX_REFUSAL_QP, 13),
	/* opt_param_mask with a parameter that the transition does not take */
	VCX_REFUSED_QP_OPT_PARAM = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 14),
	/* vhca_port_num is neither 1 nor 0, which means 1 too */
	VCX_REFUSED_QP_PORT = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 15),
	VCX_REFUSED_QP_PKEY_INDEX = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 16),
	VCX_REFUSED_QP_GID_INDEX = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 17),
	/* rlid is no unicast LID, and the path is not forced to loopback */
	VCX_REFUSED_QP_LID = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 18),
	/* mtu is none, or above that of the port */
	VCX_REFUSED_QP_MTU = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 19),
	VCX_REFUSED_QP_LOG_MSG_MAX = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 20),
	VCX_REFUSED_QP_LOG_SRA_MAX = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 21),
	VCX_REFUSED_QP_LOG_RRA_MAX = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 22),
	/* path migration state that is not "migrated" */
	VCX_REFUSED_QP_PM_STATE = VCX_REFUSAL_PARAM(VCX_REFUSAL_QP, 23),

	/* another vport or another port than 1 */
	VCX_REFUSED_VPORT_NUMBER = VCX_REFUSAL_PARAM(VCX_REFUSAL_VPORT, 1),
	VCX_REFUSED_VPORT_GID_INDEX =
		VCX_REFUSAL(VCX_STATUS_BAD_INDEX, VCX_REFUSAL_VPORT, 2),
	VCX_REFUSED_VPORT_PKEY_INDEX =
		VCX_REFUSAL(VCX_STATUS_BAD_INDEX, VCX_REFUSAL_VPORT, 3),

	/* no such register */
	VCX_REFUSED_REG_ID = VCX_REFUSAL_PARAM(VCX_REFUSAL_REG, 1),
	/* a register that can only be read */
	VCX_REFUSED_REG_READ_ONLY = VCX_REFUSAL_PARAM(VCX_REFUSAL_REG, 2),
	/* local_port is not 1 */
	VCX_REFUSED_REG_PORT = VCX_REFUSAL_PARAM(VCX_REFUSAL_REG, 3),
	/* a value that the register cannot have */
	VCX_REFUSED_REG_VALUE = VCX_REFUSAL_PARAM(VCX_REFUSAL_REG, 4),

	VCX_REFUSED_COUNTER_NONE_LEFT =
		VCX_REFUSAL_FULL(VCX_REFUSAL_COUNTER, 1),
	VCX_REFUSED_COUNTER_NUMBER = VCX_REFUSAL_FIND(VCX_REFUSAL_COUNTER, 2),
	/* DEALLOC_Q_COUNTER while a QP counts there */
	VCX_REFUSED_COUNTER_IN_USE = VCX_REFUSAL_USED(VCX_REFUSAL_COUNTER, 3),
};

#endif /* VCX_SYNDROME_H */
