// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * qp_test.c - making, resetting and destroying queue pairs.
 */
#include <errno.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "test.h"

static struct fixture fix;

static struct ibv_qp_init_attr_ex qp_attr(struct ibv_qp_cap cap)
{
	return (struct ibv_qp_init_attr_ex) {
		.send_cq = fix.cq,
		.recv_cq = fix.cq,
		.cap = cap,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = fix.pd,
	};
}

/* What is asked for, what is given and how it lies in memory. */
static void sizes_are_rounded_up_and_told(void)
{
	static const struct {
		struct ibv_qp_cap ask, want;	/* {s,r}_wr, {s,r}_sge, inline */
		uint32_t log_sq_bbs, log_rq_wqes, log_rq_stride, sq_offset;
	} cases[] = {
		{ { 1, 1, 1, 1, 0 }, { 1, 4, 2, 1, 28 }, 0, 2, 4, 64 },
		{ { 1, 1, 1, 2, 0 }, { 1, 2, 2, 2, 28 }, 0, 1, 5, 64 },
		{ { 5, 5, 1, 1, 0 }, { 8, 8, 2, 1, 28 }, 3, 3, 4, 128 },
		{ { 4, 8, 3, 3, 0 }, { 4, 8, 6, 4, 92 }, 3, 3, 6, 512 },
		{ { 4, 1, 1, 9, 29 }, { 4, 1, 6, 16, 92 }, 3, 0, 8, 256 },
		{ { 3, 2, 7, 2, 200 }, { 4, 2, 14, 2, 220 }, 4, 1, 5, 64 },
		{ { 1, 1, 61, 32, 972 }, { 1, 1, 61, 32, 972 }, 4, 0, 9, 512 },
		{ { 32768, 32768, 2, 1, 0 }, { 32768, 32768, 2, 1, 28 },
		  15, 15, 4, 524288 },
		{ { 8, 0, 1, 0, 0 }, { 8, 0, 2, 0, 28 }, 3, 0, 0, 0 },
		{ { 8, 0, 40, 0, 0 }, { 11, 0, 42, 0, 668 }, 7, 0, 0, 0 },
		{ { 0, 8, 0, 0, 0 }, { 0, 8, 0, 1, 0 }, 0, 3, 4, 128 },
		{ { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 }, 0, 0, 0, 0 },
	};
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_init_attr_ex attr;
	struct vcx_create_qp_req *req;
	struct ibv_qp_attr query;
	struct ibv_qp *qp;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_again();
		fix_open(&fix);
		attr = qp_attr(cases[i].ask);
		qp = fake.ops->create_qp_ex(fix.ctx, &attr);
		CHECK_EQUAL(attr.cap.max_send_wr, cases[i].want.max_send_wr);
		CHECK_EQUAL(attr.cap.max_recv_wr, cases[i].want.max_recv_wr);
		CHECK_EQUAL(attr.cap.max_send_sge, cases[i].want.max_send_sge);
		CHECK_EQUAL(attr.cap.max_recv_sge, cases[i].want.max_recv_sge);
		CHECK_EQUAL(attr.cap.max_inline_data,
			    cases[i].want.max_inline_data);
		req = &fake_qp_of(qp)->req;
		CHECK_EQUAL(req->log_sq_bbs, cases[i].log_sq_bbs);
		CHECK_EQUAL(req->log_rq_wqes, cases[i].log_rq_wqes);
		CHECK_EQUAL(req->log_rq_stride, cases[i].log_rq_stride);
		CHECK_EQUAL(req->sq_offset, cases[i].sq_offset);
		CHECK_EQUAL(req->flags,
			    (cases[i].ask.max_send_wr ? 0 :
							VCX_CREATE_QP_NO_SQ) |
			    (cases[i].ask.max_recv_wr ? 0 :
							VCX_CREATE_QP_NO_RQ));
		CHECK_EQUAL(fake.ops->query_qp(qp, &query, 0, &init_attr), 0);
		CHECK_EQUAL(query.cap.max_send_wr, attr.cap.max_send_wr);
		CHECK_EQUAL(init_attr.cap.max_recv_sge, attr.cap.max_recv_sge);
		CHECK_EQUAL(fake.ops->destroy_qp(qp), 0);
		fix_close(&fix);
	}
}

static void check_refused(struct ibv_qp_init_attr_ex attr, int want)
{
	unsigned int commands = fake.num_commands;

	errno = 0;
	CHECK(!fake.ops->create_qp_ex(fix.ctx, &attr));
	CHECK_EQUAL(errno, want);
	CHECK_EQUAL(fake.num_commands, commands);
}

