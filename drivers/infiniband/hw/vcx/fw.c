// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fw.c - the firmware commands of the device, its pages and small objects, and
 * of event queues. Keys, completion queues and queue pairs are in fw_obj.c,
 * the port in fw_port.c.
 */
#include <linux/slab.h>
#include <vcx/cmd_layout.h>

#include "fw_cmd.h"
#include "vcx.h"

#define VCX_ISSI	1	/* the interface step that the driver speaks */

/* A command whose input is at most one number, whose output is a status. */
int vcx_fw_simple(struct vcx_dev *dev, u16 opcode, u32 number)
{
	struct vcx_number_in in = {
		.hdr.opcode = cpu_to_be16(opcode),
		.number = cpu_to_be32(number),
	};
	struct vcx_number_out out = {};

	return vcx_cmd_exec(dev, &in, sizeof(in), &out, sizeof(out));
}

/* A command without arguments that makes an object and says its number. */
static int vcx_fw_alloc(struct vcx_dev *dev, u16 opcode, u32 *number)
{
	struct vcx_number_in in = { .hdr.opcode = cpu_to_be16(opcode) };
	struct vcx_number_out out = {};
	int err;

	err = vcx_cmd_exec(dev, &in, sizeof(in), &out, sizeof(out));
	if (!err)
		*number = be32_to_cpu(out.number) & VCX_NUMBER_MASK;
	return err;
}

/* A command whose input ends with a page list. */
void *vcx_fw_alloc_in(u16 opcode, size_t bytes, u32 num_pages, size_t *in_bytes)
{
	struct vcx_cmd_in *in;

	*in_bytes = bytes + num_pages * sizeof(__be64);
	in = kvzalloc(*in_bytes, GFP_KERNEL_ACCOUNT);
	if (in)
		in->opcode = cpu_to_be16(opcode);
	return in;
}

void vcx_fw_put_pages(__be64 *list, const struct vcx_page_list *pages)
{
	u32 i;

	for (i = 0; i < pages->num; i++)
		list[i] = cpu_to_be64(pages->addr[i]);
}

/* ---- Device ---------------------------------------------------------------- */

int vcx_fw_enable_hca(struct vcx_dev *dev)
{
	return vcx_fw_simple(dev, VCX_CMD_ENABLE_HCA, 0);
}

int vcx_fw_disable_hca(struct vcx_dev *dev)
{
	return vcx_fw_simple(dev, VCX_CMD_DISABLE_HCA, 0);
}

int vcx_fw_init_hca(struct vcx_dev *dev)
{
	return vcx_fw_simple(dev, VCX_CMD_INIT_HCA, 0);
}

int vcx_fw_teardown_hca(struct vcx_dev *dev)
{
	return vcx_fw_simple(dev, VCX_CMD_TEARDOWN_HCA, 0);
}

/* A device that does not know the question is at step 0, which is enough. */
int vcx_fw_set_issi(struct vcx_dev *dev)
{
	struct vcx_number_in query = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_QUERY_ISSI),
	};
	struct vcx_set_issi_in set = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_SET_ISSI),
		.current_issi = cpu_to_be32(VCX_ISSI),
	};
	struct vcx_query_issi_out out = {};
	struct vcx_number_out set_out = {};
	int err;

	err = vcx_cmd_exec_flags(dev, &query, sizeof(query), &out, sizeof(out),
				 VCX_CMD_OPTIONAL);
	if (err == -EOPNOTSUPP)
		return 0;
	if (err)
		return err;
	if (!(be32_to_cpu(out.supported_issi) & BIT(VCX_ISSI)))
		return 0;
	return vcx_cmd_exec(dev, &set, sizeof(set), &set_out, sizeof(set_out));
}

static int vcx_fw_query_cap_page(struct vcx_dev *dev, u16 mode,
				 struct vcx_query_hca_cap_out *out)
{
	struct vcx_number_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_QUERY_HCA_CAP),
		.hdr.op_mod = cpu_to_be16(VCX_CAP_OP_MOD(VCX_CAP_GENERAL,
							 mode)),
	};

	return vcx_cmd_exec(dev, &in, sizeof(in), out, sizeof(*out));
}

/* Chooses among what the device offers: no checksums in the command queue. */
int vcx_fw_set_caps(struct vcx_dev *dev)
{
	struct vcx_query_hca_cap_out *current_caps;
	struct vcx_number_out out = {};
	struct vcx_set_hca_cap_in *in;
	int err = -ENOMEM;

	current_caps = kzalloc(sizeof(*current_caps), GFP_KERNEL);
	in = kzalloc(sizeof(*in), GFP_KERNEL);
	if (!current_caps || !in)
		goto out_free;
	err = vcx_fw_query_cap_page(dev, VCX_CAP_MODE_CURRENT, current_caps);
	if (err)
		goto out_free;

	in->hdr.opcode = cpu_to_be16(VCX_CMD_SET_HCA_CAP);
	in->hdr.op_mod = cpu_to_be16(VCX_CAP_OP_MOD(VCX_CAP_GENERAL, 0));
	in->cap = current_caps->cap;
	VCX_SET(&in->cap, VCX_CAP_CMDIF_CHECKSUM, 0);
	VCX_SET(&in->cap, VCX_CAP_LOG_UAR_PAGE_SZ,
		PAGE_SHIFT - VCX_LOG_PAGE_BYTES);
	err = vcx_cmd_exec(dev, in, sizeof(*in), &out, sizeof(out));

out_free:
	kfree(in);
	kfree(current_caps);
	return err;
}

