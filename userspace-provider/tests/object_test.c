// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * object_test.c - devices, contexts, domains, regions and queue pairs: what the
 * kernel is told, what the application is told, and that every failure on the
 * way leaves nothing behind.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "test.h"

static struct fixture fix;

/* ---- Device and context -------------------------------------------------- */

static bool matches(const char *driver, bool name_matches)
{
	static const struct verbs_match_ent by_name;
	struct verbs_sysfs_dev *dev = calloc(1, sizeof(*dev));
	char dir[] = "/tmp/vcx-match-XXXXXX", path[64];
	bool result;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(dev->ibdev_path, sizeof(dev->ibdev_path), "%s/x", dir);
	/* <ibdev>/device/driver, by way of a link in each place */
	CHECK_EQUAL(symlink(dir, dev->ibdev_path), 0);
	snprintf(path, sizeof(path), "%s/device", dir);
	CHECK_EQUAL(symlink(dir, path), 0);
	snprintf(path, sizeof(path), "%s/driver", dir);
	if (driver)
		CHECK_EQUAL(symlink(driver, path), 0);
	dev->match = name_matches ? &by_name : NULL;

	result = fake.driver->match_device(dev);

	unlink(path);
	snprintf(path, sizeof(path), "%s/device", dir);
	unlink(path);
	unlink(dev->ibdev_path);
	rmdir(dir);
	free(dev);
	return result;
}

static void kernel_driver_decides_whose_device_it_is(void)
{
	CHECK(matches("../../../bus/pci/drivers/vcx", false));
	CHECK(matches("vcx", true));
	CHECK(!matches("../../../bus/pci/drivers/mlx5_core", true));
	CHECK(!matches("../../../bus/pci/drivers/vcx2", true));
	CHECK(matches(NULL, true));
	CHECK(!matches(NULL, false));
}

static void bad_answers_of_the_kernel_are_refused(void)
{
	struct vcx_alloc_ucontext_resp good = fake.ucontext;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		fake.ucontext = good;
		switch (i) {
		case 0: fake.ucontext.max_sq_wqe_bytes = 32; break;
		case 1: fake.ucontext.max_rq_wqe_bytes = 0; break;
		case 2: fake.ucontext.max_sq_bbs = 0; break;
		case 3: fake.ucontext.max_rq_wqes = 0; break;
		case 4: fake.ucontext.max_cqes = 0; break;
		case 5: fake.ucontext.uar_page_bytes = 0; break;
		}
		errno = 0;
		CHECK(!fake_open());
		CHECK_EQUAL(errno, EPROTO);
	}
}

static void context_failures_leave_nothing(void)
{
	unsigned int i;

	fake.fail_command = 1;
	CHECK(!fake_open());
	CHECK_EQUAL(errno, ENOSPC);
	for (i = 1; i <= 3; i++) {	/* the context, QP table, page */
		fake.fail_alloc = i;
		CHECK(!fake_open());
		CHECK_EQUAL(errno, ENOMEM);
	}
}

static void firmware_version_is_three_numbers(void)
{
	struct ibv_context *ctx = fake_open();
	struct ibv_device_attr_ex attr;

	fake.fw_ver = 16ULL << 32 | 35 << 16 | 4030;
	CHECK_EQUAL(fake.ops->query_device_ex(ctx, NULL, &attr, sizeof(attr)),
		    0);
	CHECK_EQUAL(strcmp(attr.orig_attr.fw_ver, "16.35.4030"), 0);
	fake_close(ctx);
}

/* ---- Domains and regions ------------------------------------------------- */

static void regions_are_the_kernels(void)
{
	struct ibv_context *ctx = fake_open();
	struct ibv_pd *pd = fake.ops->alloc_pd(ctx);
	char buf[16];
	struct ibv_mr *mr;

	mr = fake.ops->reg_mr(pd, buf, 16, (uintptr_t)buf, 0);
	CHECK_EQUAL(mr->lkey, 0x1100);
	CHECK_EQUAL(fake.ops->rereg_mr(verbs_get_mr(mr), 0, pd, buf, 16, 0), 0);
	fake.fail_command = 1;
	CHECK_EQUAL(fake.ops->dereg_mr(verbs_get_mr(mr)), ENOSPC);
	CHECK_EQUAL(fake.ops->dereg_mr(verbs_get_mr(mr)), 0);

	fake.fail_command = 1;
	CHECK(!fake.ops->reg_mr(pd, buf, 16, 0, 0));
	CHECK_EQUAL(errno, ENOSPC);
	fake.fail_alloc = 1;
	CHECK(!fake.ops->reg_mr(pd, buf, 16, 0, 0));
	CHECK_EQUAL(errno, ENOMEM);
	CHECK_EQUAL(fake.ops->dealloc_pd(pd), 0);
	fake_close(ctx);
}

