// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * cq_test.c - making, arming, cleaning and resizing completion queues.
 */
#include <errno.h>
#include <string.h>

#include "fake_kernel.h"
#include "test.h"

#define UAR_CQ_ARM	0x20

static struct fixture fix;

static void post_sends(struct ibv_qp *qp, int count)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad_wr;

	while (count--) {
		CHECK_EQUAL(fake.ops->post_send(qp, &wr, &bad_wr), 0);
		wr.wr_id++;
	}
}

/* ---- Create -------------------------------------------------------------- */

static void size_is_a_power_of_two_with_one_to_spare(void)
{
	static const struct {
		int cqe, log;
	} cases[] = {
		{ 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 100, 7 },
		{ 4095, 12 },
	};
	struct ibv_context *ctx;
	struct vcx_cqe *cqes;
	struct ibv_cq *cq;
	unsigned int i;
	int k;

	ctx = fake_open();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cq = fake.ops->create_cq(ctx, cases[i].cqe, NULL, 0);
		CHECK_EQUAL(cq->cqe, (1 << cases[i].log) - 1);
		CHECK_EQUAL(fake_cq_of(cq)->req.log_cqes, cases[i].log);
		cqes = (void *)(uintptr_t)fake_cq_of(cq)->req.buf_addr;
		for (k = 0; k < 1 << cases[i].log; k++)
			CHECK_EQUAL(cqes[k].op_own >> 4, VCX_CQE_INVALID);
		CHECK_EQUAL(fake.ops->destroy_cq(cq), 0);
	}
	fake_close(ctx);
}

static void impossible_sizes_are_refused(void)
{
	static const int sizes[] = { 0, -1, 4096, INT32_MAX };
	struct ibv_context *ctx = fake_open();
	unsigned int i;

	for (i = 0; i < 4; i++) {
		errno = 0;
		CHECK(!fake.ops->create_cq(ctx, sizes[i], NULL, 0));
		CHECK_EQUAL(errno, EINVAL);
	}
	CHECK_EQUAL(fake.num_commands, 1);
	fake_close(ctx);
}

static void check_attr(struct ibv_context *ctx,
		       struct ibv_cq_init_attr_ex attr, int want)
{
	struct ibv_cq_ex *cq;

	attr.cqe = 3;
	errno = 0;
	cq = fake.ops->create_cq_ex(ctx, &attr);
	CHECK_EQUAL(cq ? 0 : errno, want);
	if (cq)
		CHECK_EQUAL(fake.ops->destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

static void unknown_wishes_are_refused(void)
{
	struct ibv_context *ctx = fake_open();
	struct ibv_pd *pd = fake.ops->alloc_pd(ctx);

	check_attr(ctx, (struct ibv_cq_init_attr_ex) {
		.wc_flags = IBV_WC_STANDARD_FLAGS }, 0);
	check_attr(ctx, (struct ibv_cq_init_attr_ex) {
		.wc_flags = IBV_WC_EX_WITH_CVLAN }, EOPNOTSUPP);
	check_attr(ctx, (struct ibv_cq_init_attr_ex) {
		.wc_flags = IBV_WC_EX_WITH_TM_INFO }, EOPNOTSUPP);
	check_attr(ctx, (struct ibv_cq_init_attr_ex) {
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK },
		EOPNOTSUPP);
	check_attr(ctx, (struct ibv_cq_init_attr_ex) {
		.comp_mask = 1 << 5 }, EOPNOTSUPP);
	check_attr(ctx, (struct ibv_cq_init_attr_ex) {
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN }, EOPNOTSUPP);
	check_attr(ctx, (struct ibv_cq_init_attr_ex) {
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = pd }, EINVAL);
	CHECK_EQUAL(fake.ops->dealloc_pd(pd), 0);
	fake_close(ctx);
}

static void timestamps_need_a_clock_of_the_kernel(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_context *ctx = fake_open();

	check_attr(ctx, attr, EOPNOTSUPP);
	fake.hca_core_clock = 1000000;
	check_attr(ctx, attr, 0);
	fake_close(ctx);
}

/* ---- Arm ----------------------------------------------------------------- */

static void arm_writes_record_and_register(void)
{
	struct ibv_wc wc;

	fix_open(&fix);
	CHECK_EQUAL(fake.ops->req_notify_cq(fix.cq, 0), 0);
	CHECK_EQUAL(fake_cq_record(fix.cq, 1), 0);
	CHECK_HEX(fake.uar + UAR_CQ_ARM, "00000000 00000040");

	post_sends(fix.qp, 1);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 0);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 1, &wc), 1);
	fake.ops->cq_event(fix.cq);
	CHECK_EQUAL(fake.ops->req_notify_cq(fix.cq, 1), 0);
	CHECK_EQUAL(fake_cq_record(fix.cq, 1), 0x11000001);
	CHECK_HEX(fake.uar + UAR_CQ_ARM, "11000001 00000040");
	fix_close(&fix);
}

