// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * wr_test.c - ibv_post_send(): the bytes of each kind of WQE, the doorbell, and
 * what is refused. The QPN of the fixture's QP is 0x000120.
 */
#include <errno.h>
#include <string.h>

#include "fake_kernel.h"
#include "test.h"

#define UAR_SQ	0x800

static struct fixture fix;

static int post(struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return fake.ops->post_send(fix.qp, wr, bad_wr);
}

/* Post one request of one entry of 0x40 bytes, or what the caller changed. */
static struct ibv_sge one_sge = {
	.addr = 0x1122334455667788,
	.length = 0x40,
	.lkey = 0xaabbccdd,
};

static struct ibv_send_wr simple(enum ibv_wr_opcode opcode)
{
	return (struct ibv_send_wr) {
		.wr_id = 1,
		.sg_list = &one_sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32(0xdeadbeef),
		.wr.rdma = {
			.remote_addr = 0x0102030405060708,
			.rkey = 0x99887766,
		},
	};
}

static void check_one(struct ibv_send_wr wr, const char *want)
{
	struct ibv_send_wr *bad_wr = NULL;

	fake_again();
	fix_open(&fix);
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	CHECK(!bad_wr);
	CHECK_HEX(fake_sq_block(fix.qp, 0), want);
	fix_close(&fix);
}

static void send_is_control_and_data(void)
{
	check_one(simple(IBV_WR_SEND),
		  "0000000a 00012002 00000008 00000000"
		  "00000040 aabbccdd 1122334455667788");
}

static void send_imm_has_the_data_as_given(void)
{
	check_one(simple(IBV_WR_SEND_WITH_IMM),
		  "0000000b 00012002 00000008 deadbeef"
		  "00000040 aabbccdd 1122334455667788");
}

static void write_has_a_remote_address(void)
{
	check_one(simple(IBV_WR_RDMA_WRITE),
		  "00000008 00012003 00000008 00000000"
		  "0102030405060708 99887766 00000000"
		  "00000040 aabbccdd 1122334455667788");
}

static void write_imm_has_both(void)
{
	check_one(simple(IBV_WR_RDMA_WRITE_WITH_IMM),
		  "00000009 00012003 00000008 deadbeef"
		  "0102030405060708 99887766 00000000"
		  "00000040 aabbccdd 1122334455667788");
}

static void read_has_a_remote_address(void)
{
	check_one(simple(IBV_WR_RDMA_READ),
		  "00000010 00012003 00000008 00000000"
		  "0102030405060708 99887766 00000000"
		  "00000040 aabbccdd 1122334455667788");
}

static void flags_are_bits_of_the_control_segment(void)
{
	struct ibv_send_wr wr = simple(IBV_WR_SEND);

	wr.send_flags = 0;
	check_one(wr, "0000000a 00012002 00000000");
	wr.send_flags = IBV_SEND_SOLICITED;
	check_one(wr, "0000000a 00012002 00000002");
	wr.send_flags = IBV_SEND_FENCE;
	check_one(wr, "0000000a 00012002 00000040");
	wr.send_flags = IBV_SEND_FENCE | IBV_SEND_SOLICITED | IBV_SEND_SIGNALED;
	check_one(wr, "0000000a 00012002 0000004a");
}

static void sq_sig_all_signals_every_request(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 4, .max_send_sge = 1 };
	struct ibv_send_wr wr = simple(IBV_WR_SEND), *bad_wr;

	wr.send_flags = 0;
	fix_open_with(&fix, &cap, 1);
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	CHECK_HEX(fake_sq_block(fix.qp, 0), "0000000a 00012002 00000008");
	fix_close(&fix);
}

static void no_entries_or_empty_ones_make_no_segment(void)
{
	struct ibv_sge sges[2] = { { .addr = 1, .length = 0, .lkey = 2 },
				   one_sge };
	struct ibv_send_wr wr = simple(IBV_WR_SEND);

	wr.num_sge = 0;
	wr.sg_list = NULL;
	check_one(wr, "0000000a 00012001 00000008 00000000");
	wr.num_sge = 2;
	wr.sg_list = sges;
	check_one(wr, "0000000a 00012002 00000008 00000000"
		      "00000040 aabbccdd 1122334455667788");
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.num_sge = 1;
	check_one(wr, "00000008 00012002 00000008 00000000"
		      "0102030405060708 99887766 00000000");
}

static void entry_of_2_to_31_has_count_zero(void)
{
	struct ibv_sge sge = one_sge;
	struct ibv_send_wr wr = simple(IBV_WR_SEND);

	sge.length = 0x80000000;
	wr.sg_list = &sge;
	check_one(wr, "0000000a 00012002 00000008 00000000"
		      "00000000 aabbccdd 1122334455667788");
}

