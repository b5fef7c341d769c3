// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cmd_status.c - what the device answers, as errno and as text.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <vcx/cmd.h>

#include "cmd.h"

static const struct {
	u8 status;
	int err;
	const char *name;
} vcx_statuses[] = {
	{ VCX_STATUS_OK, 0, "OK" },
	{ VCX_STATUS_INTERNAL, -EIO, "INTERNAL" },
	{ VCX_STATUS_BAD_OP, -EOPNOTSUPP, "BAD_OP" },
	{ VCX_STATUS_BAD_PARAM, -EINVAL, "BAD_PARAM" },
	{ VCX_STATUS_BAD_SYS_STATE, -EIO, "BAD_SYS_STATE" },
	{ VCX_STATUS_BAD_RESOURCE, -EINVAL, "BAD_RESOURCE" },
	{ VCX_STATUS_RESOURCE_BUSY, -EBUSY, "RESOURCE_BUSY" },
	{ VCX_STATUS_LIMIT, -ENOMEM, "LIMIT" },
	{ VCX_STATUS_BAD_RES_STATE, -EBUSY, "BAD_RES_STATE" },
	{ VCX_STATUS_BAD_INDEX, -EINVAL, "BAD_INDEX" },
	{ VCX_STATUS_NO_RESOURCES, -ENOMEM, "NO_RESOURCES" },
	{ VCX_STATUS_BAD_QP_STATE, -EINVAL, "BAD_QP_STATE" },
	{ VCX_STATUS_BAD_PACKET, -EINVAL, "BAD_PACKET" },
	{ VCX_STATUS_BAD_SIZE_OUTS_CQES, -EINVAL, "BAD_SIZE_OUTS_CQES" },
	{ VCX_STATUS_BAD_IN_LENGTH, -EIO, "BAD_IN_LENGTH" },
	{ VCX_STATUS_BAD_OUT_LENGTH, -EIO, "BAD_OUT_LENGTH" },
};

int vcx_cmd_status_to_errno(u8 status)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vcx_statuses); i++)
		if (vcx_statuses[i].status == status)
			return vcx_statuses[i].err;
	return -EIO;
}

const char *vcx_cmd_status_name(u8 status)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vcx_statuses); i++)
		if (vcx_statuses[i].status == status)
			return vcx_statuses[i].name;
	return "UNKNOWN";
}

/* A delivery error means that driver and device disagree about the queue. */
int vcx_cmd_delivery_to_errno(u8 delivery)
{
	switch (delivery) {
	case VCX_DELIVERY_OK:
		return 0;
	case VCX_DELIVERY_OUT_POINTER:
	case VCX_DELIVERY_IN_POINTER:
		return -EFAULT;
	case VCX_DELIVERY_IN_LENGTH:
	case VCX_DELIVERY_OUT_LENGTH:
		return -ENOMSG;
	default:
		return -EIO;
	}
}

static const struct {
	u16 opcode;
	const char *name;
} vcx_opcodes[] = {
	{ VCX_CMD_QUERY_HCA_CAP, "QUERY_HCA_CAP" },
	{ VCX_CMD_QUERY_ADAPTER, "QUERY_ADAPTER" },
	{ VCX_CMD_INIT_HCA, "INIT_HCA" },
	{ VCX_CMD_TEARDOWN_HCA, "TEARDOWN_HCA" },
	{ VCX_CMD_ENABLE_HCA, "ENABLE_HCA" },
	{ VCX_CMD_DISABLE_HCA, "DISABLE_HCA" },
	{ VCX_CMD_QUERY_PAGES, "QUERY_PAGES" },
	{ VCX_CMD_MANAGE_PAGES, "MANAGE_PAGES" },
	{ VCX_CMD_SET_HCA_CAP, "SET_HCA_CAP" },
	{ VCX_CMD_QUERY_ISSI, "QUERY_ISSI" },
	{ VCX_CMD_SET_ISSI, "SET_ISSI" },
	{ VCX_CMD_CREATE_MKEY, "CREATE_MKEY" },
	{ VCX_CMD_DESTROY_MKEY, "DESTROY_MKEY" },
	{ VCX_CMD_CREATE_EQ, "CREATE_EQ" },
	{ VCX_CMD_DESTROY_EQ, "DESTROY_EQ" },
	{ VCX_CMD_CREATE_CQ, "CREATE_CQ" },
	{ VCX_CMD_DESTROY_CQ, "DESTROY_CQ" },
	{ VCX_CMD_QUERY_CQ, "QUERY_CQ" },
	{ VCX_CMD_MODIFY_CQ, "MODIFY_CQ" },
	{ VCX_CMD_CREATE_QP, "CREATE_QP" },
	{ VCX_CMD_DESTROY_QP, "DESTROY_QP" },
	{ VCX_CMD_RST2INIT_QP, "RST2INIT_QP" },
	{ VCX_CMD_INIT2RTR_QP, "INIT2RTR_QP" },
	{ VCX_CMD_RTR2RTS_QP, "RTR2RTS_QP" },
	{ VCX_CMD_RTS2RTS_QP, "RTS2RTS_QP" },
	{ VCX_CMD_2ERR_QP, "2ERR_QP" },
	{ VCX_CMD_RTS2SQD_QP, "RTS2SQD_QP" },
	{ VCX_CMD_2RST_QP, "2RST_QP" },
	{ VCX_CMD_QUERY_QP, "QUERY_QP" },
	{ VCX_CMD_SQD2RTS_QP, "SQD2RTS_QP" },
	{ VCX_CMD_INIT2INIT_QP, "INIT2INIT_QP" },
	{ VCX_CMD_QUERY_HCA_VPORT_CONTEXT, "QUERY_HCA_VPORT_CONTEXT" },
	{ VCX_CMD_QUERY_HCA_VPORT_GID, "QUERY_HCA_VPORT_GID" },
	{ VCX_CMD_QUERY_HCA_VPORT_PKEY, "QUERY_HCA_VPORT_PKEY" },
	{ VCX_CMD_ALLOC_Q_COUNTER, "ALLOC_Q_COUNTER" },
	{ VCX_CMD_DEALLOC_Q_COUNTER, "DEALLOC_Q_COUNTER" },
	{ VCX_CMD_QUERY_Q_COUNTER, "QUERY_Q_COUNTER" },
	{ VCX_CMD_ALLOC_PD, "ALLOC_PD" },
	{ VCX_CMD_DEALLOC_PD, "DEALLOC_PD" },
	{ VCX_CMD_ALLOC_UAR, "ALLOC_UAR" },
	{ VCX_CMD_DEALLOC_UAR, "DEALLOC_UAR" },
	{ VCX_CMD_ACCESS_REG, "ACCESS_REG" },
};

const char *vcx_cmd_opcode_name(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vcx_opcodes); i++)
		if (vcx_opcodes[i].opcode == opcode)
			return vcx_opcodes[i].name;
	return "UNKNOWN";
}