static void pd_failures_leave_nothing(void)
{
	struct ibv_context *ctx = fake_open();

	fake.fail_alloc = 1;
	CHECK(!fake.ops->alloc_pd(ctx));
	fake.fail_command = 1;
	CHECK(!fake.ops->alloc_pd(ctx));
	CHECK_EQUAL(errno, ENOSPC);
	fake_close(ctx);
}

static unsigned int num_domain_allocs, num_domain_frees;
static int domain_context;

static void *domain_alloc(struct ibv_pd *pd, void *pd_context, size_t size,
			  size_t alignment, uint64_t resource_type)
{
	CHECK(pd_context == &domain_context);
	CHECK(resource_type == VCX_RESOURCE_QP ||
	      resource_type == VCX_RESOURCE_CQ);
	num_domain_allocs++;
	return aligned_alloc(alignment, size);
}

static void *domain_decline(struct ibv_pd *pd, void *pd_context, size_t size,
			    size_t alignment, uint64_t resource_type)
{
	return IBV_ALLOCATOR_USE_DEFAULT;
}

static void *domain_has_none(struct ibv_pd *pd, void *pd_context, size_t size,
			     size_t alignment, uint64_t resource_type)
{
	return NULL;
}

static void domain_free(struct ibv_pd *pd, void *pd_context, void *ptr,
			uint64_t resource_type)
{
	CHECK(pd_context == &domain_context);
	num_domain_frees++;
	fake.live_allocs++;	/* aligned_alloc() is not counted, free() is */
	free(ptr);
}

static struct ibv_pd *open_domain(struct ibv_td *td,
				  void *(*alloc)(struct ibv_pd *, void *,
						 size_t, size_t, uint64_t))
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = fix.pd,
		.td = td,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT |
			     (alloc ? IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS :
				      0),
		.alloc = alloc,
		.free = domain_free,
		.pd_context = &domain_context,
	};

	return fake.ops->alloc_parent_domain(fix.ctx, &attr);
}

static struct ibv_qp *add_domain_qp(struct ibv_pd *domain)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = fix.cq,
		.recv_cq = fix.cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return fake.ops->create_qp(domain, &attr);
}

static void parent_domain_brings_an_allocator(void)
{
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 3,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
	};
	struct ibv_cq_ex *cq;
	struct ibv_pd *domain;
	struct ibv_qp *qp;

	num_domain_allocs = 0;
	num_domain_frees = 0;
	fix_open(&fix);
	domain = open_domain(NULL, domain_alloc);
	CHECK_EQUAL(domain->handle, fix.pd->handle);
	cq_attr.parent_domain = domain;
	cq = fake.ops->create_cq_ex(fix.ctx, &cq_attr);
	qp = add_domain_qp(domain);
	CHECK_EQUAL(num_domain_allocs, 2);

	CHECK_EQUAL(fake.ops->dealloc_pd(fix.pd), EBUSY);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), EBUSY);
	CHECK_EQUAL(fake.ops->destroy_qp(qp), 0);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), EBUSY);
	CHECK_EQUAL(fake.ops->destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	CHECK_EQUAL(num_domain_frees, 2);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), 0);

	domain = open_domain(NULL, domain_decline);
	qp = add_domain_qp(domain);
	CHECK_EQUAL(fake.ops->destroy_qp(qp), 0);
	CHECK_EQUAL(num_domain_frees, 2);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), 0);

	domain = open_domain(NULL, domain_has_none);
	CHECK(!add_domain_qp(domain));
	CHECK_EQUAL(errno, ENOMEM);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), 0);
	fix_close(&fix);
}

static void thread_domain_spares_the_locks(void)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_pd *domain;
	struct ibv_qp *qp;
	struct ibv_td *td;

	fix_open(&fix);
	td = fake.ops->alloc_td(fix.ctx, &td_attr);
	domain = open_domain(td, NULL);
	qp = add_domain_qp(domain);
	CHECK(to_vcx_qp(qp)->sq.lock.unneeded);
	CHECK(!to_vcx_qp(fix.qp)->sq.lock.unneeded);
	CHECK_EQUAL(fake.ops->destroy_qp(qp), 0);
	CHECK_EQUAL(fake.ops->dealloc_td(td), EBUSY);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), 0);
	CHECK_EQUAL(fake.ops->dealloc_td(td), 0);

	td_attr.comp_mask = 1;
	CHECK(!fake.ops->alloc_td(fix.ctx, &td_attr));
	CHECK_EQUAL(errno, EOPNOTSUPP);
	fix_close(&fix);
}

