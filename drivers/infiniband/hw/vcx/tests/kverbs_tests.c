// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kverbs_tests.c - the tests; each leaves the pair connected and idle.
 */
#include <linux/delay.h>
#include <linux/random.h>

#include "kverbs.h"

static void kv_fill(struct kv_pair *p)
{
	get_random_bytes(p->a.buf, KV_BUF_BYTES);
	memset(p->b.buf, 0, KV_BUF_BYTES);
}

/* Three gather entries, one of them empty, arrive as one message. */
static void kv_send_gathers(struct kv_pair *p)
{
	struct ib_sge sge[] = {
		{ .addr = p->a.addr + 100, .length = 5000 },
		{ .addr = p->a.addr, .length = 0 },
		{ .addr = p->a.addr + 20000, .length = 7 },
	};
	struct kv_wait sent, received;
	struct ib_send_wr wr = {
		.wr_cqe = &sent.cqe,
		.opcode = IB_WR_SEND_WITH_IMM,
		.ex.imm_data = cpu_to_be32(0x12345678),
		.send_flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED,
		.sg_list = sge,
		.num_sge = ARRAY_SIZE(sge),
	};

	kv_fill(p);
	kv_wait_init(&sent);
	kv_wait_init(&received);
	kv_expect(p, !kv_recv(p, &p->b, &received, 0, 8192));
	kv_expect(p, !kv_send(p, &p->a, &wr));
	kv_expect(p, !kv_wait_good(p, &sent, 1));
	kv_expect(p, !kv_wait_good(p, &received, 1));
	kv_expect(p, received.last.opcode == IB_WC_RECV);
	kv_expect(p, received.last.byte_len == 5007);
	kv_expect(p, received.last.wc_flags & IB_WC_WITH_IMM);
	kv_expect(p, received.last.ex.imm_data == cpu_to_be32(0x12345678));
	kv_expect(p, received.last.src_qp == p->a.qp->qp_num);
	kv_expect(p, sent.last.opcode == IB_WC_SEND);
	kv_expect(p, !memcmp(p->b.buf, p->a.buf + 100, 5000));
	kv_expect(p, !memcmp(p->b.buf + 5000, p->a.buf + 20000, 7));
	kv_expect(p, !p->b.buf[5007]);
}

/* Inline data of every length, taken when it is posted. */
static void kv_send_inline(struct kv_pair *p)
{
	struct kv_wait sent, received;
	struct ib_sge sge = {};
	struct ib_send_wr wr = {
		.wr_cqe = &sent.cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE,
		.sg_list = &sge,
		.num_sge = 1,
	};
	u8 data[KV_MAX_INLINE];
	int n;

	kv_wait_init(&sent);
	kv_wait_init(&received);
	for (n = 0; n <= KV_MAX_INLINE; n++) {
		kv_fill(p);
		memcpy(data, p->a.buf, sizeof(data));
		sge.addr = (uintptr_t)data;
		sge.length = n;
		kv_expect(p, !kv_recv(p, &p->b, &received, 0, KV_MAX_INLINE + 1));
		kv_expect(p, !kv_send(p, &p->a, &wr));
		memset(data, 0, sizeof(data));
		kv_expect(p, !kv_wait_good(p, &sent, n + 1));
		kv_expect(p, !kv_wait_good(p, &received, n + 1));
		kv_expect(p, received.last.byte_len == n);
		kv_expect(p, !memcmp(p->b.buf, p->a.buf, n));
		kv_expect(p, !p->b.buf[n]);
	}
}