static void inline_data_follows_its_length(void)
{
	char text[] = "abcdefghijklmnop";
	struct ibv_sge sges[2] = {
		{ .addr = (uintptr_t)text, .length = 3 },
		{ .addr = (uintptr_t)text + 3, .length = 10 },
	};
	struct ibv_send_wr wr = simple(IBV_WR_SEND);

	wr.send_flags |= IBV_SEND_INLINE;
	wr.sg_list = sges;
	wr.num_sge = 1;
	check_one(wr, "0000000a 00012002 00000008 00000000 80000003 616263");
	wr.num_sge = 2;		/* 4 + 13 bytes are two units */
	check_one(wr, "0000000a 00012003 00000008 00000000"
		      "8000000d 61626364 65666768 696a6b6c 6d");
	wr.opcode = IBV_WR_RDMA_WRITE;
	check_one(wr, "00000008 00012004 00000008 00000000"
		      "0102030405060708 99887766 00000000"
		      "8000000d 61626364 65666768 696a6b6c 6d");
	wr.opcode = IBV_WR_SEND;
	wr.num_sge = 0;
	check_one(wr, "0000000a 00012001 00000008 00000000");
}

/* Blocks of 64 bytes: a WQE of three is followed by one with index 3. */
static void long_wqe_moves_the_index_by_its_blocks(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 4, .max_send_sge = 8 };
	struct ibv_send_wr wr[2] = { simple(IBV_WR_RDMA_WRITE),
				     simple(IBV_WR_SEND) };
	struct ibv_send_wr *bad_wr;
	struct ibv_sge sges[8];
	int i;

	for (i = 0; i < 8; i++)
		sges[i] = one_sge;
	wr[0].sg_list = sges;
	wr[0].num_sge = 8;
	wr[0].next = &wr[1];
	fix_open_with(&fix, &cap, 0);
	CHECK_EQUAL(post(wr, &bad_wr), 0);
	CHECK_HEX(fake_sq_block(fix.qp, 0), "00000008 0001200a");
	CHECK_HEX((char *)fake_sq_block(fix.qp, 2) + 16,
		  "00000040 aabbccdd 1122334455667788");
	CHECK_HEX(fake_sq_block(fix.qp, 3), "0000030a 00012002");
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 4);
	fix_close(&fix);
}

static void retire_all(uint16_t index)
{
	struct ibv_wc wc;

	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, index);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 1, &wc), 1);
}

/* Sixteen blocks; the WQE of three begins in the last but one. */
static void wqe_wraps_at_the_end_of_the_ring(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 4, .max_send_sge = 1,
				  .max_inline_data = 140 };
	struct ibv_send_wr wr = simple(IBV_WR_SEND), *bad_wr;
	char text[140];
	int i;

	fix_open_with(&fix, &cap, 0);
	CHECK_EQUAL(fake_qp_of(fix.qp)->req.log_sq_bbs, 4);
	for (i = 0; i < 14; i++) {
		CHECK_EQUAL(post(&wr, &bad_wr), 0);
		retire_all(i);
	}

	for (i = 0; i < 140; i++)
		text[i] = i;
	one_sge.addr = (uintptr_t)text;
	one_sge.length = 140;
	wr = simple(IBV_WR_RDMA_WRITE);
	wr.send_flags |= IBV_SEND_INLINE;
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	one_sge.addr = 0x1122334455667788;
	one_sge.length = 0x40;

	/* 32 bytes of segments, a word, 28 bytes; 64 bytes; then block 0 */
	CHECK_HEX(fake_sq_block(fix.qp, 14), "00000e08 0001200b");
	CHECK_HEX((char *)fake_sq_block(fix.qp, 14) + 32, "8000008c 00010203");
	CHECK_EQUAL(memcmp(fake_sq_block(fix.qp, 15), text + 28, 64), 0);
	CHECK_EQUAL(memcmp(fake_sq_block(fix.qp, 16), text + 92, 48), 0);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 17);
	fix_close(&fix);
}

