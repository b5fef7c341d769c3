// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * poll_test.c - taking completions, by ibv_poll_cq() and by ibv_cq_ex.
 */
#include <errno.h>

#include "fake_kernel.h"
#include "test.h"

static struct fixture fix;

static void post_sends(int count)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad_wr;

	while (count--) {
		CHECK_EQUAL(fake.ops->post_send(fix.qp, &wr, &bad_wr), 0);
		wr.wr_id++;
	}
}

static void post_recvs(int count)
{
	struct ibv_recv_wr wr = { .wr_id = 100 }, *bad_wr;

	while (count--) {
		CHECK_EQUAL(fake.ops->post_recv(fix.qp, &wr, &bad_wr), 0);
		wr.wr_id++;
	}
}

static int poll_one(struct ibv_wc *wc)
{
	return fake.ops->poll_cq(fix.cq, 1, wc);
}

static void new_queue_is_empty(void)
{
	struct ibv_wc wc[2];

	fix_open(&fix);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 2, wc), 0);
	CHECK_EQUAL(fake_cq_record(fix.cq, 0), 0);
	fix_close(&fix);
}

static void send_opcodes_come_from_the_entry(void)
{
	static const struct {
		uint8_t opcode;
		enum ibv_wc_opcode want;
	} cases[] = {
		{ VCX_WQE_SEND, IBV_WC_SEND },
		{ VCX_WQE_SEND_IMM, IBV_WC_SEND },
		{ VCX_WQE_RDMA_WRITE, IBV_WC_RDMA_WRITE },
		{ VCX_WQE_RDMA_WRITE_IMM, IBV_WC_RDMA_WRITE },
		{ VCX_WQE_RDMA_READ, IBV_WC_RDMA_READ },
	};
	struct ibv_wc wc;
	unsigned int i;

	fix_open(&fix);
	post_sends(5);
	for (i = 0; i < 5; i++) {
		fake_send_done(fix.cq, fix.qp, cases[i].opcode, i);
		CHECK_EQUAL(poll_one(&wc), 1);
		CHECK_EQUAL(wc.status, IBV_WC_SUCCESS);
		CHECK_EQUAL(wc.opcode, cases[i].want);
		CHECK_EQUAL(wc.wr_id, i);
		CHECK_EQUAL(wc.qp_num, FAKE_FIRST_QPN);
		CHECK_EQUAL(wc.wc_flags, 0);
		CHECK_EQUAL(fake_cq_record(fix.cq, 0), i + 1);
	}
	fix_close(&fix);
}

static void read_tells_its_bytes(void)
{
	struct vcx_cqe *cqe;
	struct ibv_wc wc;

	fix_open(&fix);
	post_sends(1);
	cqe = fake_cqe(fix.cq);
	cqe->sop_qpn = htobe32(VCX_WQE_RDMA_READ << 24 | FAKE_FIRST_QPN);
	cqe->byte_count = htobe32(0x12345);
	fake_cqe_done(fix.cq, VCX_CQE_REQ);
	CHECK_EQUAL(poll_one(&wc), 1);
	CHECK_EQUAL(wc.byte_len, 0x12345);
	fix_close(&fix);
}

