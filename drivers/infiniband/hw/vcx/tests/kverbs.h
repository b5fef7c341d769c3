/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kverbs.h - a test of the verbs that kernel users call: two queue pairs of
 * one port, connected to each other.
 */
#ifndef VCX_KVERBS_H
#define VCX_KVERBS_H

#include <linux/atomic.h>
#include <rdma/ib_verbs.h>

#define KV_BUF_BYTES	(64 * 1024)
#define KV_MAX_WR	64
#define KV_MAX_SGE	4
#define KV_MAX_INLINE	100

struct kv_side {
	struct ib_qp *qp;
	struct ib_cq *cq;
	u8 *buf;
	dma_addr_t addr;
};

struct kv_pair {
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct kv_side a, b;
	unsigned int failures;
};

/* Counts the completions of the requests that point to it. */
struct kv_wait {
	struct ib_cqe cqe;
	atomic_t good;
	atomic_t flushed;
	atomic_t failed;
	struct ib_wc last;
};

int kv_pair_open(struct kv_pair *p, struct ib_device *ibdev,
		 enum ib_poll_context ctx);
void kv_pair_close(struct kv_pair *p);
int kv_pair_connect(struct kv_pair *p);
int kv_pair_reset(struct kv_pair *p);

void kv_wait_init(struct kv_wait *w);
int kv_wait_good(struct kv_pair *p, struct kv_wait *w, int n);
int kv_recv(struct kv_pair *p, struct kv_side *s, struct kv_wait *w, u32 offset,
	    u32 bytes);
int kv_send(struct kv_pair *p, struct kv_side *s, struct ib_send_wr *wr);

struct kv_test {
	const char *name;
	void (*run)(struct kv_pair *p);
};

extern const struct kv_test kv_tests[];
extern const unsigned int kv_num_tests;

/* Goes on after a failure, but no longer waits for anything. */
#define kv_expect(p, condition)	kv_report(p, condition, #condition, __LINE__)

void kv_report(struct kv_pair *p, bool ok, const char *condition, int line);

#endif /* VCX_KVERBS_H */