static void entries_wrap_at_the_end_of_the_ring(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 2, .max_send_sge = 6 };
	struct ibv_send_wr wr = simple(IBV_WR_SEND), *bad_wr;
	struct ibv_sge sges[6];
	int i;

	fix_open_with(&fix, &cap, 0);	/* four blocks, two for a WQE */
	for (i = 0; i < 3; i++) {
		CHECK_EQUAL(post(&wr, &bad_wr), 0);
		retire_all(i);
	}
	for (i = 0; i < 6; i++) {
		sges[i] = one_sge;
		sges[i].lkey = i;
	}
	wr.sg_list = sges;
	wr.num_sge = 6;
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	CHECK_HEX(fake_sq_block(fix.qp, 3), "0000030a 00012007");
	CHECK_HEX((char *)fake_sq_block(fix.qp, 3) + 48, "00000040 00000002");
	CHECK_HEX(fake_sq_block(fix.qp, 0), "00000040 00000003");
	CHECK_HEX((char *)fake_sq_block(fix.qp, 0) + 32, "00000040 00000005");
	fix_close(&fix);
}

static void index_and_record_have_16_bits(void)
{
	struct ibv_send_wr wr = simple(IBV_WR_SEND), *bad_wr;
	uint32_t i;

	fix_open(&fix);
	for (i = 0; i < 0x10000; i++) {
		CHECK_EQUAL(post(&wr, &bad_wr), 0);
		retire_all(i);
	}
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 0);
	CHECK_HEX(fake_sq_block(fix.qp, 7), "00ffff0a 00012002");
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 1);
	CHECK_HEX(fake_sq_block(fix.qp, 0), "0000000a 00012002");
	fix_close(&fix);
}

static void doorbell_is_the_last_control_segment(void)
{
	struct ibv_send_wr wr[3] = { simple(IBV_WR_SEND), simple(IBV_WR_SEND),
				     simple(IBV_WR_RDMA_READ) };
	struct ibv_send_wr *bad_wr;

	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	fix_open(&fix);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 0);
	CHECK_EQUAL(post(wr, &bad_wr), 0);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 3);
	CHECK_EQUAL(fake_qp_record(fix.qp, 0), 0);
	CHECK_HEX(fake.uar + UAR_SQ, "00000210 00012003 00000000");
	fix_close(&fix);
}

static void nothing_posted_rings_nothing(void)
{
	struct ibv_send_wr wr = simple(IBV_WR_SEND), *bad_wr = NULL;

	fix_open(&fix);
	CHECK_EQUAL(post(NULL, &bad_wr), 0);
	wr.num_sge = 100;
	CHECK_EQUAL(post(&wr, &bad_wr), EINVAL);
	CHECK_HEX(fake.uar + UAR_SQ, "00000000 00000000");
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 0);
	fix_close(&fix);
}

static void full_queue_posts_what_fits(void)
{
	struct ibv_send_wr wr[FIX_SEND_WR + 2], *bad_wr = NULL;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < FIX_SEND_WR + 2; i++) {
		wr[i] = simple(IBV_WR_SEND);
		wr[i].wr_id = i;
		wr[i].next = i < FIX_SEND_WR + 1 ? &wr[i + 1] : NULL;
	}
	fix_open(&fix);
	CHECK_EQUAL(post(wr, &bad_wr), ENOMEM);
	CHECK(bad_wr == &wr[FIX_SEND_WR]);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), FIX_SEND_WR);

	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 0);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 1, &wc), 1);
	CHECK_EQUAL(wc.wr_id, 0);
	CHECK_EQUAL(post(&wr[FIX_SEND_WR], &bad_wr), ENOMEM);
	CHECK(bad_wr == &wr[FIX_SEND_WR + 1]);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), FIX_SEND_WR + 1);
	fix_close(&fix);
}

static void bad_request_keeps_those_before_it(void)
{
	struct ibv_send_wr wr[3] = { simple(IBV_WR_SEND), simple(IBV_WR_SEND),
				     simple(IBV_WR_SEND) };
	struct ibv_send_wr *bad_wr = NULL;

	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	wr[1].num_sge = FIX_SEND_SGE + 1;
	fix_open(&fix);
	CHECK_EQUAL(post(wr, &bad_wr), EINVAL);
	CHECK(bad_wr == &wr[1]);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 1);
	CHECK_HEX(fake.uar + UAR_SQ, "0000000a 00012002");

	/* The place of the bad one is free for the next. */
	CHECK_EQUAL(post(&wr[2], &bad_wr), 0);
	CHECK_HEX(fake_sq_block(fix.qp, 1), "0000010a 00012002");
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 2);
	fix_close(&fix);
}

static void check_refused(struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad_wr = NULL;

	fake_again();
	fix_open(&fix);
	CHECK_EQUAL(post(&wr, &bad_wr), EINVAL);
	CHECK(bad_wr == &wr);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 0);
	fix_close(&fix);
}