static void receive_kinds(void)
{
	static const struct {
		uint8_t op;
		enum ibv_wc_opcode opcode;
		unsigned int flags;
	} cases[] = {
		{ VCX_CQE_RESP_SEND, IBV_WC_RECV, 0 },
		{ VCX_CQE_RESP_SEND_IMM, IBV_WC_RECV, IBV_WC_WITH_IMM },
		{ VCX_CQE_RESP_WRITE_IMM, IBV_WC_RECV_RDMA_WITH_IMM,
		  IBV_WC_WITH_IMM },
		{ VCX_CQE_RESP_SEND_INV, IBV_WC_RECV, IBV_WC_WITH_INV },
	};
	struct ibv_wc wc;
	unsigned int i;

	fix_open(&fix);
	post_recvs(4);
	for (i = 0; i < 4; i++) {
		fake_recv_done(fix.cq, fix.qp, cases[i].op, 77);
		CHECK_EQUAL(poll_one(&wc), 1);
		CHECK_EQUAL(wc.status, IBV_WC_SUCCESS);
		CHECK_EQUAL(wc.opcode, cases[i].opcode);
		CHECK_EQUAL(wc.wc_flags, cases[i].flags);
		CHECK_EQUAL(wc.wr_id, 100 + i);
		CHECK_EQUAL(wc.byte_len, 77);
		if (cases[i].flags == IBV_WC_WITH_INV)
			CHECK_EQUAL(wc.invalidated_rkey, 0x01020304);
		else
			CHECK_EQUAL(wc.imm_data, htobe32(0x01020304));
	}
	fix_close(&fix);
}

static void receive_tells_where_it_came_from(void)
{
	struct vcx_cqe *cqe;
	struct ibv_wc wc;

	fix_open(&fix);
	post_recvs(1);
	cqe = fake_cqe(fix.cq);
	cqe->sop_qpn = htobe32(FAKE_FIRST_QPN);
	cqe->flags_rqpn = htobe32(0x15abcdef);	/* GRH, SL 5 */
	cqe->slid = htobe16(0x1234);
	cqe->ml_path = 0x83;
	fake_cqe_done(fix.cq, VCX_CQE_RESP_SEND);
	CHECK_EQUAL(poll_one(&wc), 1);
	CHECK_EQUAL(wc.src_qp, 0xabcdef);
	CHECK_EQUAL(wc.sl, 5);
	CHECK_EQUAL(wc.slid, 0x1234);
	CHECK_EQUAL(wc.dlid_path_bits, 3);
	CHECK_EQUAL(wc.wc_flags, IBV_WC_GRH);
	fix_close(&fix);
}

static void one_entry_retires_the_unsignalled_before_it(void)
{
	struct ibv_wc wc;

	fix_open(&fix);
	post_sends(FIX_SEND_WR);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, FIX_SEND_WR - 2);
	CHECK_EQUAL(poll_one(&wc), 1);
	CHECK_EQUAL(wc.wr_id, FIX_SEND_WR - 2);
	post_sends(FIX_SEND_WR - 1);
	fix_close(&fix);
}

static void every_syndrome_has_its_status(void)
{
	static const struct {
		uint8_t syndrome;
		enum ibv_wc_status status;
	} cases[] = {
		{ VCX_SYNDROME_LOCAL_LENGTH, IBV_WC_LOC_LEN_ERR },
		{ VCX_SYNDROME_LOCAL_QP_OP, IBV_WC_LOC_QP_OP_ERR },
		{ VCX_SYNDROME_LOCAL_PROTECTION, IBV_WC_LOC_PROT_ERR },
		{ VCX_SYNDROME_FLUSHED, IBV_WC_WR_FLUSH_ERR },
		{ VCX_SYNDROME_MW_BIND, IBV_WC_MW_BIND_ERR },
		{ VCX_SYNDROME_BAD_RESPONSE, IBV_WC_BAD_RESP_ERR },
		{ VCX_SYNDROME_LOCAL_ACCESS, IBV_WC_LOC_ACCESS_ERR },
		{ VCX_SYNDROME_REMOTE_INVALID_REQ, IBV_WC_REM_INV_REQ_ERR },
		{ VCX_SYNDROME_REMOTE_ACCESS, IBV_WC_REM_ACCESS_ERR },
		{ VCX_SYNDROME_REMOTE_OP, IBV_WC_REM_OP_ERR },
		{ VCX_SYNDROME_RETRY_EXCEEDED, IBV_WC_RETRY_EXC_ERR },
		{ VCX_SYNDROME_RNR_EXCEEDED, IBV_WC_RNR_RETRY_EXC_ERR },
		{ VCX_SYNDROME_ABORTED, IBV_WC_REM_ABORT_ERR },
		{ 0x00, IBV_WC_GENERAL_ERR },
		{ 0x03, IBV_WC_GENERAL_ERR },
		{ 0x23, IBV_WC_GENERAL_ERR },
		{ 0xff, IBV_WC_GENERAL_ERR },
	};
	struct ibv_wc wc;
	unsigned int i;

	fix_open(&fix);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		post_sends(1);
		fake_error(fix.cq, fix.qp, VCX_CQE_REQ_ERR, cases[i].syndrome,
			   i);
		CHECK_EQUAL(poll_one(&wc), 1);
		CHECK_EQUAL(wc.status, cases[i].status);
		CHECK_EQUAL(wc.vendor_err, 0x77);
		CHECK_EQUAL(wc.qp_num, FAKE_FIRST_QPN);
	}
	fix_close(&fix);
}

