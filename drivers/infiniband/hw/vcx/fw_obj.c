// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fw_obj.c - the firmware commands of event queues, memory keys, completion
 * queues and queue pairs.
 */
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <vcx/cmd_layout.h>

#include "fw_cmd.h"
#include "vcx.h"

/* Contexts of queues count page sizes from 4 KiB, offsets in page / 64. */
static u32 vcx_queue_log_page(const struct vcx_page_list *pages)
{
	return pages->log_bytes - VCX_LOG_PAGE_BYTES;
}

static u32 vcx_queue_offset(const struct vcx_page_list *pages)
{
	return pages->offset >> (pages->log_bytes - 6);
}

/* ---- Event queues -------------------------------------------------------- */

int vcx_fw_create_eq(struct vcx_dev *dev, const struct vcx_eq_params *p,
		     u32 *eqn)
{
	struct vcx_number_out out = {};
	struct vcx_create_eq_in *in;
	size_t in_bytes;
	int err;

	in = vcx_fw_alloc_in(VCX_CMD_CREATE_EQ, sizeof(*in), p->pages.num,
			     &in_bytes);
	if (!in)
		return -ENOMEM;
	VCX_SET(&in->eqc, VCX_EQC_LOG_SIZE, p->log_size);
	VCX_SET(&in->eqc, VCX_EQC_UAR_PAGE, p->uar);
	VCX_SET(&in->eqc, VCX_EQC_INTR, p->vector);
	VCX_SET(&in->eqc, VCX_EQC_LOG_PAGE_SIZE, vcx_queue_log_page(&p->pages));
	VCX_SET(&in->eqc, VCX_EQC_PAGE_OFFSET, vcx_queue_offset(&p->pages));
	in->event_bitmask[0] = cpu_to_be64(p->event_mask);
	vcx_fw_put_pages((__be64 *)(in + 1), &p->pages);

	err = vcx_cmd_exec(dev, in, in_bytes, &out, sizeof(out));
	if (!err)
		*eqn = be32_to_cpu(out.number) & 0xff;
	kvfree(in);
	return err;
}

int vcx_fw_destroy_eq(struct vcx_dev *dev, u32 eqn)
{
	return vcx_fw_simple(dev, VCX_CMD_DESTROY_EQ, eqn);
}

/* ---- Memory keys ----------------------------------------------------------- */

static void vcx_fw_fill_mkc(struct vcx_mkc *mkc,
			    const struct vcx_mkey_params *p)
{
	VCX_SET(mkc, VCX_MKC_ACCESS_MODE,
		p->physical ? VCX_MKC_MODE_PA : VCX_MKC_MODE_MTT);
	VCX_SET(mkc, VCX_MKC_LR, 1);
	VCX_SET(mkc, VCX_MKC_LW, !!(p->access & IB_ACCESS_LOCAL_WRITE));
	VCX_SET(mkc, VCX_MKC_RR, !!(p->access & IB_ACCESS_REMOTE_READ));
	VCX_SET(mkc, VCX_MKC_RW, !!(p->access & IB_ACCESS_REMOTE_WRITE));
	VCX_SET(mkc, VCX_MKC_A, !!(p->access & IB_ACCESS_REMOTE_ATOMIC));
	VCX_SET(mkc, VCX_MKC_QPN, VCX_MKC_ANY_QP);
	VCX_SET(mkc, VCX_MKC_KEY_7_0, p->variant);
	VCX_SET(mkc, VCX_MKC_PD, p->pdn);
	if (p->physical) {
		VCX_SET(mkc, VCX_MKC_LENGTH64, 1);
		return;
	}
	VCX_SET64(mkc, VCX_MKC_START_ADDR, p->start);
	VCX_SET64(mkc, VCX_MKC_LEN, p->length);
	VCX_SET(mkc, VCX_MKC_TRANSLATIONS, DIV_ROUND_UP(p->pages.num, 2));
	VCX_SET(mkc, VCX_MKC_LOG_PAGE_SIZE, p->pages.log_bytes);
}

int vcx_fw_create_mkey(struct vcx_dev *dev, const struct vcx_mkey_params *p,
		       u32 *index)
{
	struct vcx_number_out out = {};
	struct vcx_create_mkey_in *in;
	size_t in_bytes;
	int err;

	/* The list is counted in units of two addresses. */
	in = vcx_fw_alloc_in(VCX_CMD_CREATE_MKEY, sizeof(*in),
			     round_up(p->pages.num, 2), &in_bytes);
	if (!in)
		return -ENOMEM;
	in->input_index = cpu_to_be32(p->index);
	vcx_fw_fill_mkc(&in->mkc, p);
	in->translations_octwords = cpu_to_be32(DIV_ROUND_UP(p->pages.num, 2));
	vcx_fw_put_pages((__be64 *)(in + 1), &p->pages);

	err = vcx_cmd_exec(dev, in, in_bytes, &out, sizeof(out));
	if (!err)
		*index = be32_to_cpu(out.number) & VCX_NUMBER_MASK;
	kvfree(in);
	return err;
}

