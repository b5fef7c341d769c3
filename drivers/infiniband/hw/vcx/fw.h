/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * fw.h - one function per firmware command. Arguments and results are native;
 * the big-endian structures of <vcx/cmd_layout.h> stay inside fw*.c.
 *
 * All may sleep and return 0 or a negative errno.
 */
#ifndef VCX_FW_H
#define VCX_FW_H

#include <linux/types.h>
#include <vcx/cap.h>

struct vcx_dev;
struct vcx_qpc;

/* What the device is able to do; counts, not logarithms, where possible. */
struct vcx_caps {
	u32 max_qps;
	u32 max_cqs;
	u32 max_mkeys;
	u32 max_pds;
	u32 max_eqs;
	u32 max_sq_bbs;			/* 64-byte blocks of a send queue */
	u32 max_rq_wqes;
	u32 max_cqes;
	u32 max_sq_wqe_bytes;
	u32 max_rq_wqe_bytes;
	u32 max_reads_out;		/* per QP, as the requester */
	u32 max_reads_in;		/* per QP, as the responder */
	u32 num_gids;
	u32 num_pkeys;
	u8 log_max_msg;
	u8 log_max_mr;			/* bytes */
	u8 log_sq_db_bytes;
	u8 ack_delay;
	u8 num_ports;
	bool port_is_ib;
	bool rc;
	bool cq_ignore_overrun;
	bool cq_resize;
	bool cq_moderation;
	bool mkey_by_name;
	bool counter_sets;
	bool retrans_counters;
	bool error_counters;
};

/* Pages of a queue or a memory region, all of the same size. */
struct vcx_page_list {
	u64 *addr;
	u32 num;
	u8 log_bytes;		/* of a page */
	u32 offset;		/* where it begins in the first, bytes */
};

/* ---- Device ---- */
int vcx_fw_enable_hca(struct vcx_dev *dev);
int vcx_fw_disable_hca(struct vcx_dev *dev);
int vcx_fw_set_issi(struct vcx_dev *dev);
int vcx_fw_set_caps(struct vcx_dev *dev);
int vcx_fw_query_caps(struct vcx_dev *dev, struct vcx_caps *caps);
int vcx_fw_init_hca(struct vcx_dev *dev);
int vcx_fw_teardown_hca(struct vcx_dev *dev);

#define VCX_BOARD_ID_BYTES	17
int vcx_fw_query_board_id(struct vcx_dev *dev, char *board_id);

/* ---- Pages ---- */
enum vcx_pages_stage { VCX_PAGES_BOOT, VCX_PAGES_INIT };

int vcx_fw_query_pages(struct vcx_dev *dev, enum vcx_pages_stage stage,
		       s32 *num_pages);
int vcx_fw_give_pages(struct vcx_dev *dev, const u64 *addr, u32 num);
int vcx_fw_cannot_give_pages(struct vcx_dev *dev);
int vcx_fw_take_pages(struct vcx_dev *dev, u64 *addr, u32 max, u32 *num);

/* ---- Small objects ---- */
int vcx_fw_alloc_uar(struct vcx_dev *dev, u32 *index);
int vcx_fw_dealloc_uar(struct vcx_dev *dev, u32 index);
int vcx_fw_alloc_pd(struct vcx_dev *dev, u32 *pdn);
int vcx_fw_dealloc_pd(struct vcx_dev *dev, u32 pdn);
int vcx_fw_alloc_counter_set(struct vcx_dev *dev, u8 *id);
int vcx_fw_dealloc_counter_set(struct vcx_dev *dev, u8 id);

/* Values of the counters at these offsets (enum vcx_q_counter). */
int vcx_fw_query_counter_set(struct vcx_dev *dev, u8 id, const u16 *offsets,
			     u64 *values, unsigned int num);