static void flush_retires_request_by_request(void)
{
	struct ibv_wc wc[4];

	fix_open(&fix);
	post_sends(2);
	post_recvs(2);
	fake_error(fix.cq, fix.qp, VCX_CQE_REQ_ERR, VCX_SYNDROME_FLUSHED, 0);
	fake_error(fix.cq, fix.qp, VCX_CQE_REQ_ERR, VCX_SYNDROME_FLUSHED, 1);
	fake_error(fix.cq, fix.qp, VCX_CQE_RESP_ERR, VCX_SYNDROME_FLUSHED, 0);
	fake_error(fix.cq, fix.qp, VCX_CQE_RESP_ERR, VCX_SYNDROME_FLUSHED, 1);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 4, wc), 4);
	CHECK_EQUAL(wc[0].wr_id, 0);
	CHECK_EQUAL(wc[1].wr_id, 1);
	CHECK_EQUAL(wc[2].wr_id, 100);
	CHECK_EQUAL(wc[3].wr_id, 101);
	CHECK_EQUAL(wc[3].status, IBV_WC_WR_FLUSH_ERR);
	fix_close(&fix);
}

/* 16 entries: what lies there from the lap before must not be taken again. */
static void old_entries_are_not_taken_twice(void)
{
	struct ibv_wc wc[4];
	int lap, i;

	fix_open(&fix);
	for (lap = 0; lap < 5; lap++) {
		for (i = 0; i < 16; i++) {
			post_sends(1);
			fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND,
				       lap * 16 + i);
			CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 4, wc), 1);
			CHECK_EQUAL(fake_cq_record(fix.cq, 0),
				    lap * 16 + i + 1);
		}
	}
	fix_close(&fix);
}

static void poll_takes_no_more_than_asked(void)
{
	struct ibv_wc wc[4];

	fix_open(&fix);
	post_sends(5);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 0);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 1);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 2);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 0, wc), 0);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 2, wc), 2);
	CHECK_EQUAL(fake_cq_record(fix.cq, 0), 2);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 2, wc), 1);
	CHECK_EQUAL(wc[0].wr_id, 2);
	fix_close(&fix);
}

static void alien(uint8_t op, uint32_t qpn)
{
	fake_cqe(fix.cq)->sop_qpn = htobe32(qpn);
	fake_cqe_done(fix.cq, op);
}

