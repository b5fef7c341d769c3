// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * wr_api_test.c - the ibv_wr_*() calls: the same bytes as ibv_post_send()
 * makes, lists that are posted whole or not at all, calls out of order.
 */
#include <errno.h>
#include <string.h>

#include "fake_kernel.h"
#include "test.h"

#define UAR_SQ	0x800

static struct fixture fix;

static void start(unsigned int flags)
{
	fix.qp_ex->wr_id = 7;
	fix.qp_ex->wr_flags = flags;
	ibv_wr_start(fix.qp_ex);
}

/* What ibv_qp_to_qp_ex() looks at. */
static void only_a_qp_that_asked_has_the_calls(void)
{
	struct ibv_qp *plain;

	fix_open(&fix);
	plain = fix_add_qp(&fix, fix.cq, fix.cq);
	CHECK(to_vcx_qp(fix.qp)->vqp.comp_mask & VERBS_QP_EX);
	CHECK(!(to_vcx_qp(plain)->vqp.comp_mask & VERBS_QP_EX));
	CHECK_EQUAL(fake.ops->destroy_qp(plain), 0);
	fix_close(&fix);
}

static void every_request_has_the_bytes_of_post_send(void)
{
	static const char * const want[] = {
		"0000000a 00012002 00000008 00000000"
		"00000040 aabbccdd 1122334455667788",
		"0000010b 00012002 00000008 deadbeef"
		"00000040 aabbccdd 1122334455667788",
		"00000208 00012003 00000008 00000000"
		"0102030405060708 99887766 00000000"
		"00000040 aabbccdd 1122334455667788",
		"00000309 00012003 00000008 deadbeef"
		"0102030405060708 99887766 00000000"
		"00000040 aabbccdd 1122334455667788",
		"00000410 00012003 00000008 00000000"
		"0102030405060708 99887766 00000000"
		"00000040 aabbccdd 1122334455667788",
	};
	uint32_t rkey = 0x99887766;
	uint64_t va = 0x0102030405060708;
	int i;

	fix_open(&fix);
	start(IBV_SEND_SIGNALED);
	for (i = 0; i < 5; i++) {
		if (i == 0)
			ibv_wr_send(fix.qp_ex);
		else if (i == 1)
			ibv_wr_send_imm(fix.qp_ex, htobe32(0xdeadbeef));
		else if (i == 2)
			ibv_wr_rdma_write(fix.qp_ex, rkey, va);
		else if (i == 3)
			ibv_wr_rdma_write_imm(fix.qp_ex, rkey, va,
					      htobe32(0xdeadbeef));
		else
			ibv_wr_rdma_read(fix.qp_ex, rkey, va);
		ibv_wr_set_sge(fix.qp_ex, 0xaabbccdd, 0x1122334455667788, 0x40);
	}
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 0);
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), 0);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 5);
	CHECK_HEX(fake.uar + UAR_SQ, "00000410 00012003");
	for (i = 0; i < 5; i++)
		CHECK_HEX(fake_sq_block(fix.qp, i), want[i]);
	fix_close(&fix);
}

static void flags_and_wr_id_are_those_of_the_moment(void)
{
	struct ibv_wc wc[2];

	fix_open(&fix);
	start(IBV_SEND_FENCE | IBV_SEND_SOLICITED);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);
	fix.qp_ex->wr_id = 8;
	fix.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), 0);
	CHECK_HEX(fake_sq_block(fix.qp, 0), "0000000a 00012002 00000042");
	CHECK_HEX(fake_sq_block(fix.qp, 1), "0000010a 00012002 00000008");

	fake_error(fix.cq, fix.qp, VCX_CQE_REQ_ERR, VCX_SYNDROME_FLUSHED, 0);
	fake_error(fix.cq, fix.qp, VCX_CQE_REQ_ERR, VCX_SYNDROME_FLUSHED, 1);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 2, wc), 2);
	CHECK_EQUAL(wc[0].wr_id, 7);
	CHECK_EQUAL(wc[1].wr_id, 8);
	fix_close(&fix);
}