/* ---- Memory keys ---- */
struct vcx_mkey_params {
	u32 pdn;
	u32 index;		/* wanted; 0: any. Needs mkey_by_name */
	u8 variant;		/* low byte of the key */
	int access;		/* enum ib_access_flags */
	bool physical;		/* addresses are DMA addresses, no bounds */
	u64 start;
	u64 length;
	struct vcx_page_list pages;
};

int vcx_fw_create_mkey(struct vcx_dev *dev, const struct vcx_mkey_params *p,
		       u32 *index);
int vcx_fw_destroy_mkey(struct vcx_dev *dev, u32 index);

/* ---- Event and completion queues ---- */
struct vcx_eq_params {
	u32 uar;
	u32 vector;
	u8 log_size;
	u64 event_mask;
	struct vcx_page_list pages;
};

int vcx_fw_create_eq(struct vcx_dev *dev, const struct vcx_eq_params *p,
		     u32 *eqn);
int vcx_fw_destroy_eq(struct vcx_dev *dev, u32 eqn);

struct vcx_cq_params {
	u32 uar;
	u32 eqn;
	u8 log_size;
	bool ignore_overrun;
	dma_addr_t dbrec_addr;
	struct vcx_page_list pages;
};

int vcx_fw_create_cq(struct vcx_dev *dev, const struct vcx_cq_params *p,
		     u32 *cqn);
int vcx_fw_destroy_cq(struct vcx_dev *dev, u32 cqn);
int vcx_fw_moderate_cq(struct vcx_dev *dev, u32 cqn, u16 count, u16 usecs);
int vcx_fw_resize_cq(struct vcx_dev *dev, u32 cqn, u8 log_size,
		     const struct vcx_page_list *pages);

/* ---- Queue pairs; the context comes from qp_attr.c ---- */
struct vcx_qp_params {
	u32 pdn;
	u32 uar;
	u32 cqn_send;
	u32 cqn_recv;
	dma_addr_t dbrec_addr;
	bool has_sq;
	bool has_rq;
	u8 log_sq_bbs;
	u8 log_rq_wqes;
	u8 log_rq_stride;	/* bytes */
	struct vcx_page_list pages;
};

int vcx_fw_create_qp(struct vcx_dev *dev, const struct vcx_qp_params *p,
		     u32 *qpn);
int vcx_fw_destroy_qp(struct vcx_dev *dev, u32 qpn);
/* Without a context for transitions that set nothing: to RST, ERR and SQD. */
int vcx_fw_modify_qp(struct vcx_dev *dev, u16 opcode, u16 op_mod, u32 qpn,
		     u32 opt_mask, const struct vcx_qpc *qpc);
int vcx_fw_query_qp(struct vcx_dev *dev, u32 qpn, struct vcx_qpc *qpc);

/* ---- Port ---- */
struct vcx_port_info {
	u64 system_guid;
	u64 port_guid;
	u64 node_guid;
	u32 cap_mask;
	u32 cap_mask2;
	u16 lid;
	u16 sm_lid;
	u16 qkey_violations;
	u16 pkey_violations;
	u8 lmc;
	u8 sm_sl;
	u8 subnet_timeout;
	u8 state;		/* VCX_PORT_STATE_* */
	u8 phys_state;
	bool grh_required;
};

int vcx_fw_query_port(struct vcx_dev *dev, struct vcx_port_info *info);
int vcx_fw_query_gid(struct vcx_dev *dev, u16 index, u8 gid[16]);
int vcx_fw_query_pkey(struct vcx_dev *dev, u16 index, u16 *pkey);
int vcx_fw_query_mtu(struct vcx_dev *dev, u16 *max_bytes, u16 *active_bytes);
int vcx_fw_query_speed(struct vcx_dev *dev, u16 *width, u16 *speed);
int vcx_fw_query_vls(struct vcx_dev *dev, u8 *num_vls);
int vcx_fw_query_node_desc(struct vcx_dev *dev, char desc[VCX_NODE_DESC_BYTES]);
int vcx_fw_set_node_desc(struct vcx_dev *dev,
			 const char desc[VCX_NODE_DESC_BYTES]);

#endif /* VCX_FW_H */