static void vcx_fw_parse_caps(const struct vcx_hca_cap *cap,
			      struct vcx_caps *caps)
{
	caps->max_qps = BIT(VCX_GET(cap, VCX_CAP_LOG_MAX_QP) & 31);
	caps->max_cqs = BIT(VCX_GET(cap, VCX_CAP_LOG_MAX_CQ) & 31);
	caps->max_mkeys = BIT(VCX_GET(cap, VCX_CAP_LOG_MAX_MKEY) & 31);
	caps->max_pds = BIT(VCX_GET(cap, VCX_CAP_LOG_MAX_PD) & 31);
	caps->max_eqs = VCX_GET(cap, VCX_CAP_MAX_NUM_EQS);
	if (!caps->max_eqs)
		caps->max_eqs = BIT(VCX_GET(cap, VCX_CAP_LOG_MAX_EQ));
	/* The QP context has four bits for the logarithm of either size. */
	caps->max_sq_bbs = BIT(min(VCX_GET(cap, VCX_CAP_LOG_MAX_QP_SZ), 15u));
	caps->max_rq_wqes = caps->max_sq_bbs;
	caps->max_cqes = BIT(min(VCX_GET(cap, VCX_CAP_LOG_MAX_CQ_SZ), 23u));
	caps->max_sq_wqe_bytes = min_t(u32, VCX_WQE_MAX_BYTES,
				       VCX_GET(cap, VCX_CAP_MAX_WQE_SZ_SQ));
	caps->max_rq_wqe_bytes = VCX_GET(cap, VCX_CAP_MAX_WQE_SZ_RQ);
	caps->max_reads_out =
		BIT(min(VCX_GET(cap, VCX_CAP_LOG_MAX_RA_REQ_QP), 7u));
	caps->max_reads_in =
		BIT(min(VCX_GET(cap, VCX_CAP_LOG_MAX_RA_RES_QP), 7u));
	caps->num_gids = VCX_CAP_GIDS(VCX_GET(cap, VCX_CAP_GID_TABLE_SIZE) & 7);
	caps->num_pkeys =
		VCX_CAP_PKEYS(VCX_GET(cap, VCX_CAP_PKEY_TABLE_SIZE) & 7);
	caps->log_max_msg = VCX_GET(cap, VCX_CAP_LOG_MAX_MSG);
	caps->log_max_mr = min(VCX_GET(cap, VCX_CAP_LOG_MAX_MRW_SZ), 63u);
	caps->log_sq_db_bytes = VCX_GET(cap, VCX_CAP_LOG_BF_REG_SIZE);
	caps->ack_delay = VCX_GET(cap, VCX_CAP_LOCAL_CA_ACK_DELAY);
	caps->num_ports = VCX_GET(cap, VCX_CAP_NUM_PORTS);
	caps->port_is_ib = VCX_GET(cap, VCX_CAP_PORT_TYPE) ==
			   VCX_CAP_PORT_TYPE_IB;
	caps->rc = VCX_GET(cap, VCX_CAP_RC);
	caps->cq_ignore_overrun = VCX_GET(cap, VCX_CAP_CQ_OI);
	caps->cq_resize = VCX_GET(cap, VCX_CAP_CQ_RESIZE);
	caps->cq_moderation = VCX_GET(cap, VCX_CAP_CQ_MODERATION);
	caps->mkey_by_name = VCX_GET(cap, VCX_CAP_MKEY_BY_NAME);
	caps->counter_sets = VCX_GET(cap, VCX_CAP_MAX_QP_CNT) != 0;
	caps->retrans_counters = VCX_GET(cap, VCX_CAP_RETRANS_COUNTERS);
	caps->error_counters = VCX_GET(cap, VCX_CAP_ENHANCED_ERR_COUNTERS);
}

int vcx_fw_query_caps(struct vcx_dev *dev, struct vcx_caps *caps)
{
	struct vcx_query_hca_cap_out *out;
	int err;

	out = kzalloc(sizeof(*out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	err = vcx_fw_query_cap_page(dev, VCX_CAP_MODE_CURRENT, out);
	if (!err)
		vcx_fw_parse_caps(&out->cap, caps);
	kfree(out);
	return err;
}

int vcx_fw_query_board_id(struct vcx_dev *dev, char *board_id)
{
	struct vcx_number_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_QUERY_ADAPTER),
	};
	struct vcx_query_adapter_out *out;
	int err;

	out = kzalloc(sizeof(*out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	err = vcx_cmd_exec(dev, &in, sizeof(in), out, sizeof(*out));
	if (!err) {
		BUILD_BUG_ON(sizeof(out->psid) >= VCX_BOARD_ID_BYTES);
		memcpy(board_id, out->psid, sizeof(out->psid));
		board_id[sizeof(out->psid)] = '\0';
	}
	kfree(out);
	return err;
}

/* ---- Pages ------------------------------------------------------------------- */

int vcx_fw_query_pages(struct vcx_dev *dev, enum vcx_pages_stage stage,
		       s32 *num_pages)
{
	struct vcx_number_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_QUERY_PAGES),
		.hdr.op_mod = cpu_to_be16(stage == VCX_PAGES_BOOT ?
					  VCX_QUERY_PAGES_BOOT :
					  VCX_QUERY_PAGES_INIT),
	};
	struct vcx_query_pages_out out = {};
	int err;

	err = vcx_cmd_exec(dev, &in, sizeof(in), &out, sizeof(out));
	if (!err)
		*num_pages = be32_to_cpu(out.num_pages);
	return err;
}

