// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fw_port.c - the firmware commands of the port: context, GIDs, P_Keys, and the
 * registers behind ACCESS_REG.
 */
#include <linux/slab.h>
#include <vcx/cmd_layout.h>

#include "vcx.h"

int vcx_fw_query_port(struct vcx_dev *dev, struct vcx_port_info *info)
{
	struct vcx_query_vport_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_QUERY_HCA_VPORT_CONTEXT),
		.vport = cpu_to_be32(VCX_QUERY_VPORT_PORT(VCX_PORT)),
	};
	const struct vcx_hca_vport_context *ctx;
	struct vcx_query_vport_context_out *out;
	int err;

	out = kzalloc(sizeof(*out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	err = vcx_cmd_exec(dev, &in, sizeof(in), out, sizeof(*out));
	if (err)
		goto out_free;
	ctx = &out->context;
	info->system_guid = VCX_GET64(ctx, VCX_VPORT_SYSTEM_GUID);
	info->port_guid = VCX_GET64(ctx, VCX_VPORT_PORT_GUID);
	info->node_guid = VCX_GET64(ctx, VCX_VPORT_NODE_GUID);
	info->cap_mask = VCX_GET(ctx, VCX_VPORT_CAP_MASK1);
	info->cap_mask2 = VCX_GET(ctx, VCX_VPORT_CAP_MASK2);
	info->lid = VCX_GET(ctx, VCX_VPORT_LID);
	info->sm_lid = VCX_GET(ctx, VCX_VPORT_SM_LID);
	info->qkey_violations = VCX_GET(ctx, VCX_VPORT_QKEY_VIOLATIONS);
	info->pkey_violations = VCX_GET(ctx, VCX_VPORT_PKEY_VIOLATIONS);
	info->lmc = VCX_GET(ctx, VCX_VPORT_LMC);
	info->sm_sl = VCX_GET(ctx, VCX_VPORT_SM_SL);
	info->subnet_timeout = VCX_GET(ctx, VCX_VPORT_SUBNET_TIMEOUT);
	info->state = VCX_GET(ctx, VCX_VPORT_PORT_STATE);
	info->phys_state = VCX_GET(ctx, VCX_VPORT_PHYS_STATE);
	info->grh_required = VCX_GET(ctx, VCX_VPORT_GRH_REQUIRED);

out_free:
	kfree(out);
	return err;
}

int vcx_fw_query_gid(struct vcx_dev *dev, u16 index, u8 gid[16])
{
	struct vcx_query_vport_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_QUERY_HCA_VPORT_GID),
		.vport = cpu_to_be32(VCX_QUERY_VPORT_PORT(VCX_PORT)),
		.index = cpu_to_be32(index),
	};
	struct {
		struct vcx_query_vport_gid_out head;
		u8 gid[16];
	} out = {};
	int err;

	err = vcx_cmd_exec(dev, &in, sizeof(in), &out, sizeof(out));
	if (!err)
		memcpy(gid, out.gid, sizeof(out.gid));
	return err;
}

int vcx_fw_query_pkey(struct vcx_dev *dev, u16 index, u16 *pkey)
{
	struct vcx_query_vport_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_QUERY_HCA_VPORT_PKEY),
		.vport = cpu_to_be32(VCX_QUERY_VPORT_PORT(VCX_PORT)),
		.index = cpu_to_be32(index),
	};
	struct {
		struct vcx_query_vport_pkey_out head;
		__be32 pkey;
	} out = {};
	int err;

	err = vcx_cmd_exec(dev, &in, sizeof(in), &out, sizeof(out));
	if (!err)
		*pkey = be32_to_cpu(out.pkey);
	return err;
}

/* ---- Registers ------------------------------------------------------------- */

/* Reads a register into data, or writes it from there. */
static int vcx_fw_access_reg(struct vcx_dev *dev, u16 id, u16 op_mod,
			     void *data, size_t bytes)
{
	struct vcx_access_reg_out *out;
	struct vcx_access_reg_in *in;
	int err = -ENOMEM;

	in = kzalloc(sizeof(*in) + bytes, GFP_KERNEL);
	out = kzalloc(sizeof(*out) + bytes, GFP_KERNEL);
	if (!in || !out)
		goto out_free;
	in->hdr.opcode = cpu_to_be16(VCX_CMD_ACCESS_REG);
	in->hdr.op_mod = cpu_to_be16(op_mod);
	in->register_id = cpu_to_be32(id);
	memcpy(in + 1, data, bytes);
	err = vcx_cmd_exec(dev, in, sizeof(*in) + bytes,
			   out, sizeof(*out) + bytes);
	if (!err && op_mod == VCX_ACCESS_REG_READ)
		memcpy(data, out + 1, bytes);

out_free:
	kfree(out);
	kfree(in);
	return err;
}

int vcx_fw_query_mtu(struct vcx_dev *dev, u16 *max_bytes, u16 *active_bytes)
{
	struct vcx_reg_pmtu reg = {};
	int err;

	VCX_SET(&reg, VCX_PMTU_LOCAL_PORT, VCX_PORT);
	err = vcx_fw_access_reg(dev, VCX_REG_PMTU, VCX_ACCESS_REG_READ,
				&reg, sizeof(reg));
	if (err)
		return err;
	*max_bytes = VCX_GET(&reg, VCX_PMTU_MAX);
	*active_bytes = VCX_GET(&reg, VCX_PMTU_OPER);
	return 0;
}

int vcx_fw_query_speed(struct vcx_dev *dev, u16 *width, u16 *speed)
{
	struct vcx_reg_ptys reg = {};
	int err;

	VCX_SET(&reg, VCX_PTYS_LOCAL_PORT, VCX_PORT);
	VCX_SET(&reg, VCX_PTYS_PROTO_MASK, VCX_PTYS_PROTO_IB);
	err = vcx_fw_access_reg(dev, VCX_REG_PTYS, VCX_ACCESS_REG_READ,
				&reg, sizeof(reg));
	if (err)
		return err;
	*width = VCX_GET(&reg, VCX_PTYS_IB_WIDTH_OPER);
	*speed = VCX_GET(&reg, VCX_PTYS_IB_PROTO_OPER);
	return 0;
}

int vcx_fw_query_vls(struct vcx_dev *dev, u8 *num_vls)
{
	struct vcx_reg_pvlc reg = {};
	int err;

	VCX_SET(&reg, VCX_PVLC_LOCAL_PORT, VCX_PORT);
	err = vcx_fw_access_reg(dev, VCX_REG_PVLC, VCX_ACCESS_REG_READ,
				&reg, sizeof(reg));
	if (!err)
		*num_vls = VCX_GET(&reg, VCX_PVLC_HW_CAP);
	return err;
}

int vcx_fw_query_node_desc(struct vcx_dev *dev, char desc[VCX_NODE_DESC_BYTES])
{
	memset(desc, 0, VCX_NODE_DESC_BYTES);
	return vcx_fw_access_reg(dev, VCX_REG_NODE_DESC, VCX_ACCESS_REG_READ,
				 desc, VCX_NODE_DESC_BYTES);
}

int vcx_fw_set_node_desc(struct vcx_dev *dev,
			 const char desc[VCX_NODE_DESC_BYTES])
{
	char copy[VCX_NODE_DESC_BYTES];

	memcpy(copy, desc, sizeof(copy));
	return vcx_fw_access_reg(dev, VCX_REG_NODE_DESC, VCX_ACCESS_REG_WRITE,
				 copy, sizeof(copy));
}