static void impossible_queue_pairs_are_refused(void)
{
	struct ibv_qp_cap ok = { 1, 1, 1, 1, 0 };
	struct ibv_qp_init_attr_ex attr;
	struct ibv_srq srq;

	fix_open(&fix);
	check_refused(qp_attr((struct ibv_qp_cap) { 32769, 1, 1, 1, 0 }), EINVAL);
	check_refused(qp_attr((struct ibv_qp_cap) { 1, 32769, 1, 1, 0 }), EINVAL);
	check_refused(qp_attr((struct ibv_qp_cap) { 1, 1, 62, 1, 0 }), EINVAL);
	check_refused(qp_attr((struct ibv_qp_cap) { 1, 1, 1, 33, 0 }), EINVAL);
	check_refused(qp_attr((struct ibv_qp_cap) { 1, 1, 1, 1, 973 }), EINVAL);
	check_refused(qp_attr((struct ibv_qp_cap) { 20000, 1, 3, 1, 0 }), EINVAL);
	check_refused(qp_attr((struct ibv_qp_cap) { -1, -1, -1, -1, -1 }),
		      EINVAL);

	attr = qp_attr(ok);
	attr.qp_type = IBV_QPT_UD;
	check_refused(attr, EOPNOTSUPP);
	attr = qp_attr(ok);
	attr.srq = &srq;
	check_refused(attr, EOPNOTSUPP);
	attr = qp_attr(ok);
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = IBV_QP_CREATE_CVLAN_STRIPPING;
	check_refused(attr, EOPNOTSUPP);
	attr = qp_attr(ok);
	attr.comp_mask |= IBV_QP_INIT_ATTR_IND_TABLE;
	check_refused(attr, EOPNOTSUPP);
	attr = qp_attr(ok);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO;
	check_refused(attr, EOPNOTSUPP);
	attr = qp_attr(ok);
	attr.comp_mask = 0;
	check_refused(attr, EINVAL);
	attr = qp_attr(ok);
	attr.recv_cq = NULL;
	check_refused(attr, EINVAL);
	fix_close(&fix);
}

static void no_creation_flags_are_as_good_as_none(void)
{
	struct ibv_qp_init_attr_ex attr;
	struct ibv_qp *qp;

	fix_open(&fix);
	attr = qp_attr((struct ibv_qp_cap) { 1, 1, 1, 1, 0 });
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	qp = fake.ops->create_qp_ex(fix.ctx, &attr);
	CHECK(qp != NULL);
	if (qp)
		CHECK_EQUAL(fake.ops->destroy_qp(qp), 0);
	fix_close(&fix);
}

/* Every allocation and command on the way fails once. */
static void creation_failures_leave_nothing(void)
{
	struct ibv_qp_init_attr_ex attr;
	unsigned int first, num_allocs, i;
	struct ibv_qp *qp;

	fix_open(&fix);
	CHECK_EQUAL(fake.ops->destroy_qp(fix.qp), 0);
	fix.qp = NULL;
	attr = qp_attr((struct ibv_qp_cap) { 1, 1, 1, 1, 0 });
	first = fake.num_allocs;
	qp = fake.ops->create_qp_ex(fix.ctx, &attr);
	num_allocs = fake.num_allocs - first;
	CHECK(num_allocs >= 4);
	CHECK_EQUAL(fake.ops->destroy_qp(qp), 0);

	for (i = 1; i <= num_allocs; i++) {
		fake.fail_alloc = i;
		errno = 0;
		CHECK(!fake.ops->create_qp_ex(fix.ctx, &attr));
		CHECK_EQUAL(errno, ENOMEM);
		CHECK_EQUAL(fake.fail_alloc, 0);
	}
	fake.fail_command = 1;
	CHECK(!fake.ops->create_qp_ex(fix.ctx, &attr));
	CHECK_EQUAL(errno, ENOSPC);

	/* A number for which there is no leaf yet, and no memory for one. */
	fake.reuse_qpn = 0x123456;
	fake.fail_alloc = num_allocs + 1;
	CHECK(!fake.ops->create_qp_ex(fix.ctx, &attr));
	CHECK_EQUAL(errno, ENOMEM);
	fake.reuse_qpn = 0x1000000;	/* no number of a QP */
	CHECK(!fake.ops->create_qp_ex(fix.ctx, &attr));
	CHECK_EQUAL(errno, EINVAL);
	fix_close(&fix);
}