int vcx_fw_give_pages(struct vcx_dev *dev, const u64 *addr, u32 num)
{
	struct vcx_page_list pages = { .addr = (u64 *)addr, .num = num };
	struct vcx_manage_pages_out out = {};
	struct vcx_manage_pages_in *in;
	size_t in_bytes;
	int err;

	in = vcx_fw_alloc_in(VCX_CMD_MANAGE_PAGES, sizeof(*in), num, &in_bytes);
	if (!in)
		return -ENOMEM;
	in->hdr.op_mod = cpu_to_be16(VCX_MANAGE_PAGES_GIVE);
	in->num_pages = cpu_to_be32(num);
	vcx_fw_put_pages((__be64 *)(in + 1), &pages);
	err = vcx_cmd_exec(dev, in, in_bytes, &out, sizeof(out));
	kvfree(in);
	return err;
}

int vcx_fw_cannot_give_pages(struct vcx_dev *dev)
{
	struct vcx_manage_pages_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_MANAGE_PAGES),
		.hdr.op_mod = cpu_to_be16(VCX_MANAGE_PAGES_CANT_GIVE),
	};
	struct vcx_manage_pages_out out = {};

	return vcx_cmd_exec(dev, &in, sizeof(in), &out, sizeof(out));
}

int vcx_fw_take_pages(struct vcx_dev *dev, u64 *addr, u32 max, u32 *num)
{
	struct vcx_manage_pages_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_MANAGE_PAGES),
		.hdr.op_mod = cpu_to_be16(VCX_MANAGE_PAGES_TAKE),
		.num_pages = cpu_to_be32(max),
	};
	size_t out_bytes = sizeof(struct vcx_manage_pages_out) +
			   max * sizeof(__be64);
	struct vcx_manage_pages_out *out;
	const __be64 *list;
	int err;
	u32 i;

	out = kvzalloc(out_bytes, GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	err = vcx_cmd_exec(dev, &in, sizeof(in), out, out_bytes);
	if (!err) {
		list = (const __be64 *)(out + 1);
		*num = min(be32_to_cpu(out->num_pages), max);
		for (i = 0; i < *num; i++)
			addr[i] = be64_to_cpu(list[i]);
	}
	kvfree(out);
	return err;
}

/* ---- Small objects --------------------------------------------------------------- */

int vcx_fw_alloc_uar(struct vcx_dev *dev, u32 *index)
{
	return vcx_fw_alloc(dev, VCX_CMD_ALLOC_UAR, index);
}

int vcx_fw_dealloc_uar(struct vcx_dev *dev, u32 index)
{
	return vcx_fw_simple(dev, VCX_CMD_DEALLOC_UAR, index);
}

int vcx_fw_alloc_pd(struct vcx_dev *dev, u32 *pdn)
{
	return vcx_fw_alloc(dev, VCX_CMD_ALLOC_PD, pdn);
}

int vcx_fw_dealloc_pd(struct vcx_dev *dev, u32 pdn)
{
	return vcx_fw_simple(dev, VCX_CMD_DEALLOC_PD, pdn);
}

int vcx_fw_alloc_counter_set(struct vcx_dev *dev, u8 *id)
{
	u32 number;
	int err;

	err = vcx_fw_alloc(dev, VCX_CMD_ALLOC_Q_COUNTER, &number);
	if (!err)
		*id = number;
	return err;
}

int vcx_fw_dealloc_counter_set(struct vcx_dev *dev, u8 id)
{
	return vcx_fw_simple(dev, VCX_CMD_DEALLOC_Q_COUNTER, id);
}

int vcx_fw_query_counter_set(struct vcx_dev *dev, u8 id, const u16 *offsets,
			     u64 *values, unsigned int num)
{
	struct vcx_query_q_counter_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_QUERY_Q_COUNTER),
		.counter_set_id = cpu_to_be32(id),
	};
	struct vcx_query_q_counter_out *out;
	unsigned int i;
	int err;

	out = kzalloc(sizeof(*out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	err = vcx_cmd_exec(dev, &in, sizeof(in), out, sizeof(*out));
	for (i = 0; !err && i < num; i++)
		values[i] = be32_to_cpu(out->dw[offsets[i] / 4 - 2]);
	kfree(out);
	return err;
}
