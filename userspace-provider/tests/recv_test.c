// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * recv_test.c - ibv_post_recv(): the bytes of receive WQEs, the doorbell
 * record, and what is refused.
 */
#include <errno.h>

#include "fake_kernel.h"
#include "test.h"

static struct fixture fix;

static struct ibv_sge sges[3] = {
	{ .addr = 0x1122334455667788, .length = 0x40, .lkey = 0xaabbccdd },
	{ .addr = 0x10, .length = 0x20, .lkey = 0x30 },
	{ .addr = 0x11, .length = 0x21, .lkey = 0x31 },
};

static int post(struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return fake.ops->post_recv(fix.qp, wr, bad_wr);
}

static void short_list_is_terminated(void)
{
	struct ibv_recv_wr wr = { .sg_list = sges, .num_sge = 1 }, *bad_wr;
	struct ibv_recv_wr none = {};

	fix_open(&fix);
	CHECK_EQUAL(fake_qp_of(fix.qp)->req.log_rq_stride, 5);
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	CHECK_EQUAL(post(&none, &bad_wr), 0);
	CHECK_HEX(fake_rq_wqe(fix.qp, 0),
		  "00000040 aabbccdd 1122334455667788"
		  "00000000 00000100 0000000000000000");
	CHECK_HEX(fake_rq_wqe(fix.qp, 1), "00000000 00000100 0000000000000000");
	CHECK_EQUAL(fake_qp_record(fix.qp, 0), 2);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 0);
	fix_close(&fix);
}

static void full_list_is_not_terminated(void)
{
	struct ibv_recv_wr wr = { .sg_list = sges, .num_sge = 2 }, *bad_wr;

	fix_open(&fix);
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	CHECK_HEX(fake_rq_wqe(fix.qp, 0),
		  "00000040 aabbccdd 1122334455667788"
		  "00000020 00000030 0000000000000010");
	fix_close(&fix);
}

static void empty_entries_are_left_out(void)
{
	struct ibv_sge list[2] = { { .length = 0, .lkey = 5 }, sges[1] };
	struct ibv_recv_wr wr = { .sg_list = list, .num_sge = 2 }, *bad_wr;

	fix_open(&fix);
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	CHECK_HEX(fake_rq_wqe(fix.qp, 0),
		  "00000020 00000030 0000000000000010"
		  "00000000 00000100 0000000000000000");
	fix_close(&fix);
}

static void queue_wraps_and_knows_its_requests(void)
{
	struct ibv_recv_wr wr = { .sg_list = sges, .num_sge = 1 }, *bad_wr;
	struct ibv_wc wc;
	uint32_t i;

	fix_open(&fix);
	for (i = 0; i < 0x10001; i++) {
		wr.wr_id = 1000 + i;
		CHECK_EQUAL(post(&wr, &bad_wr), 0);
		fake_recv_done(fix.cq, fix.qp, VCX_CQE_RESP_SEND, 64);
		CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 1, &wc), 1);
		CHECK_EQUAL(wc.wr_id, 1000 + i);
	}
	CHECK_EQUAL(fake_qp_record(fix.qp, 0), 1);	/* 16 bits */
	fix_close(&fix);
}

static void full_queue_posts_what_fits(void)
{
	struct ibv_recv_wr wr[FIX_RECV_WR + 1] = {}, *bad_wr = NULL;
	int i;

	for (i = 0; i < FIX_RECV_WR; i++)
		wr[i].next = &wr[i + 1];
	fix_open(&fix);
	CHECK_EQUAL(post(wr, &bad_wr), ENOMEM);
	CHECK(bad_wr == &wr[FIX_RECV_WR]);
	CHECK_EQUAL(fake_qp_record(fix.qp, 0), FIX_RECV_WR);
	fix_close(&fix);
}

static void bad_request_keeps_those_before_it(void)
{
	struct ibv_recv_wr wr[2] = {}, *bad_wr = NULL;
	struct ibv_sge huge = { .length = 0x80000001 };

	wr[0].next = &wr[1];
	wr[1].sg_list = sges;
	fix_open(&fix);
	wr[1].num_sge = FIX_RECV_SGE + 1;
	CHECK_EQUAL(post(wr, &bad_wr), EINVAL);
	CHECK(bad_wr == &wr[1]);
	CHECK_EQUAL(fake_qp_record(fix.qp, 0), 1);
	wr[1].num_sge = -1;
	CHECK_EQUAL(post(&wr[1], &bad_wr), EINVAL);
	wr[1].sg_list = &huge;
	wr[1].num_sge = 1;
	CHECK_EQUAL(post(&wr[1], &bad_wr), EINVAL);
	CHECK_EQUAL(fake_qp_record(fix.qp, 0), 1);
	fix_close(&fix);
}

static void reset_qp_takes_nothing(void)
{
	struct ibv_recv_wr wr = {}, *bad_wr = NULL;

	fix_open(&fix);
	fix.qp->state = IBV_QPS_RESET;
	CHECK_EQUAL(post(&wr, &bad_wr), EINVAL);
	CHECK(bad_wr == &wr);
	CHECK_EQUAL(fake_qp_record(fix.qp, 0), 0);
	fix.qp->state = IBV_QPS_INIT;
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	fix_close(&fix);
}

static void qp_without_receive_queue_takes_nothing(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 1, .max_send_sge = 1 };
	struct ibv_recv_wr wr = {}, *bad_wr = NULL;

	fix_open_with(&fix, &cap, 0);
	CHECK_EQUAL(fake_qp_of(fix.qp)->req.flags, VCX_CREATE_QP_NO_RQ);
	CHECK_EQUAL(post(&wr, &bad_wr), EINVAL);
	fix_close(&fix);
}

const struct test recv_tests[] = {
	TEST(short_list_is_terminated),
	TEST(full_list_is_not_terminated),
	TEST(empty_entries_are_left_out),
	TEST(queue_wraps_and_knows_its_requests),
	TEST(full_queue_posts_what_fits),
	TEST(bad_request_keeps_those_before_it),
	TEST(reset_qp_takes_nothing),
	TEST(qp_without_receive_queue_takes_nothing),
	{},
};