static void cq_creation_failures_leave_nothing(void)
{
	unsigned int first, num_allocs, i;
	struct ibv_context *ctx = fake_open();
	struct ibv_cq *cq;

	first = fake.num_allocs;
	cq = fake.ops->create_cq(ctx, 3, NULL, 0);
	num_allocs = fake.num_allocs - first;
	CHECK_EQUAL(fake.ops->destroy_cq(cq), 0);
	CHECK(num_allocs >= 3);
	for (i = 1; i <= num_allocs; i++) {
		fake.fail_alloc = i;
		CHECK(!fake.ops->create_cq(ctx, 3, NULL, 0));
		CHECK_EQUAL(errno, ENOMEM);
	}
	fake.fail_command = 1;
	CHECK(!fake.ops->create_cq(ctx, 3, NULL, 0));
	CHECK_EQUAL(errno, ENOSPC);
	fake_close(ctx);
}

static void failed_destruction_keeps_the_objects(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad_wr;
	struct ibv_wc wc;

	fix_open(&fix);
	fake.fail_command = 1;
	CHECK_EQUAL(fake.ops->destroy_qp(fix.qp), ENOSPC);
	fake.fail_command = 1;
	CHECK_EQUAL(fake.ops->destroy_cq(fix.cq), ENOSPC);
	fake.fail_command = 1;
	CHECK_EQUAL(fake.ops->dealloc_pd(fix.pd), ENOSPC);
	CHECK_EQUAL(fake.ops->post_send(fix.qp, &wr, &bad_wr), 0);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 0);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 1, &wc), 1);
	fix_close(&fix);
}

static void doorbell_records_are_lines_of_shared_pages(void)
{
	struct ibv_cq *cqs[2];
	struct ibv_context *ctx = fake_open();
	__be32 *records[70];
	uint64_t addr[2];
	long maps;
	int i;

	for (i = 0; i < 2; i++) {
		cqs[i] = fake.ops->create_cq(ctx, 3, NULL, 0);
		addr[i] = fake_cq_of(cqs[i])->req.db_addr;
		CHECK_EQUAL(addr[i] % 64, 0);
	}
	CHECK(addr[0] != addr[1]);
	CHECK_EQUAL(addr[0] / 4096, addr[1] / 4096);
	for (i = 0; i < 2; i++)
		CHECK_EQUAL(fake.ops->destroy_cq(cqs[i]), 0);

	maps = fake.live_maps;
	for (i = 0; i < 70; i++) {
		records[i] = vcx_dbrec_alloc(&to_vcx_context(ctx)->dbrecs);
		CHECK_EQUAL(records[i][0] | records[i][1], 0);
		records[i][0] = htobe32(1);	/* for whom takes it later */
		records[i][1] = htobe32(1);
	}
	CHECK_EQUAL(fake.live_maps, maps + 2);
	for (i = 0; i < 64; i++)
		vcx_dbrec_free(&to_vcx_context(ctx)->dbrecs, records[i]);
	CHECK_EQUAL(fake.live_maps, maps + 1);
	vcx_dbrec_free(&to_vcx_context(ctx)->dbrecs, records[66]);
	CHECK(vcx_dbrec_alloc(&to_vcx_context(ctx)->dbrecs) == records[66]);
	CHECK_EQUAL(records[66][0], 0);
	CHECK_EQUAL(records[66][1], 0);
	for (i = 64; i < 70; i++)
		vcx_dbrec_free(&to_vcx_context(ctx)->dbrecs, records[i]);
	CHECK_EQUAL(fake.live_maps, maps);
	fake_close(ctx);
}

static void reset_begins_anew(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad_wr;
	struct ibv_recv_wr recv_wr = { .wr_id = 5 }, *bad_recv_wr;
	struct ibv_wc wc[2];
	int i;

	fix_open(&fix);
	for (i = 0; i < FIX_RECV_WR; i++)
		CHECK_EQUAL(fake.ops->post_recv(fix.qp, &recv_wr, &bad_recv_wr),
			    0);
	for (i = 0; i < FIX_SEND_WR; i++)
		CHECK_EQUAL(fake.ops->post_send(fix.qp, &wr, &bad_wr), 0);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 2);
	fake_recv_done(fix.cq, fix.qp, VCX_CQE_RESP_SEND, 1);

	fake.fail_command = 1;
	CHECK_EQUAL(fake.ops->modify_qp(fix.qp, &attr, IBV_QP_STATE), ENOSPC);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), FIX_SEND_WR);
	CHECK_EQUAL(fake.ops->modify_qp(fix.qp, &attr, 0), 0);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), FIX_SEND_WR);

	CHECK_EQUAL(fake.ops->modify_qp(fix.qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQUAL(fake_qp_record(fix.qp, 0), 0);
	CHECK_EQUAL(fake_qp_record(fix.qp, 1), 0);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 2, wc), 0);

	wr.wr_id = 99;
	CHECK_EQUAL(fake.ops->post_send(fix.qp, &wr, &bad_wr), 0);
	CHECK_HEX(fake_sq_block(fix.qp, 0), "0000000a");
	CHECK_EQUAL(fake.ops->post_recv(fix.qp, &recv_wr, &bad_recv_wr), 0);
	CHECK_EQUAL(fake_qp_record(fix.qp, 0), 1);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 0);
	fake_recv_done(fix.cq, fix.qp, VCX_CQE_RESP_SEND, 1);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 2, wc), 2);
	CHECK_EQUAL(wc[0].wr_id, 99);
	CHECK_EQUAL(wc[1].wr_id, 5);
	fix_close(&fix);
}