/* A write, one with immediate data, and a read back of what they wrote. */
static void kv_rdma(struct kv_pair *p)
{
	struct ib_sge sge = { .addr = p->a.addr, .length = 30000 };
	struct kv_wait sent, received;
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &sent.cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = p->b.addr + 1000,
		.rkey = p->pd->unsafe_global_rkey,
	};

	kv_fill(p);
	kv_wait_init(&sent);
	kv_wait_init(&received);
	kv_expect(p, !kv_send(p, &p->a, &wr.wr));
	kv_expect(p, !kv_wait_good(p, &sent, 1));
	kv_expect(p, sent.last.opcode == IB_WC_RDMA_WRITE);
	kv_expect(p, !memcmp(p->b.buf + 1000, p->a.buf, 30000));

	kv_expect(p, !kv_recv(p, &p->b, &received, 0, 1));
	wr.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	wr.wr.ex.imm_data = cpu_to_be32(77);
	wr.remote_addr = p->b.addr + 31000;
	kv_expect(p, !kv_send(p, &p->a, &wr.wr));
	kv_expect(p, !kv_wait_good(p, &received, 1));
	kv_expect(p, !kv_wait_good(p, &sent, 2));
	kv_expect(p, received.last.opcode == IB_WC_RECV_RDMA_WITH_IMM);
	kv_expect(p, received.last.byte_len == 30000);
	kv_expect(p, !memcmp(p->b.buf + 31000, p->a.buf, 30000));

	wr.wr.opcode = IB_WR_RDMA_READ;
	wr.wr.send_flags |= IB_SEND_FENCE;
	wr.remote_addr = p->b.addr + 1000;
	sge.addr = p->a.addr + 30000;
	kv_expect(p, !kv_send(p, &p->a, &wr.wr));
	kv_expect(p, !kv_wait_good(p, &sent, 3));
	kv_expect(p, sent.last.opcode == IB_WC_RDMA_READ);
	kv_expect(p, !memcmp(p->a.buf + 30000, p->a.buf, 30000));
}

/* Lists of requests, one in eight signalled, round the rings many times. */
static void kv_many(struct kv_pair *p)
{
	struct kv_wait sent, received;
	struct ib_send_wr wr[8] = {};
	struct ib_sge sge[8];
	int i, round;

	kv_fill(p);
	kv_wait_init(&sent);
	kv_wait_init(&received);
	for (i = 0; i < 8; i++) {
		sge[i] = (struct ib_sge) {
			.addr = p->a.addr + i * 1000,
			.length = 1000,
			.lkey = p->pd->local_dma_lkey,
		};
		wr[i].wr_cqe = &sent.cqe;
		wr[i].opcode = IB_WR_SEND;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].next = i < 7 ? &wr[i + 1] : NULL;
	}
	wr[7].send_flags = IB_SEND_SIGNALED;
	for (round = 1; round <= 300; round++) {
		for (i = 0; i < 8; i++)
			kv_expect(p, !kv_recv(p, &p->b, &received, i * 1000, 1000));
		kv_expect(p, !ib_post_send(p->a.qp, wr, NULL));
		kv_expect(p, !kv_wait_good(p, &sent, round));
		kv_expect(p, !kv_wait_good(p, &received, 8 * round));
	}
	kv_expect(p, !memcmp(p->b.buf, p->a.buf, 8000));
}

/* What cannot be posted is refused at once, and the request is named. */
static void kv_refusals(struct kv_pair *p)
{
	static struct ib_sge sge[KV_MAX_SGE * 32];	/* too large for the stack */
	struct kv_wait wait;
	const struct ib_recv_wr *bad_recv;
	const struct ib_send_wr *bad;
	struct ib_send_wr wr = {
		.wr_cqe = &wait.cqe,
		.opcode = IB_WR_SEND,
		.sg_list = sge,
		.num_sge = ARRAY_SIZE(sge),
	};
	struct ib_recv_wr recv = {
		.wr_cqe = &wait.cqe,
		.sg_list = sge,
		.num_sge = ARRAY_SIZE(sge),
	};
	int err = 0, n;

	kv_wait_init(&wait);
	kv_expect(p, ib_post_send(p->a.qp, &wr, &bad) == -EINVAL && bad == &wr);
	kv_expect(p, ib_post_recv(p->a.qp, &recv, &bad_recv) == -EINVAL);
	kv_expect(p, bad_recv == &recv);
	wr.num_sge = 0;
	wr.opcode = IB_WR_REG_MR;
	kv_expect(p, ib_post_send(p->a.qp, &wr, &bad) == -EINVAL && bad == &wr);

	recv.num_sge = 0;
	for (n = 0; !err && n < 100000; n++)
		err = ib_post_recv(p->a.qp, &recv, &bad_recv);
	kv_expect(p, err == -ENOMEM && n > KV_MAX_WR);

	/* Without a receive request at the peer the send queue fills up. */
	wr.opcode = IB_WR_SEND;
	err = 0;
	for (n = 0; !err && n < 100000; n++)
		err = ib_post_send(p->a.qp, &wr, &bad);
	kv_expect(p, err == -ENOMEM && n > KV_MAX_WR && bad == &wr);

	kv_expect(p, !kv_pair_reset(p));
	kv_expect(p, ib_post_send(p->a.qp, &wr, &bad) == -EINVAL);
	kv_expect(p, ib_post_recv(p->a.qp, &recv, &bad_recv) == -EINVAL);
	kv_expect(p, !kv_pair_connect(p));
}