static void sequence_number_has_two_bits(void)
{
	int i;

	fix_open(&fix);
	for (i = 0; i < 6; i++) {
		CHECK_EQUAL(fake.ops->req_notify_cq(fix.cq, 0), 0);
		CHECK_EQUAL(fake_cq_record(fix.cq, 1), (i & 3) << 28);
		/* Armed again without an event: the same arm. */
		CHECK_EQUAL(fake.ops->req_notify_cq(fix.cq, 0), 0);
		CHECK_EQUAL(fake_cq_record(fix.cq, 1), (i & 3) << 28);
		fake.ops->cq_event(fix.cq);
	}
	fix_close(&fix);
}

static void arm_is_possible_while_polling(void)
{
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_ex *cq;

	fix_open(&fix);
	cq = &to_vcx_cq(fix.cq)->vcq.cq_ex;
	post_sends(fix.qp, 1);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 0);
	CHECK_EQUAL(ibv_start_poll(cq, &attr), 0);
	CHECK_EQUAL(fake.ops->req_notify_cq(fix.cq, 0), 0);
	ibv_end_poll(cq);
	fix_close(&fix);
}

/* ---- Clean --------------------------------------------------------------- */

/* Entries of the fixture's QP (a) and another (b), from somewhere in a lap. */
static void check_clean(unsigned int skip, const char *order)
{
	struct ibv_qp *other;
	struct ibv_wc wc[16];
	unsigned int i, num_a = 0, num_b = 0;
	char kept[17] = "";
	int n;

	fix_open(&fix);
	for (i = 0; i < skip; i++) {
		post_sends(fix.qp, 1);
		fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, i);
		CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 1, wc), 1);
	}
	other = fix_add_qp(&fix, fix.cq, fix.cq);
	post_sends(fix.qp, 8);
	post_sends(other, 8);
	for (i = 0; order[i]; i++) {
		if (order[i] == 'a')
			fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND,
				       skip + num_a++);
		else
			fake_send_done(fix.cq, other, VCX_WQE_SEND, num_b++);
	}

	CHECK_EQUAL(fake.ops->destroy_qp(fix.qp), 0);
	fix.qp = NULL;
	CHECK_EQUAL(fake_cq_record(fix.cq, 0), skip + num_a);
	n = fake.ops->poll_cq(fix.cq, 16, wc);
	CHECK_EQUAL(n, num_b);
	for (i = 0; i < n; i++) {
		CHECK_EQUAL(wc[i].qp_num, other->qp_num);
		CHECK_EQUAL(wc[i].wr_id, i);
		kept[i] = 'b';
	}
	CHECK_EQUAL(strlen(kept), num_b);
	CHECK_EQUAL(fake_cq_record(fix.cq, 0), skip + num_a + num_b);

	/* And the queue goes on where the device does. */
	if (num_b < 8) {
		fake_send_done(fix.cq, other, VCX_WQE_SEND, num_b);
		CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 16, wc), 1);
		CHECK_EQUAL(wc[0].wr_id, num_b);
	}
	CHECK_EQUAL(fake.ops->destroy_qp(other), 0);
	fix_close(&fix);
}

static void destroyed_qp_leaves_no_entry(void)
{
	static const char * const orders[] = {
		"", "a", "b", "aaaa", "bbbb", "ab", "ba", "aabb", "bbaa",
		"abab", "baba", "abbabaab", "aaaaaaaabbbbbbbb",
		"babababababababa",
	};
	static const unsigned int skips[] = { 0, 1, 7, 14, 15, 16, 29 };
	unsigned int i, k;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		for (k = 0; k < sizeof(skips) / sizeof(skips[0]); k++) {
			fake_again();
			check_clean(skips[k], orders[i]);
		}
	}
}

static void both_queues_of_a_qp_are_cleaned(void)
{
	struct ibv_recv_wr recv_wr = {}, *bad_wr;
	struct ibv_cq *recv_cq;
	struct ibv_wc wc;
	struct ibv_qp *qp;

	fix_open(&fix);
	recv_cq = fake.ops->create_cq(fix.ctx, 3, NULL, 0);
	qp = fix_add_qp(&fix, fix.cq, recv_cq);
	post_sends(qp, 1);
	CHECK_EQUAL(fake.ops->post_recv(qp, &recv_wr, &bad_wr), 0);
	fake_send_done(fix.cq, qp, VCX_WQE_SEND, 0);
	fake_recv_done(recv_cq, qp, VCX_CQE_RESP_SEND, 1);
	CHECK_EQUAL(fake.ops->destroy_qp(qp), 0);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 1, &wc), 0);
	CHECK_EQUAL(fake.ops->poll_cq(recv_cq, 1, &wc), 0);
	CHECK_EQUAL(fake.ops->destroy_cq(recv_cq), 0);
	fix_close(&fix);
}