static void impossible_parent_domains_are_refused(void)
{
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_pd *domain;

	fix_open(&fix);
	CHECK(!fake.ops->alloc_parent_domain(fix.ctx, &attr));
	CHECK_EQUAL(errno, EINVAL);
	domain = open_domain(NULL, NULL);
	attr.pd = domain;	/* a parent of a parent */
	CHECK(!fake.ops->alloc_parent_domain(fix.ctx, &attr));
	CHECK_EQUAL(errno, EINVAL);
	attr.pd = fix.pd;
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	CHECK(!fake.ops->alloc_parent_domain(fix.ctx, &attr));
	CHECK_EQUAL(errno, EINVAL);
	attr.comp_mask = 1 << 7;
	CHECK(!fake.ops->alloc_parent_domain(fix.ctx, &attr));
	CHECK_EQUAL(errno, EOPNOTSUPP);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), 0);
	fix_close(&fix);
}

/* ---- Address handles ----------------------------------------------------- */

static void address_vectors_follow_the_layout(void)
{
	struct ibv_ah_attr attr = {
		.dlid = 0x1234,
		.sl = 5,
		.src_path_bits = 0x7f,
		.static_rate = IBV_RATE_10_GBPS,
		.port_num = 1,
		/* not used without is_global */
		.grh = { .flow_label = 0xfffff, .hop_limit = 1 },
	};
	struct ibv_ah *ah;
	unsigned int i;

	fix_open(&fix);
	ah = fake.ops->create_ah(fix.pd, &attr);
	CHECK_HEX(&to_vcx_ah(ah)->av,
		  "00000000 00000000 80000000 057f1234"
		  "00000000 00000000 00000000 00000000"
		  "00000000 00000000 00000000 00000000");
	CHECK_EQUAL(fake.ops->destroy_ah(ah), 0);

	attr.is_global = 1;
	attr.grh.sgid_index = 7;
	attr.grh.flow_label = 0x12345;
	attr.grh.hop_limit = 0x40;
	attr.grh.traffic_class = 0xc1;
	for (i = 0; i < 16; i++)
		attr.grh.dgid.raw[i] = i;
	ah = fake.ops->create_ah(fix.pd, &attr);
	CHECK_HEX(&to_vcx_ah(ah)->av,
		  "00000000 00000000 80000000 057f1234"
		  "00000000 00000000 0000c140 40712345"
		  "00010203 04050607 08090a0b 0c0d0e0f");
	CHECK_EQUAL(fake.ops->destroy_ah(ah), 0);
	fix_close(&fix);
}

static void address_handle_failures_leave_nothing(void)
{
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };
	struct ibv_pd *domain;
	struct ibv_ah *ah;

	fix_open(&fix);
	fake.fail_alloc = 1;
	CHECK(!fake.ops->create_ah(fix.pd, &attr));
	CHECK_EQUAL(errno, ENOMEM);
	fake.fail_command = 1;
	CHECK(!fake.ops->create_ah(fix.pd, &attr));
	CHECK_EQUAL(errno, ENOSPC);

	domain = open_domain(NULL, NULL);
	ah = fake.ops->create_ah(domain, &attr);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), EBUSY);
	fake.fail_command = 1;
	CHECK_EQUAL(fake.ops->destroy_ah(ah), ENOSPC);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), EBUSY);
	CHECK_EQUAL(fake.ops->destroy_ah(ah), 0);
	CHECK_EQUAL(fake.ops->dealloc_pd(domain), 0);
	fix_close(&fix);
}

const struct test object_tests[] = {
	TEST(kernel_driver_decides_whose_device_it_is),
	TEST(bad_answers_of_the_kernel_are_refused),
	TEST(context_failures_leave_nothing),
	TEST(firmware_version_is_three_numbers),
	TEST(regions_are_the_kernels),
	TEST(pd_failures_leave_nothing),
	TEST(parent_domain_brings_an_allocator),
	TEST(thread_domain_spares_the_locks),
	TEST(impossible_parent_domains_are_refused),
	TEST(address_vectors_follow_the_layout),
	TEST(address_handle_failures_leave_nothing),
	{},
};
