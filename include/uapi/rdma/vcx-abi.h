/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * vcx-abi.h - what vcx.ko and its rdma-core provider say to each other beside
 * the common verbs commands. The device never sees these structures.
 *
 * Input bytes beyond what the kernel knows must be zero; output is cut to the
 * room that user space gives. Queue buffers and doorbell records belong to the
 * process; the kernel pins them for the life of the object.
 */
#ifndef VCX_ABI_USER_H
#define VCX_ABI_USER_H

#include <linux/types.h>

#define VCX_UVERBS_ABI_VERSION	1

struct vcx_alloc_ucontext_req {
	__aligned_u64 comp_mask;	/* 0 */
};

struct vcx_alloc_ucontext_resp {
	__aligned_u64 uar_mmap_offset;	/* for mmap(), one page, write only */
	__u32	uar_page_bytes;
	__u32	uar_index;		/* the page of this process */
	__u32	max_sq_wqe_bytes;	/* largest send WQE, 16-byte units */
	__u32	max_rq_wqe_bytes;
	__u32	max_sq_bbs;		/* 64-byte blocks of a send queue */
	__u32	max_rq_wqes;
	__u32	max_cqes;
	__u32	max_msg_bytes;
	__u32	log_sq_db_bytes;	/* distance of the SQ doorbells */
	__u32	rsvd;
};

struct vcx_alloc_pd_resp {
	__u32	pdn;
	__u32	rsvd;
};

struct vcx_create_cq_req {
	__aligned_u64 buf_addr;		/* log_cqes ring of 64-byte entries */
	__aligned_u64 db_addr;		/* doorbell record, 8-byte aligned */
	__u32	log_cqes;
	__u32	rsvd;
};

struct vcx_create_cq_resp {
	__u32	cqn;
	__u32	rsvd;
};

struct vcx_resize_cq_req {
	__aligned_u64 buf_addr;
	__u32	log_cqes;
	__u32	rsvd;
};

struct vcx_create_qp_req {
	__aligned_u64 buf_addr;		/* receive queue, then send queue */
	__aligned_u64 db_addr;
	__u32	log_sq_bbs;		/* 64-byte blocks */
	__u32	log_rq_wqes;
	__u32	log_rq_stride;		/* bytes, 4 to 9 */
	__u32	sq_offset;		/* bytes from buf_addr */
	__u32	flags;			/* VCX_CREATE_QP_* */
	__u32	rsvd;
};

#define VCX_CREATE_QP_NO_RQ	0x1	/* no receive queue in the buffer */
#define VCX_CREATE_QP_NO_SQ	0x2

struct vcx_create_qp_resp {
	__u32	qpn;
	__u32	rsvd;
};

#endif /* VCX_ABI_USER_H */