/* Told once, after what came before it, and then out of the way. */
static void entry_of_no_queue_is_an_error(void)
{
	static const struct {
		uint8_t op;
		uint32_t qpn;
	} cases[] = {
		{ VCX_CQE_REQ, 0xffffff },
		{ VCX_CQE_REQ, FAKE_FIRST_QPN + 1 },
		{ 0x9, FAKE_FIRST_QPN },	/* no such kind of entry */
		{ VCX_CQE_RESP_SEND, FAKE_FIRST_QPN },	/* no receive queue */
	};
	struct ibv_qp_cap cap = { .max_send_wr = 8, .max_send_sge = 1 };
	struct ibv_wc wc[4];
	unsigned int i;

	fix_open_with(&fix, &cap, 0);
	for (i = 0; i < 4; i++) {
		post_sends(2);
		fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 2 * i);
		alien(cases[i].op, cases[i].qpn);
		fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 2 * i + 1);
		CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 4, wc), 1);
		CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 4, wc), -EIO);
		CHECK_EQUAL(fake.log_messages, i + 1);
		CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 4, wc), 1);
		CHECK_EQUAL(fake_cq_record(fix.cq, 0), 3 * (i + 1));
	}
	fix_close(&fix);
}

/* ---- ibv_cq_ex ----------------------------------------------------------- */

static struct ibv_cq_ex *ex_open(uint64_t wc_flags, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 7,
		.wc_flags = wc_flags,
		.comp_mask = flags ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0,
		.flags = flags,
	};
	struct ibv_cq_ex *cq;

	fix_open(&fix);
	CHECK_EQUAL(fake.ops->destroy_qp(fix.qp), 0);
	cq = fake.ops->create_cq_ex(fix.ctx, &attr);
	fix.qp = fix_add_qp(&fix, ibv_cq_ex_to_cq(cq), ibv_cq_ex_to_cq(cq));
	return cq;
}

