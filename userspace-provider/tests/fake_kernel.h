/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
/*
 * fake_kernel.h - what stands in for libibverbs, the kernel and the device.
 *
 * The provider's own entry points run as they are; below them the commands to
 * the kernel are remembered, can be made to fail, and give numbers. The tests
 * play the device: they read what it would read, at the places that the kernel
 * was told, and write the CQEs that it would write.
 */
#ifndef VCX_FAKE_KERNEL_H
#define VCX_FAKE_KERNEL_H

#include <infiniband/driver.h>
#include <rdma/vcx-abi.h>

#include "../vcx.h"

#define FAKE_MAX_CQS	16
#define FAKE_MAX_QPS	16
#define FAKE_FIRST_QPN	0x120	/* QPN of the first QP */
#define FAKE_FIRST_CQN	0x40

struct fake_cq {
	struct vcx_create_cq_req req;	/* after a resize: of the new ring */
	uint32_t flags;
	uint32_t pi;
	bool live;
};

struct fake_qp {
	struct vcx_create_qp_req req;
	struct ibv_qp_cap cap;
	bool live;
};

struct fake_kernel {
	/* Set by tests: the answer to alloc_ucontext, attributes, failures. */
	struct vcx_alloc_ucontext_resp ucontext;
	uint64_t hca_core_clock;
	uint64_t fw_ver;
	unsigned int fail_command;	/* this one from now fails; 0: none */
	unsigned int fail_alloc;	/* likewise calloc() and mmap() */
	int fail_errno;
	uint32_t reuse_qpn;		/* the next QP gets this number */
	bool no_resize_marker;

	/* Seen by tests. */
	const struct verbs_device_ops *driver;
	const struct verbs_context_ops *ops;
	uint8_t *uar;
	struct fake_cq cqs[FAKE_MAX_CQS];
	struct fake_qp qps[FAKE_MAX_QPS];
	unsigned int num_commands, num_allocs;
	unsigned int num_cqs, num_qps;
	unsigned int log_messages;

	/* What must be zero in the end. */
	unsigned int live_objects;
	unsigned int live_contexts;
	long live_allocs, live_maps, live_dontforks;
};

extern struct fake_kernel fake;

void fake_reset(void);
void fake_check_nothing_left(void);
void fake_again(void);	/* both, for tests of many cases */

struct ibv_context *fake_open(void);
void fake_close(struct ibv_context *ibctx);

struct fake_cq *fake_cq_of(struct ibv_cq *ibcq);
struct fake_qp *fake_qp_of(struct ibv_qp *ibqp);

/* What the device reads. */
void *fake_sq_block(struct ibv_qp *ibqp, uint32_t block);
void *fake_rq_wqe(struct ibv_qp *ibqp, uint32_t idx);
uint32_t fake_qp_record(struct ibv_qp *ibqp, unsigned int word);
uint32_t fake_cq_record(struct ibv_cq *ibcq, unsigned int word);

/* The place of the next CQE, zeroed, and its handing over. */
struct vcx_cqe *fake_cqe(struct ibv_cq *ibcq);
void fake_cqe_done(struct ibv_cq *ibcq, uint8_t op);
void fake_send_done(struct ibv_cq *ibcq, struct ibv_qp *ibqp, uint8_t opcode,
		    uint16_t index);
void fake_recv_done(struct ibv_cq *ibcq, struct ibv_qp *ibqp, uint8_t op,
		    uint32_t bytes);
void fake_error(struct ibv_cq *ibcq, struct ibv_qp *ibqp, uint8_t op,
		uint8_t syndrome, uint16_t index);

/* A QP with its CQ, in the usual state of a test. */
struct fixture {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;		/* of both queues */
	struct ibv_qp *qp;		/* in RTS */
	struct ibv_qp_ex *qp_ex;
};

/* Sizes that the fixture's QP asks for. */
#define FIX_SEND_WR	8
#define FIX_SEND_SGE	2		/* with the head, 64 bytes */
#define FIX_RECV_WR	4
#define FIX_RECV_SGE	2
#define FIX_CQE		15

void fix_open(struct fixture *fix);
void fix_open_with(struct fixture *fix, const struct ibv_qp_cap *cap,
		   int sq_sig_all);
void fix_close(struct fixture *fix);
struct ibv_qp *fix_add_qp(struct fixture *fix, struct ibv_cq *send_cq,
			  struct ibv_cq *recv_cq);

#endif /* VCX_FAKE_KERNEL_H */