static void entry_lists_and_inline_data(void)
{
	struct ibv_sge sges[2] = { { 0x10, 0x20, 0x30 }, { 0x40, 0x50, 0x60 } };
	char text[] = "abcdefg";
	struct ibv_data_buf bufs[3] = { { text, 2 }, { text, 0 },
					{ text + 2, 5 } };

	fix_open(&fix);
	start(0);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge_list(fix.qp_ex, 2, sges);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge_list(fix.qp_ex, 0, NULL);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_inline_data(fix.qp_ex, text, 4);
	ibv_wr_rdma_write(fix.qp_ex, 1, 2);
	ibv_wr_set_inline_data_list(fix.qp_ex, 3, bufs);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_inline_data(fix.qp_ex, text, 0);
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), 0);

	CHECK_HEX(fake_sq_block(fix.qp, 0),
		  "0000000a 00012003 00000000 00000000"
		  "00000020 00000030 0000000000000010"
		  "00000050 00000060 0000000000000040");
	CHECK_HEX(fake_sq_block(fix.qp, 1), "0000010a 00012001");
	CHECK_HEX(fake_sq_block(fix.qp, 2),
		  "0000020a 00012002 00000000 00000000 80000004 61626364");
	CHECK_HEX(fake_sq_block(fix.qp, 3),
		  "00000308 00012003 00000000 00000000"
		  "0000000000000002 00000001 00000000"
		  "80000007 61626364 656667");
	CHECK_HEX(fake_sq_block(fix.qp, 4), "0000040a 00012001");
	fix_close(&fix);
}

static void one_good_send_lands_at(uint32_t index)
{
	start(0);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), 0);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), index + 1);
	CHECK_EQUAL(be32toh(*(__be32 *)fake_sq_block(fix.qp, index)),
		    index << 8 | VCX_WQE_SEND);
}

static void abort_forgets_the_list(void)
{
	fix_open(&fix);
	start(0);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_abort(fix.qp_ex);
	CHECK_HEX(fake.uar + UAR_SQ, "00000000 00000000");
	one_good_send_lands_at(0);
	fix_close(&fix);
}

static void error_sticks_and_nothing_is_posted(void)
{
	struct ibv_sge sges[FIX_SEND_SGE + 1] = {};

	fix_open(&fix);
	start(0);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge_list(fix.qp_ex, FIX_SEND_SGE + 1, sges);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), EINVAL);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 0);
	one_good_send_lands_at(0);
	fix_close(&fix);
}

static void full_queue_refuses_the_whole_list(void)
{
	int i;

	fix_open(&fix);
	one_good_send_lands_at(0);
	start(0);
	for (i = 0; i < FIX_SEND_WR; i++) {
		ibv_wr_send(fix.qp_ex);
		ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);
	}
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), ENOMEM);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 1);
	one_good_send_lands_at(1);
	fix_close(&fix);
}

static void calls_out_of_order_are_errors(void)
{
	char text[64] = "";

	fix_open(&fix);
	start(0);
	ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);		/* for what request? */
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), EINVAL);
	start(0);
	ibv_wr_send(fix.qp_ex);				/* with what data? */
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), EINVAL);
	start(0);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), EINVAL);
	start(0);
	ibv_wr_rdma_read(fix.qp_ex, 1, 2);
	ibv_wr_set_inline_data(fix.qp_ex, text, 4);	/* read into what? */
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), EINVAL);
	start(0);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_inline_data(fix.qp_ex, text, 64);	/* too long */
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), EINVAL);
	one_good_send_lands_at(0);
	fix_close(&fix);
}

static void queue_takes_requests_from_rts_on(void)
{
	fix_open(&fix);
	fix.qp->state = IBV_QPS_RTR;
	start(0);
	ibv_wr_send(fix.qp_ex);
	ibv_wr_set_sge(fix.qp_ex, 1, 2, 3);
	CHECK_EQUAL(ibv_wr_complete(fix.qp_ex), EINVAL);
	fix.qp->state = IBV_QPS_RTS;
	one_good_send_lands_at(0);
	fix_close(&fix);
}

const struct test wr_api_tests[] = {
	TEST(only_a_qp_that_asked_has_the_calls),
	TEST(every_request_has_the_bytes_of_post_send),
	TEST(flags_and_wr_id_are_those_of_the_moment),
	TEST(entry_lists_and_inline_data),
	TEST(abort_forgets_the_list),
	TEST(error_sticks_and_nothing_is_posted),
	TEST(full_queue_refuses_the_whole_list),
	TEST(calls_out_of_order_are_errors),
	TEST(queue_takes_requests_from_rts_on),
	{},
};