static void ex_close(struct ibv_cq_ex *cq)
{
	CHECK_EQUAL(fake.ops->destroy_qp(fix.qp), 0);
	fix.qp = NULL;
	CHECK_EQUAL(fake.ops->destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	fix_close(&fix);
}

static void ex_reads_what_poll_tells(void)
{
	struct ibv_poll_cq_attr attr = {};
	struct vcx_cqe *cqe;
	struct ibv_cq_ex *cq;

	fake.hca_core_clock = 1000000;
	cq = ex_open(IBV_WC_STANDARD_FLAGS |
			     IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, 0);
	post_recvs(1);
	post_sends(2);
	cqe = fake_cqe(ibv_cq_ex_to_cq(cq));
	cqe->sop_qpn = htobe32(fix.qp->qp_num);
	cqe->flags_rqpn = htobe32(0x15abcdef);
	cqe->slid = htobe16(0x1234);
	cqe->ml_path = 0x83;
	cqe->byte_count = htobe32(99);
	cqe->imm_inval_pkey = htobe32(0xdeadbeef);
	cqe->timestamp = htobe64(0x1122334455667788);
	fake_cqe_done(ibv_cq_ex_to_cq(cq), VCX_CQE_RESP_SEND_IMM);
	fake_send_done(ibv_cq_ex_to_cq(cq), fix.qp, VCX_WQE_RDMA_WRITE, 0);
	fake_error(ibv_cq_ex_to_cq(cq), fix.qp, VCX_CQE_REQ_ERR,
		   VCX_SYNDROME_RETRY_EXCEEDED, 1);

	CHECK_EQUAL(ibv_start_poll(cq, &attr), 0);
	CHECK_EQUAL(cq->status, IBV_WC_SUCCESS);
	CHECK_EQUAL(cq->wr_id, 100);
	CHECK_EQUAL(ibv_wc_read_opcode(cq), IBV_WC_RECV);
	CHECK_EQUAL(ibv_wc_read_byte_len(cq), 99);
	CHECK_EQUAL(ibv_wc_read_imm_data(cq), htobe32(0xdeadbeef));
	CHECK_EQUAL(ibv_wc_read_qp_num(cq), fix.qp->qp_num);
	CHECK_EQUAL(ibv_wc_read_src_qp(cq), 0xabcdef);
	CHECK_EQUAL(ibv_wc_read_wc_flags(cq), IBV_WC_GRH | IBV_WC_WITH_IMM);
	CHECK_EQUAL(ibv_wc_read_slid(cq), 0x1234);
	CHECK_EQUAL(ibv_wc_read_sl(cq), 5);
	CHECK_EQUAL(ibv_wc_read_dlid_path_bits(cq), 3);
	CHECK_EQUAL(ibv_wc_read_completion_ts(cq), 0x1122334455667788);
	CHECK_EQUAL(ibv_wc_read_vendor_err(cq), 0);

	CHECK_EQUAL(ibv_next_poll(cq), 0);
	CHECK_EQUAL(ibv_wc_read_opcode(cq), IBV_WC_RDMA_WRITE);
	CHECK_EQUAL(cq->wr_id, 0);
	CHECK_EQUAL(ibv_next_poll(cq), 0);
	CHECK_EQUAL(cq->status, IBV_WC_RETRY_EXC_ERR);
	CHECK_EQUAL(ibv_wc_read_vendor_err(cq), 0x77);
	CHECK_EQUAL(cq->wr_id, 1);
	CHECK_EQUAL(ibv_next_poll(cq), ENOENT);

	/* The entries are ours until the end of the poll. */
	CHECK_EQUAL(fake_cq_record(ibv_cq_ex_to_cq(cq), 0), 0);
	ibv_end_poll(cq);
	CHECK_EQUAL(fake_cq_record(ibv_cq_ex_to_cq(cq), 0), 3);
	ex_close(cq);
}

/* start_poll() that finds nothing must not keep the lock; a hang shows it. */
static void ex_lock_is_held_only_while_polling(void)
{
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_ex *cq = ex_open(0, 0);
	struct vcx_cq *vcq = to_vcx_cq_ex(cq);

	CHECK_EQUAL(ibv_start_poll(cq, &attr), ENOENT);
	CHECK_EQUAL(pthread_spin_trylock(&vcq->lock.spin), 0);
	pthread_spin_unlock(&vcq->lock.spin);

	attr.comp_mask = 1;
	CHECK_EQUAL(ibv_start_poll(cq, &attr), EINVAL);
	attr.comp_mask = 0;

	post_sends(1);
	fake_send_done(ibv_cq_ex_to_cq(cq), fix.qp, VCX_WQE_SEND, 0);
	CHECK_EQUAL(ibv_start_poll(cq, &attr), 0);
	CHECK_EQUAL(pthread_spin_trylock(&vcq->lock.spin), EBUSY);
	ibv_end_poll(cq);
	CHECK_EQUAL(pthread_spin_trylock(&vcq->lock.spin), 0);
	pthread_spin_unlock(&vcq->lock.spin);
	ex_close(cq);
}

static void ex_single_threaded_takes_no_lock(void)
{
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_ex *cq = ex_open(0, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	struct vcx_cq *vcq = to_vcx_cq_ex(cq);

	post_sends(1);
	fake_send_done(ibv_cq_ex_to_cq(cq), fix.qp, VCX_WQE_SEND, 0);
	CHECK_EQUAL(ibv_start_poll(cq, &attr), 0);
	CHECK_EQUAL(pthread_spin_trylock(&vcq->lock.spin), 0);
	pthread_spin_unlock(&vcq->lock.spin);
	ibv_end_poll(cq);
	ex_close(cq);
}

const struct test poll_tests[] = {
	TEST(new_queue_is_empty),
	TEST(send_opcodes_come_from_the_entry),
	TEST(read_tells_its_bytes),
	TEST(receive_kinds),
	TEST(receive_tells_where_it_came_from),
	TEST(one_entry_retires_the_unsignalled_before_it),
	TEST(every_syndrome_has_its_status),
	TEST(flush_retires_request_by_request),
	TEST(old_entries_are_not_taken_twice),
	TEST(poll_takes_no_more_than_asked),
	TEST(entry_of_no_queue_is_an_error),
	TEST(ex_reads_what_poll_tells),
	TEST(ex_lock_is_held_only_while_polling),
	TEST(ex_single_threaded_takes_no_lock),
	{},
};