int vcx_fw_destroy_mkey(struct vcx_dev *dev, u32 index)
{
	return vcx_fw_simple(dev, VCX_CMD_DESTROY_MKEY, index);
}

/* ---- Completion queues --------------------------------------------------------- */

int vcx_fw_create_cq(struct vcx_dev *dev, const struct vcx_cq_params *p,
		     u32 *cqn)
{
	struct vcx_number_out out = {};
	struct vcx_create_cq_in *in;
	size_t in_bytes;
	int err;

	in = vcx_fw_alloc_in(VCX_CMD_CREATE_CQ, sizeof(*in), p->pages.num,
			     &in_bytes);
	if (!in)
		return -ENOMEM;
	VCX_SET(&in->cqc, VCX_CQC_CQE_SZ, VCX_CQE_SZ_64);
	VCX_SET(&in->cqc, VCX_CQC_OI, p->ignore_overrun);
	VCX_SET(&in->cqc, VCX_CQC_LOG_SIZE, p->log_size);
	VCX_SET(&in->cqc, VCX_CQC_UAR_PAGE, p->uar);
	VCX_SET(&in->cqc, VCX_CQC_EQN, p->eqn);
	VCX_SET(&in->cqc, VCX_CQC_LOG_PAGE_SIZE, vcx_queue_log_page(&p->pages));
	VCX_SET(&in->cqc, VCX_CQC_PAGE_OFFSET, vcx_queue_offset(&p->pages));
	VCX_SET64(&in->cqc, VCX_CQC_DBR_ADDR, p->dbrec_addr);
	vcx_fw_put_pages((__be64 *)(in + 1), &p->pages);

	err = vcx_cmd_exec(dev, in, in_bytes, &out, sizeof(out));
	if (!err)
		*cqn = be32_to_cpu(out.number) & VCX_NUMBER_MASK;
	kvfree(in);
	return err;
}

int vcx_fw_destroy_cq(struct vcx_dev *dev, u32 cqn)
{
	return vcx_fw_simple(dev, VCX_CMD_DESTROY_CQ, cqn);
}

int vcx_fw_moderate_cq(struct vcx_dev *dev, u32 cqn, u16 count, u16 usecs)
{
	struct vcx_modify_cq_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_MODIFY_CQ),
		.cqn = cpu_to_be32(cqn),
		.field_select = cpu_to_be32(VCX_MODIFY_CQ_PERIOD |
					    VCX_MODIFY_CQ_MAX_COUNT),
	};
	struct vcx_number_out out = {};

	VCX_SET(&in.cqc, VCX_CQC_PERIOD, usecs);
	VCX_SET(&in.cqc, VCX_CQC_MAX_COUNT, count);
	return vcx_cmd_exec(dev, &in, sizeof(in), &out, sizeof(out));
}

int vcx_fw_resize_cq(struct vcx_dev *dev, u32 cqn, u8 log_size,
		     const struct vcx_page_list *pages)
{
	struct vcx_number_out out = {};
	struct vcx_modify_cq_in *in;
	size_t in_bytes;
	int err;

	in = vcx_fw_alloc_in(VCX_CMD_MODIFY_CQ, sizeof(*in), pages->num,
			     &in_bytes);
	if (!in)
		return -ENOMEM;
	in->hdr.op_mod = cpu_to_be16(VCX_MODIFY_CQ_OP_RESIZE);
	in->cqn = cpu_to_be32(cqn);
	in->field_select = cpu_to_be32(VCX_MODIFY_CQ_LOG_SIZE |
				       VCX_MODIFY_CQ_PAGE_OFFSET |
				       VCX_MODIFY_CQ_LOG_PAGE_SIZE);
	VCX_SET(&in->cqc, VCX_CQC_LOG_SIZE, log_size);
	VCX_SET(&in->cqc, VCX_CQC_LOG_PAGE_SIZE, vcx_queue_log_page(pages));
	VCX_SET(&in->cqc, VCX_CQC_PAGE_OFFSET, vcx_queue_offset(pages));
	vcx_fw_put_pages((__be64 *)(in + 1), pages);

	err = vcx_cmd_exec(dev, in, in_bytes, &out, sizeof(out));
	kvfree(in);
	return err;
}

/* ---- Queue pairs -------------------------------------------------------------------- */

