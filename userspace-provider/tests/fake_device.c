// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * fake_device.c - the device of the tests, see fake_kernel.h, and the fixture
 * that most of them begin with.
 */
#include <string.h>

#include "fake_kernel.h"
#include "test.h"

struct fake_cq *fake_cq_of(struct ibv_cq *ibcq)
{
	return &fake.cqs[ibcq->handle - FAKE_FIRST_CQN];
}

struct fake_qp *fake_qp_of(struct ibv_qp *ibqp)
{
	return &fake.qps[ibqp->handle];
}

void *fake_sq_block(struct ibv_qp *ibqp, uint32_t block)
{
	struct vcx_create_qp_req *req = &fake_qp_of(ibqp)->req;

	return (char *)(uintptr_t)req->buf_addr + req->sq_offset +
	       (block & ((1u << req->log_sq_bbs) - 1)) * 64;
}

void *fake_rq_wqe(struct ibv_qp *ibqp, uint32_t idx)
{
	struct vcx_create_qp_req *req = &fake_qp_of(ibqp)->req;

	return (char *)(uintptr_t)req->buf_addr +
	       ((idx & ((1u << req->log_rq_wqes) - 1)) << req->log_rq_stride);
}

static uint32_t fake_record(uint64_t addr, unsigned int word)
{
	return be32toh(((__be32 *)(uintptr_t)addr)[word]);
}

uint32_t fake_qp_record(struct ibv_qp *ibqp, unsigned int word)
{
	return fake_record(fake_qp_of(ibqp)->req.db_addr, word);
}

uint32_t fake_cq_record(struct ibv_cq *ibcq, unsigned int word)
{
	return fake_record(fake_cq_of(ibcq)->req.db_addr, word);
}

struct vcx_cqe *fake_cqe(struct ibv_cq *ibcq)
{
	struct fake_cq *cq = fake_cq_of(ibcq);
	struct vcx_cqe *cqe = (struct vcx_cqe *)(uintptr_t)cq->req.buf_addr +
			      (cq->pi & ((1u << cq->req.log_cqes) - 1));
	uint8_t op_own = cqe->op_own;	/* stays until fake_cqe_done() */

	memset(cqe, 0, sizeof(*cqe));
	cqe->op_own = op_own;
	return cqe;
}

void fake_cqe_done(struct ibv_cq *ibcq, uint8_t op)
{
	struct fake_cq *cq = fake_cq_of(ibcq);
	struct vcx_cqe *cqe = (struct vcx_cqe *)(uintptr_t)cq->req.buf_addr +
			      (cq->pi & ((1u << cq->req.log_cqes) - 1));

	cqe->op_own = VCX_CQE_OP_OWN(op, 0, cq->pi >> cq->req.log_cqes & 1);
	cq->pi++;
}

void fake_send_done(struct ibv_cq *ibcq, struct ibv_qp *ibqp, uint8_t opcode,
		    uint16_t index)
{
	struct vcx_cqe *cqe = fake_cqe(ibcq);

	cqe->sop_qpn = htobe32((uint32_t)opcode << 24 | ibqp->qp_num);
	cqe->wqe_counter = htobe16(index);
	fake_cqe_done(ibcq, VCX_CQE_REQ);
}

void fake_recv_done(struct ibv_cq *ibcq, struct ibv_qp *ibqp, uint8_t op,
		    uint32_t bytes)
{
	struct vcx_cqe *cqe = fake_cqe(ibcq);

	cqe->sop_qpn = htobe32(ibqp->qp_num);
	cqe->byte_count = htobe32(bytes);
	cqe->imm_inval_pkey = htobe32(0x01020304);
	fake_cqe_done(ibcq, op);
}

void fake_error(struct ibv_cq *ibcq, struct ibv_qp *ibqp, uint8_t op,
		uint8_t syndrome, uint16_t index)
{
	struct vcx_err_cqe *cqe = (void *)fake_cqe(ibcq);

	cqe->sop_qpn = htobe32(ibqp->qp_num);
	cqe->wqe_counter = htobe16(index);
	cqe->syndrome = syndrome;
	cqe->vendor_syndrome = 0x77;
	fake_cqe_done(ibcq, op);
}

/* ---- Fixture ------------------------------------------------------------- */

void fix_open(struct fixture *fix)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = FIX_SEND_WR,
		.max_send_sge = FIX_SEND_SGE,
		.max_recv_wr = FIX_RECV_WR,
		.max_recv_sge = FIX_RECV_SGE,
	};

	fix_open_with(fix, &cap, 0);
}

void fix_open_with(struct fixture *fix, const struct ibv_qp_cap *cap,
		   int sq_sig_all)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = *cap,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	fix->ctx = fake_open();
	fix->pd = fake.ops->alloc_pd(fix->ctx);
	fix->cq = fake.ops->create_cq(fix->ctx, FIX_CQE, NULL, 0);
	attr.pd = fix->pd;
	attr.send_cq = fix->cq;
	attr.recv_cq = fix->cq;
	fix->qp = fake.ops->create_qp_ex(fix->ctx, &attr);
	fix->qp->state = IBV_QPS_RTS;
	fix->qp_ex = &to_vcx_qp(fix->qp)->vqp.qp_ex;
}

struct ibv_qp *fix_add_qp(struct fixture *fix, struct ibv_cq *send_cq,
			  struct ibv_cq *recv_cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = send_cq,
		.recv_cq = recv_cq,
		.cap = {
			.max_send_wr = FIX_SEND_WR,
			.max_send_sge = FIX_SEND_SGE,
			.max_recv_wr = FIX_RECV_WR,
			.max_recv_sge = FIX_RECV_SGE,
		},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = fake.ops->create_qp(fix->pd, &attr);

	if (qp)
		qp->state = IBV_QPS_RTS;
	return qp;
}

void fix_close(struct fixture *fix)
{
	if (fix->qp)
		CHECK_EQUAL(fake.ops->destroy_qp(fix->qp), 0);
	CHECK_EQUAL(fake.ops->destroy_cq(fix->cq), 0);
	CHECK_EQUAL(fake.ops->dealloc_pd(fix->pd), 0);
	fake_close(fix->ctx);
}
