// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kverbs_main.c - runs the tests on the device that is named, in each way of
 * polling. Loading fails if a test does; the log says which.
 *
 * With hold=1 the module instead leaves receive requests posted and ends them
 * by draining when it is unloaded or the device goes: that must come to an end
 * on a device that is dead, too.
 */
#include <linux/module.h>

#include "kverbs.h"

static char *device = "vcx0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "name of the RDMA device (vcx0)");

static bool hold;
module_param(hold, bool, 0444);
MODULE_PARM_DESC(hold, "only post receive requests, drain at the end");

#define KV_HELD		30

static struct kv_held {
	struct kv_pair pair;
	struct kv_wait received;
} kv_held;

static bool kv_found;
static int kv_result;

static int kv_run_all(struct ib_device *ibdev, enum ib_poll_context ctx,
		      const char *ctx_name)
{
	struct kv_pair pair;
	unsigned int i;
	int err;

	err = kv_pair_open(&pair, ibdev, ctx);
	if (err) {
		pr_err("kverbs: no pair of QPs: %d\n", err);
		return err;
	}
	for (i = 0; i < kv_num_tests && !pair.failures; i++) {
		kv_tests[i].run(&pair);
		pr_info("kverbs: %s: %s: %s\n", ctx_name, kv_tests[i].name,
			pair.failures ? "FAILED" : "ok");
	}
	kv_pair_close(&pair);
	return pair.failures ? -EIO : 0;
}

static int kv_hold(struct ib_device *ibdev)
{
	int err, i;

	err = kv_pair_open(&kv_held.pair, ibdev, IB_POLL_WORKQUEUE);
	if (err)
		return err;
	kv_wait_init(&kv_held.received);
	for (i = 0; i < KV_HELD && !err; i++)
		err = kv_recv(&kv_held.pair, &kv_held.pair.b,
			      &kv_held.received, 0, 100);
	if (err)
		kv_pair_close(&kv_held.pair);
	return err;
}

static int kv_add_one(struct ib_device *ibdev)
{
	if (strcmp(dev_name(&ibdev->dev), device))
		return -EOPNOTSUPP;
	kv_found = true;
	if (hold) {
		kv_result = kv_hold(ibdev);
		return kv_result;
	}
	kv_result = kv_run_all(ibdev, IB_POLL_SOFTIRQ, "softirq");
	if (!kv_result)
		kv_result = kv_run_all(ibdev, IB_POLL_WORKQUEUE, "workqueue");
	if (!kv_result)
		kv_result = kv_run_all(ibdev, IB_POLL_DIRECT, "direct");
	return kv_result;
}

static void kv_remove_one(struct ib_device *ibdev, void *client_data)
{
	if (!hold)
		return;
	ib_drain_qp(kv_held.pair.b.qp);
	ib_drain_qp(kv_held.pair.a.qp);
	pr_info("kverbs: drained, %d of %d flushed\n",
		atomic_read(&kv_held.received.flushed), KV_HELD);
	kv_pair_close(&kv_held.pair);
}

static struct ib_client kv_client = {
	.name = "vcx_kverbs",
	.add = kv_add_one,
	.remove = kv_remove_one,
};

static int __init kv_init(void)
{
	int err = ib_register_client(&kv_client);

	if (err)
		return err;
	if (!kv_found) {
		pr_err("kverbs: there is no device %s\n", device);
		kv_result = -ENODEV;
	}
	if (kv_result)
		ib_unregister_client(&kv_client);
	return kv_result;
}
module_init(kv_init);

static void __exit kv_exit(void)
{
	ib_unregister_client(&kv_client);
}
module_exit(kv_exit);

MODULE_DESCRIPTION("Test of kernel verbs");
MODULE_AUTHOR("The vcx authors");
MODULE_LICENSE("Dual BSD/GPL");