static void vcx_fw_fill_qpc(struct vcx_dev *dev, struct vcx_qpc *qpc,
			    const struct vcx_qp_params *p)
{
	VCX_SET(qpc, VCX_QPC_ST, VCX_QP_ST_RC);
	VCX_SET(qpc, VCX_QPC_PM_STATE, VCX_QP_PM_MIGRATED);
	VCX_SET(qpc, VCX_QPC_PD, p->pdn);
	VCX_SET(qpc, VCX_QPC_UAR_PAGE, p->uar);
	VCX_SET(qpc, VCX_QPC_USER_INDEX, VCX_QP_NO_USER_INDEX);
	VCX_SET(qpc, VCX_QPC_CQN_SND, p->cqn_send);
	VCX_SET(qpc, VCX_QPC_CQN_RCV, p->cqn_recv);
	VCX_SET64(qpc, VCX_QPC_DBR_ADDR, p->dbrec_addr);
	VCX_SET(qpc, VCX_QPC_LOG_PAGE_SIZE, vcx_queue_log_page(&p->pages));
	VCX_SET(qpc, VCX_QPC_PAGE_OFFSET, vcx_queue_offset(&p->pages));
	if (dev->has_counter_set)
		VCX_SET(qpc, VCX_QPC_COUNTER_SET_ID, dev->counter_set);
	if (p->has_sq)
		VCX_SET(qpc, VCX_QPC_LOG_SQ_SIZE, p->log_sq_bbs);
	else
		VCX_SET(qpc, VCX_QPC_NO_SQ, 1);
	if (p->has_rq) {
		VCX_SET(qpc, VCX_QPC_RQ_TYPE, VCX_QP_RQ_REGULAR);
		VCX_SET(qpc, VCX_QPC_LOG_RQ_SIZE, p->log_rq_wqes);
		VCX_SET(qpc, VCX_QPC_LOG_RQ_STRIDE, p->log_rq_stride - 4);
	} else {
		VCX_SET(qpc, VCX_QPC_RQ_TYPE, VCX_QP_RQ_NONE);
	}
}

int vcx_fw_create_qp(struct vcx_dev *dev, const struct vcx_qp_params *p,
		     u32 *qpn)
{
	struct vcx_number_out out = {};
	struct vcx_qp_in *in;
	size_t in_bytes;
	int err;

	in = vcx_fw_alloc_in(VCX_CMD_CREATE_QP, sizeof(*in), p->pages.num,
			     &in_bytes);
	if (!in)
		return -ENOMEM;
	vcx_fw_fill_qpc(dev, &in->qpc, p);
	vcx_fw_put_pages((__be64 *)(in + 1), &p->pages);

	err = vcx_cmd_exec(dev, in, in_bytes, &out, sizeof(out));
	if (!err)
		*qpn = be32_to_cpu(out.number) & VCX_NUMBER_MASK;
	kvfree(in);
	return err;
}

int vcx_fw_destroy_qp(struct vcx_dev *dev, u32 qpn)
{
	return vcx_fw_simple(dev, VCX_CMD_DESTROY_QP, qpn);
}

int vcx_fw_modify_qp(struct vcx_dev *dev, u16 opcode, u16 op_mod, u32 qpn,
		     u32 opt_mask, const struct vcx_qpc *qpc)
{
	struct vcx_number_in bare = {
		.hdr.opcode = cpu_to_be16(opcode),
		.hdr.op_mod = cpu_to_be16(op_mod),
		.number = cpu_to_be32(qpn),
	};
	struct vcx_number_out out = {};
	struct vcx_qp_in *in;
	int err;

	/* A transition that sets nothing takes no context. */
	if (!qpc)
		return vcx_cmd_exec(dev, &bare, sizeof(bare), &out,
				    sizeof(out));
	in = kzalloc(sizeof(*in), GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	in->hdr = bare.hdr;
	in->qpn = bare.number;
	in->opt_param_mask = cpu_to_be32(opt_mask);
	in->qpc = *qpc;
	err = vcx_cmd_exec(dev, in, sizeof(*in), &out, sizeof(out));
	kfree(in);
	return err;
}

int vcx_fw_query_qp(struct vcx_dev *dev, u32 qpn, struct vcx_qpc *qpc)
{
	struct vcx_number_in in = {
		.hdr.opcode = cpu_to_be16(VCX_CMD_QUERY_QP),
		.number = cpu_to_be32(qpn),
	};
	struct vcx_query_qp_out *out;
	int err;

	out = kzalloc(sizeof(*out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	err = vcx_cmd_exec(dev, &in, sizeof(in), out, sizeof(*out));
	if (!err)
		*qpc = out->qpc;
	kfree(out);
	return err;
}