static void impossible_requests_are_refused(void)
{
	struct ibv_sge huge = { .length = 0x80000001 };
	struct ibv_send_wr wr = simple(IBV_WR_SEND);

	wr.num_sge = -1;
	check_refused(wr);
	wr = simple(IBV_WR_SEND);
	wr.sg_list = &huge;
	check_refused(wr);
	wr = simple(IBV_WR_SEND);
	wr.send_flags |= IBV_SEND_IP_CSUM;
	check_refused(wr);
	wr = simple(IBV_WR_RDMA_READ);
	wr.send_flags |= IBV_SEND_INLINE;
	check_refused(wr);
	check_refused(simple(IBV_WR_ATOMIC_CMP_AND_SWP));
	check_refused(simple(IBV_WR_BIND_MW));
	check_refused(simple(IBV_WR_DRIVER1));
	check_refused(simple((enum ibv_wr_opcode)-1));
}

static void inline_data_has_the_limit_of_the_qp(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 1, .max_inline_data = 20 };
	struct ibv_send_wr wr = simple(IBV_WR_SEND), *bad_wr;
	char text[64] = "";
	struct ibv_sge sges[2] = {
		{ .addr = (uintptr_t)text, .length = 28 },
		{ .addr = (uintptr_t)text, .length = 1 },
	};

	wr.send_flags |= IBV_SEND_INLINE;
	wr.sg_list = sges;
	fix_open_with(&fix, &cap, 0);	/* 64 - 32 - 4 bytes fit */
	wr.num_sge = 2;
	CHECK_EQUAL(post(&wr, &bad_wr), EINVAL);
	sges[0].length = UINT32_MAX;
	CHECK_EQUAL(post(&wr, &bad_wr), EINVAL);
	sges[0].length = 28;
	wr.num_sge = 1;
	CHECK_EQUAL(post(&wr, &bad_wr), 0);
	CHECK_HEX(fake_sq_block(fix.qp, 0),
		  "0000000a 00012003 00000008 00000000 8000001c");
	fix_close(&fix);
}

static void queue_takes_requests_from_rts_on(void)
{
	static const struct {
		enum ibv_qp_state state;
		int err;
	} cases[] = {
		{ IBV_QPS_RESET, EINVAL }, { IBV_QPS_INIT, EINVAL },
		{ IBV_QPS_RTR, EINVAL },   { IBV_QPS_RTS, 0 },
		{ IBV_QPS_SQD, 0 },	   { IBV_QPS_SQE, 0 },
		{ IBV_QPS_ERR, 0 },
	};
	struct ibv_send_wr wr = simple(IBV_WR_SEND), *bad_wr;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_again();
		fix_open(&fix);
		fix.qp->state = cases[i].state;
		CHECK_EQUAL(post(&wr, &bad_wr), cases[i].err);
		CHECK_EQUAL(fake_qp_record(fix.qp, 1), !cases[i].err);
		fix_close(&fix);
	}
}

static void qp_without_send_queue_takes_nothing(void)
{
	struct ibv_qp_cap cap = { .max_recv_wr = 1, .max_recv_sge = 1 };
	struct ibv_send_wr wr = simple(IBV_WR_SEND), *bad_wr;

	fix_open_with(&fix, &cap, 0);
	CHECK_EQUAL(fake_qp_of(fix.qp)->req.flags, VCX_CREATE_QP_NO_SQ);
	CHECK_EQUAL(post(&wr, &bad_wr), ENOMEM);
	fix_close(&fix);
}

const struct test wr_tests[] = {
	TEST(send_is_control_and_data),
	TEST(send_imm_has_the_data_as_given),
	TEST(write_has_a_remote_address),
	TEST(write_imm_has_both),
	TEST(read_has_a_remote_address),
	TEST(flags_are_bits_of_the_control_segment),
	TEST(sq_sig_all_signals_every_request),
	TEST(no_entries_or_empty_ones_make_no_segment),
	TEST(entry_of_2_to_31_has_count_zero),
	TEST(inline_data_follows_its_length),
	TEST(long_wqe_moves_the_index_by_its_blocks),
	TEST(wqe_wraps_at_the_end_of_the_ring),
	TEST(entries_wrap_at_the_end_of_the_ring),
	TEST(index_and_record_have_16_bits),
	TEST(doorbell_is_the_last_control_segment),
	TEST(nothing_posted_rings_nothing),
	TEST(full_queue_posts_what_fits),
	TEST(bad_request_keeps_those_before_it),
	TEST(impossible_requests_are_refused),
	TEST(inline_data_has_the_limit_of_the_qp),
	TEST(queue_takes_requests_from_rts_on),
	TEST(qp_without_send_queue_takes_nothing),
	{},
};