/* ---- The table of QPs ---------------------------------------------------- */

static struct vcx_qp_table table;

static void table_finds_what_it_holds(void)
{
	static const uint32_t qpns[] = { 0, 1, 0xfff, 0x1000, 0xabcdef,
					 0xffffff };
	static struct vcx_qp qps[6];
	unsigned int i;

	CHECK_EQUAL(vcx_qp_table_init(&table), 0);
	for (i = 0; i < 6; i++) {
		CHECK(!vcx_qp_table_find(&table, qpns[i]));
		CHECK_EQUAL(vcx_qp_table_insert(&table, qpns[i], &qps[i]), 0);
	}
	for (i = 0; i < 6; i++)
		CHECK(vcx_qp_table_find(&table, qpns[i]) == &qps[i]);
	for (i = 0; i < 6; i++) {
		vcx_qp_table_remove(&table, qpns[i]);
		CHECK(!vcx_qp_table_find(&table, qpns[i]));
	}
	vcx_qp_table_destroy(&table);
}

/* A QP that is gone is not found; its number can be that of another. */
static void number_comes_back_after_destruction(void)
{
	struct ibv_send_wr wr = { .wr_id = 3, .opcode = IBV_WR_SEND }, *bad_wr;
	struct vcx_qp_table *qps;
	struct ibv_wc wc;

	fix_open(&fix);
	qps = &to_vcx_context(fix.ctx)->qps;
	CHECK(vcx_qp_table_find(qps, FAKE_FIRST_QPN) == to_vcx_qp(fix.qp));
	CHECK_EQUAL(fake.ops->destroy_qp(fix.qp), 0);
	CHECK(!vcx_qp_table_find(qps, FAKE_FIRST_QPN));

	fake.reuse_qpn = FAKE_FIRST_QPN;
	fix.qp = fix_add_qp(&fix, fix.cq, fix.cq);
	CHECK_EQUAL(fake.ops->post_send(fix.qp, &wr, &bad_wr), 0);
	fake_send_done(fix.cq, fix.qp, VCX_WQE_SEND, 0);
	CHECK_EQUAL(fake.ops->poll_cq(fix.cq, 1, &wc), 1);
	CHECK_EQUAL(wc.wr_id, 3);
	fix_close(&fix);
}

static void *insert_second(void *second)
{
	CHECK_EQUAL(vcx_qp_table_insert(&table, 5, second), 0);
	return NULL;
}

static void reused_number_waits_for_its_old_owner(void)
{
	static struct vcx_qp first, second;
	pthread_t thread;

	CHECK_EQUAL(vcx_qp_table_init(&table), 0);
	CHECK_EQUAL(vcx_qp_table_insert(&table, 5, &first), 0);
	CHECK_EQUAL(pthread_create(&thread, NULL, insert_second, &second), 0);
	usleep(20000);
	CHECK(vcx_qp_table_find(&table, 5) == &first);
	vcx_qp_table_remove(&table, 5);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	CHECK(vcx_qp_table_find(&table, 5) == &second);
	vcx_qp_table_remove(&table, 5);
	vcx_qp_table_destroy(&table);
}

const struct test qp_tests[] = {
	TEST(sizes_are_rounded_up_and_told),
	TEST(impossible_queue_pairs_are_refused),
	TEST(no_creation_flags_are_as_good_as_none),
	TEST(creation_failures_leave_nothing),
	TEST(cq_creation_failures_leave_nothing),
	TEST(failed_destruction_keeps_the_objects),
	TEST(doorbell_records_are_lines_of_shared_pages),
	TEST(reset_begins_anew),
	TEST(table_finds_what_it_holds),
	TEST(number_comes_back_after_destruction),
	TEST(reused_number_waits_for_its_old_owner),
	{},
};