/* A protection error ends the request with its status, the QP in error. */
static void kv_bad_key(struct kv_pair *p)
{
	struct ib_sge sge = { .addr = p->a.addr, .length = 10 };
	struct ib_qp_init_attr init;
	struct kv_wait sent;
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &sent.cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = p->b.addr,
		.rkey = p->pd->unsafe_global_rkey ^ 1,
	};
	struct ib_qp_attr attr;

	kv_wait_init(&sent);
	kv_expect(p, !kv_send(p, &p->a, &wr.wr));
	kv_expect(p, kv_wait_good(p, &sent, 1) == -EIO);
	kv_expect(p, sent.last.status == IB_WC_REM_ACCESS_ERR);
	kv_expect(p, !ib_query_qp(p->a.qp, &attr, IB_QP_STATE, &init));
	kv_expect(p, attr.qp_state == IB_QPS_ERR);
	kv_expect(p, !kv_pair_reset(p));
	kv_expect(p, !kv_pair_connect(p));
}

/* Draining ends every request that was posted, each exactly once. */
static void kv_drain(struct kv_pair *p)
{
	struct kv_wait sent, received;
	struct ib_send_wr wr = {
		.wr_cqe = &sent.cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int i;

	kv_wait_init(&sent);
	kv_wait_init(&received);
	for (i = 0; i < 20; i++)
		kv_expect(p, !kv_recv(p, &p->a, &received, 0, 100));
	for (i = 0; i < 10; i++)
		kv_expect(p, !kv_send(p, &p->a, &wr));
	ib_drain_qp(p->a.qp);
	kv_expect(p, atomic_read(&received.flushed) == 20);
	kv_expect(p, atomic_read(&sent.flushed) + atomic_read(&sent.good) == 10);
	ib_drain_qp(p->b.qp);
	kv_expect(p, !kv_pair_reset(p));
	kv_expect(p, !kv_pair_connect(p));
}

/*
 * Queues grow and shrink while completions are in them, taken by nobody yet or
 * being taken; what does not fit is refused and changes nothing.
 */
static void kv_resize(struct kv_pair *p)
{
	static const int sizes[] = { 600, 60, 5000, 127, 64 };
	struct kv_wait sent, received;
	struct ib_send_wr wr = {
		.wr_cqe = &sent.cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int i, n, round, total = 0;

	kv_wait_init(&sent);
	kv_wait_init(&received);
	for (round = 0; round < 40; round++) {
		n = 1 + round % 30;
		for (i = 0; i < n; i++)
			kv_expect(p, !kv_recv(p, &p->b, &received, 0, 100));
		for (i = 0; i < n; i++)
			kv_expect(p, !kv_send(p, &p->a, &wr));
		usleep_range(2000, 3000);
		if (n > 10 && p->a.cq->poll_ctx == IB_POLL_DIRECT)
			kv_expect(p, ib_resize_cq(p->a.cq, 7) == -EINVAL);
		i = sizes[round % ARRAY_SIZE(sizes)];
		kv_expect(p, !ib_resize_cq(p->a.cq, i));
		kv_expect(p, !ib_resize_cq(p->b.cq, i));
		kv_expect(p, p->a.cq->cqe >= i && p->a.cq->cqe <= 2 * i);
		total += n;
		kv_expect(p, !kv_wait_good(p, &sent, total));
		kv_expect(p, !kv_wait_good(p, &received, total));
	}
	kv_expect(p, ib_resize_cq(p->a.cq, 0) == -EINVAL);
	kv_expect(p, ib_resize_cq(p->a.cq, 1 << 30) == -EINVAL);
	/* Large enough for the other tests. */
	kv_expect(p, !ib_resize_cq(p->a.cq, 4 * KV_MAX_WR));
	kv_expect(p, !ib_resize_cq(p->b.cq, 4 * KV_MAX_WR));
}

/* A QP that goes takes its completions along, those in both buffers, too. */
static void kv_resize_and_reset(struct kv_pair *p)
{
	struct kv_wait sent, received;
	struct ib_send_wr wr = {
		.wr_cqe = &sent.cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int i;

	kv_wait_init(&sent);
	kv_wait_init(&received);
	for (i = 0; i < 20; i++)
		kv_expect(p, !kv_recv(p, &p->b, &received, 0, 100));
	for (i = 0; i < 10; i++)
		kv_expect(p, !kv_send(p, &p->a, &wr));
	kv_expect(p, !ib_resize_cq(p->a.cq, 8 * KV_MAX_WR));
	kv_expect(p, !ib_resize_cq(p->b.cq, 8 * KV_MAX_WR));
	kv_expect(p, !kv_pair_reset(p));
	/* Nobody waits for what is left; what was taken was taken once. */
	usleep_range(10000, 11000);
	kv_expect(p, atomic_read(&sent.good) <= 10);
	kv_expect(p, atomic_read(&received.good) <= 10);
	kv_expect(p, !kv_pair_connect(p));
}

static int kv_try_ah(struct kv_pair *p, struct rdma_ah_attr *attr,
		     struct rdma_ah_attr *found)
{
	struct ib_ah *ah = rdma_create_ah(p->pd, attr, RDMA_CREATE_AH_SLEEPABLE);
	int err;

	if (IS_ERR(ah))
		return PTR_ERR(ah);
	err = rdma_query_ah(ah, found);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return err;
}

/* Address handles say what they were made with; impossible ones are refused. */
static void kv_address_handles(struct kv_pair *p)
{
	static const struct rdma_ah_attr good = {
		.type = RDMA_AH_ATTR_TYPE_IB,
		.port_num = 1,
		.sl = 15,
		.static_rate = IB_RATE_10_GBPS,
		.ib = { .dlid = 0xbfff, .src_path_bits = 0x7f },
	};
	union ib_gid dgid = { .raw = { 0xfe, 0x80, [15] = 9 } };
	struct rdma_ah_attr attr = good, found;

	kv_expect(p, !kv_try_ah(p, &attr, &found));
	kv_expect(p, !memcmp(&found, &good, sizeof(found)));
	rdma_ah_set_grh(&attr, &dgid, 0xfffff, 0, 64, 0xc1);
	kv_expect(p, !kv_try_ah(p, &attr, &found));
	kv_expect(p, rdma_ah_get_ah_flags(&found) == IB_AH_GRH);
	kv_expect(p, !memcmp(&found.grh.dgid, &dgid, sizeof(dgid)));
	kv_expect(p, found.grh.flow_label == 0xfffff);
	kv_expect(p, found.grh.hop_limit == 64 && !found.grh.sgid_index);
	kv_expect(p, found.grh.traffic_class == 0xc1);
	/* Multicast packets have a GRH. */
	rdma_ah_set_dlid(&attr, 0xc001);
	kv_expect(p, !kv_try_ah(p, &attr, &found));
	attr = good;
	rdma_ah_set_dlid(&attr, 0xc001);
	kv_expect(p, kv_try_ah(p, &attr, &found) == -EINVAL);

	rdma_ah_set_dlid(&attr, 0);
	kv_expect(p, kv_try_ah(p, &attr, &found) == -EINVAL);
	attr = good;
	rdma_ah_set_sl(&attr, 16);
	kv_expect(p, kv_try_ah(p, &attr, &found) == -EINVAL);
	attr = good;
	rdma_ah_set_path_bits(&attr, 0x80);
	kv_expect(p, kv_try_ah(p, &attr, &found) == -EINVAL);
	attr = good;
	rdma_ah_set_static_rate(&attr, 1);
	kv_expect(p, kv_try_ah(p, &attr, &found) == -EINVAL);
	attr = good;
	rdma_ah_set_port_num(&attr, 2);
	kv_expect(p, kv_try_ah(p, &attr, &found) == -EINVAL);
	attr = good;
	rdma_ah_set_grh(&attr, &dgid, 0x100000, 0, 64, 0);
	kv_expect(p, kv_try_ah(p, &attr, &found) == -EINVAL);
}

const struct kv_test kv_tests[] = {
	{ "send gathers its entries", kv_send_gathers },
	{ "inline data of every length", kv_send_inline },
	{ "write, write with immediate, read", kv_rdma },
	{ "lists of unsignalled requests", kv_many },
	{ "what cannot be posted is refused", kv_refusals },
	{ "a bad remote key ends in an access error", kv_bad_key },
	{ "drain flushes everything once", kv_drain },
	{ "send works after reset and drain", kv_send_gathers },
	{ "completion queues are resized", kv_resize },
	{ "send works after a resize", kv_send_gathers },
	{ "reset after a resize", kv_resize_and_reset },
	{ "lists of requests after a resize and a reset", kv_many },
	{ "address handles", kv_address_handles },
};

const unsigned int kv_num_tests = ARRAY_SIZE(kv_tests);