/* ---- Resize -------------------------------------------------------------- */

static void take_in_order(uint64_t first, unsigned int count)
{
	struct ibv_wc wc[64];
	unsigned int i;

	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 64, wc), count);
	for (i = 0; i < count; i++)
		CHECK_EQUAL(wc[i].wr_id, (first + i) % 8);
}

static void post_and_complete(unsigned int first, unsigned int count)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad_wr;

	for (; count--; first++) {
		wr.wr_id = first % 8;
		CHECK_EQUAL(fake.ops->post_send(fix.qp, &wr, &bad_wr), 0);
		fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, first);
	}
}

/* Take some, leave some, resize, take the rest and what comes after. */
static void check_resize(unsigned int taken, unsigned int unread, int cqe)
{
	unsigned int i, next = taken + unread;
	int num_cqes;

	fix_open(&fix);
	for (i = 0; i < taken; i++) {
		post_and_complete(i, 1);
		take_in_order(i, 1);
	}
	post_and_complete(taken, unread);
	CHECK_EQUAL(fake.ops->resize_cq(fix.cq, cqe), 0);
	num_cqes = 1 << fake_cq_of(fix.cq)->req.log_cqes;
	CHECK_EQUAL(fix.cq->cqe, num_cqes - 1);
	CHECK(fix.cq->cqe >= cqe);
	/* The marker took a number of the counter. */
	CHECK_EQUAL(fake_cq_record(fix.cq, 0), taken + 1);
	take_in_order(taken, unread);
	CHECK_EQUAL(fake_cq_record(fix.cq, 0), next + 1);
	for (i = 0; i < 2 * num_cqes; i++) {
		post_and_complete(next + i, 1);
		take_in_order(next + i, 1);
	}
	fix_close(&fix);
}

static void entries_survive_a_resize(void)
{
	static const int sizes[] = { 7, 8, 15, 16, 31, 63 };
	unsigned int i, taken, unread;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (taken = 0; taken < 34; taken += 3) {
			for (unread = 0; unread < 6; unread++) {
				fake_again();
				check_resize(taken, unread, sizes[i]);
			}
		}
	}
}

static void failed_resize_changes_nothing(void)
{
	uint64_t old;

	fix_open(&fix);
	post_and_complete(0, 3);
	old = fake_cq_of(fix.cq)->req.buf_addr;
	fake.fail_command = 1;
	CHECK_EQUAL(fake.ops->resize_cq(fix.cq, 31), ENOSPC);
	fake.fail_alloc = 1;
	CHECK_EQUAL(fake.ops->resize_cq(fix.cq, 31), ENOMEM);
	CHECK_EQUAL(fake.ops->resize_cq(fix.cq, 0), EINVAL);
	CHECK_EQUAL(fake.ops->resize_cq(fix.cq, 4096), EINVAL);
	CHECK_EQUAL(fix.cq->cqe, FIX_CQE);
	CHECK_EQUAL(fake_cq_of(fix.cq)->req.buf_addr, old);
	take_in_order(0, 3);
	fix_close(&fix);
}

/* Between the command and the switch of rings a poller may meet the marker. */
static void poll_stops_at_the_marker(void)
{
	struct ibv_wc wc[4];

	fix_open(&fix);
	post_and_complete(0, 2);
	fake_cqe(fix.cq);
	fake_cqe_done(fix.cq, VCX_CQE_RESIZE);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 4, wc), 2);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 4, wc), 0);
	CHECK_EQUAL(fake_cq_record(fix.cq, 0), 2);
	fix_close(&fix);
}

static void missing_marker_is_told(void)
{
	fix_open(&fix);
	fake.no_resize_marker = true;
	CHECK_EQUAL(fake.ops->resize_cq(fix.cq, 31), EIO);
	fix_close(&fix);
}

const struct test cq_tests[] = {
	TEST(size_is_a_power_of_two_with_one_to_spare),
	TEST(impossible_sizes_are_refused),
	TEST(unknown_wishes_are_refused),
	TEST(timestamps_need_a_clock_of_the_kernel),
	TEST(arm_writes_record_and_register),
	TEST(sequence_number_has_two_bits),
	TEST(arm_is_possible_while_polling),
	TEST(destroyed_qp_leaves_no_entry),
	TEST(both_queues_of_a_qp_are_cleaned),
	TEST(entries_survive_a_resize),
	TEST(failed_resize_changes_nothing),
	TEST(poll_stops_at_the_marker),
	TEST(missing_marker_is_told),
	{},
};
