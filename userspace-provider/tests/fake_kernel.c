// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * fake_kernel.c - see fake_kernel.h. The functions without a comment have the
 * names and prototypes of libibverbs, whose place they take.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <kernel-abi/vcx-abi.h>

#include "fake_kernel.h"
#include "test.h"

#define FAKE_FD		4242

DECLARE_DRV_CMD(fake_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		vcx_alloc_ucontext_req, vcx_alloc_ucontext_resp);
DECLARE_DRV_CMD(fake_create_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ,
		vcx_create_cq_req, vcx_create_cq_resp);
DECLARE_DRV_CMD(fake_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		vcx_resize_cq_req, empty);
DECLARE_DRV_CMD(fake_create_qp, IB_USER_VERBS_CMD_CREATE_QP,
		vcx_create_qp_req, vcx_create_qp_resp);

struct fake_kernel fake;
static struct ibv_device fake_device;

void fake_reset(void)
{
	const struct verbs_device_ops *driver = fake.driver;

	memset(&fake, 0, sizeof(fake));
	fake.driver = driver;
	fake.fail_errno = ENOSPC;
	fake.ucontext = (struct vcx_alloc_ucontext_resp) {
		.uar_mmap_offset = 0x7000,
		.uar_page_bytes = 4096,
		.max_sq_wqe_bytes = 1024,
		.max_rq_wqe_bytes = 512,
		.max_sq_bbs = 32768,
		.max_rq_wqes = 32768,
		.max_cqes = 4096,
	};
}

void fake_check_nothing_left(void)
{
	CHECK_EQUAL(fake.live_objects, 0);
	CHECK_EQUAL(fake.live_contexts, 0);
	CHECK_EQUAL(fake.live_allocs, 0);
	CHECK_EQUAL(fake.live_maps, 0);
	CHECK_EQUAL(fake.live_dontforks, 0);
}

void fake_again(void)
{
	fake_check_nothing_left();
	fake_reset();
}

/* ---- Memory: counted, and failing on demand (linked with --wrap) --------- */

void *__real_calloc(size_t n, size_t size);
void __real_free(void *p);
void *__real_mmap(void *addr, size_t bytes, int prot, int flags, int fd,
		  off_t offset);
int __real_munmap(void *addr, size_t bytes);
void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *p);
void *__wrap_mmap(void *addr, size_t bytes, int prot, int flags, int fd,
		  off_t offset);
int __wrap_munmap(void *addr, size_t bytes);

static bool fake_alloc_fails(void)
{
	fake.num_allocs++;
	return fake.fail_alloc && --fake.fail_alloc == 0;
}

void *__wrap_calloc(size_t n, size_t size)
{
	if (fake_alloc_fails())
		return NULL;
	fake.live_allocs++;
	return __real_calloc(n, size);
}

void __wrap_free(void *p)
{
	if (p)
		fake.live_allocs--;
	__real_free(p);
}

void *__wrap_mmap(void *addr, size_t bytes, int prot, int flags, int fd,
		  off_t offset)
{
	if (fake_alloc_fails()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	fake.live_maps++;
	if (fd != FAKE_FD)
		return __real_mmap(addr, bytes, prot, flags, fd, offset);

	CHECK_EQUAL(offset, fake.ucontext.uar_mmap_offset);
	CHECK_EQUAL(prot, PROT_WRITE);
	CHECK_EQUAL(flags, MAP_SHARED);
	fake.uar = __real_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return fake.uar;
}

int __wrap_munmap(void *addr, size_t bytes)
{
	fake.live_maps--;
	return __real_munmap(addr, bytes);
}

int ibv_dontfork_range(void *base, size_t size)
{
	CHECK_EQUAL((uintptr_t)base % 4096, 0);
	CHECK_EQUAL(size % 4096, 0);
	fake.live_dontforks++;
	return 0;
}

int ibv_dofork_range(void *base, size_t size)
{
	fake.live_dontforks--;
	return 0;
}

/* ---- libibverbs ---------------------------------------------------------- */

void verbs_register_driver(const struct verbs_device_ops *ops)
{
	fake.driver = ops;
}

void __verbs_log(struct verbs_context *ctx, uint32_t level, const char *fmt,
		 ...)
{
	fake.log_messages++;
}

void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd,
				    size_t alloc_size,
				    struct verbs_context *context_offset,
				    uint32_t driver_id)
{
	char *drv_ctx = calloc(1, alloc_size);
	struct verbs_context *vctx;

	if (!drv_ctx) {
		errno = ENOMEM;
		return NULL;
	}
	CHECK_EQUAL(driver_id, RDMA_DRIVER_UNKNOWN);
	vctx = (void *)(drv_ctx + (uintptr_t)context_offset);
	vctx->sz = sizeof(*vctx);
	vctx->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	vctx->context.device = device;
	vctx->context.cmd_fd = cmd_fd;
	fake.live_contexts++;
	return drv_ctx;
}

void verbs_uninit_context(struct verbs_context *context)
{
	fake.live_contexts--;
}

void verbs_set_ops(struct verbs_context *vctx,
		   const struct verbs_context_ops *ops)
{
	fake.ops = ops;
}

/* Every command passes here: an errno, or 0 to go on. */
static int fake_command(void)
{
	fake.num_commands++;
	if (fake.fail_command && --fake.fail_command == 0)
		return fake.fail_errno;
	return 0;
}

static int fake_created(int err)
{
	if (!err)
		fake.live_objects++;
	return err;
}

static int fake_destroyed(int err)
{
	if (!err)
		fake.live_objects--;
	return err;
}

int ibv_cmd_get_context(struct verbs_context *context,
			struct ibv_get_context *cmd, size_t cmd_size,
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size)
{
	struct fake_get_context_resp *answer =
		container_of(resp, struct fake_get_context_resp, ibv_resp);
	int err = fake_command();

	CHECK_EQUAL(cmd_size, sizeof(struct fake_get_context));
	CHECK_EQUAL(resp_size, sizeof(*answer));
	if (!err)
		answer->drv_payload = fake.ucontext;
	return err;
}

int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp,
			     size_t *resp_size)
{
	attr->hca_core_clock = fake.hca_core_clock;
	resp->base.fw_ver = fake.fw_ver;
	return fake_command();
}

int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *port_attr,
		       struct ibv_query_port *cmd, size_t cmd_size)
{
	return fake_command();
}

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	pd->context = context;
	pd->handle = 7;
	return fake_created(fake_command());
}

int ibv_cmd_dealloc_pd(struct ibv_pd *pd)
{
	return fake_destroyed(fake_command());
}

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size)
{
	ah->context = pd->context;
	ah->handle = 9;
	return fake_created(fake_command());
}

int ibv_cmd_destroy_ah(struct ibv_ah *ah)
{
	CHECK_EQUAL(ah->handle, 9);
	return fake_destroyed(fake_command());
}

int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct verbs_mr *vmr,
		   struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size)
{
	vmr->ibv_mr.lkey = 0x1100;
	return fake_created(fake_command());
}

int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr,
		     size_t length, uint64_t hca_va, int access,
		     struct ibv_pd *pd, struct ibv_rereg_mr *cmd, size_t cmd_sz,
		     struct ib_uverbs_rereg_mr_resp *resp, size_t resp_sz)
{
	CHECK_EQUAL(hca_va, (uintptr_t)addr);
	return fake_command();
}

int ibv_cmd_dereg_mr(struct verbs_mr *vmr)
{
	return fake_destroyed(fake_command());
}

int ibv_cmd_create_cq_ex(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *cq_attr,
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags)
{
	struct fake_create_cq *req =
		container_of(cmd, struct fake_create_cq, ibv_cmd);
	struct fake_create_cq_resp *answer =
		container_of(resp, struct fake_create_cq_resp, ibv_resp);
	int err = fake_command();

	CHECK_EQUAL(cmd_size, sizeof(*req));
	CHECK_EQUAL(resp_size, sizeof(*answer));
	if (err)
		return err;
	if (fake.num_cqs == FAKE_MAX_CQS)
		return ENOMEM;
	fake.cqs[fake.num_cqs] = (struct fake_cq) {
		.req = req->drv_payload,
		.live = true,
	};
	answer->cqn = FAKE_FIRST_CQN + fake.num_cqs++;
	cq->cq.context = context;
	cq->cq.handle = answer->cqn;
	return fake_created(0);
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	int err = fake_command();

	if (!err)
		fake_cq_of(cq)->live = false;
	return fake_destroyed(err);
}

int ibv_cmd_resize_cq(struct ibv_cq *ibcq, int cqe, struct ibv_resize_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
		      size_t resp_size)
{
	struct fake_resize_cq *req =
		container_of(cmd, struct fake_resize_cq, ibv_cmd);
	struct fake_cq *cq = fake_cq_of(ibcq);
	int err = fake_command();

	CHECK_EQUAL(cmd_size, sizeof(*req));
	CHECK_EQUAL(cqe, (1 << req->log_cqes) - 1);
	if (err)
		return err;
	if (!fake.no_resize_marker) {
		fake_cqe(ibcq);
		fake_cqe_done(ibcq, VCX_CQE_RESIZE);
	}
	cq->req.buf_addr = req->buf_addr;
	cq->req.log_cqes = req->log_cqes;
	return 0;
}

int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *vqp,
			 struct ibv_qp_init_attr_ex *attr,
			 struct ibv_create_qp *cmd, size_t cmd_size,
			 struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size)
{
	struct fake_create_qp *req =
		container_of(cmd, struct fake_create_qp, ibv_cmd);
	int err = fake_command();

	CHECK_EQUAL(cmd_size, sizeof(*req));
	CHECK_EQUAL(resp_size, sizeof(struct fake_create_qp_resp));
	/* libibverbs refuses others. */
	CHECK_EQUAL(attr->comp_mask & ~(IBV_QP_INIT_ATTR_PD |
					IBV_QP_INIT_ATTR_XRCD |
					IBV_QP_INIT_ATTR_SEND_OPS_FLAGS), 0);
	if (err)
		return err;
	if (fake.num_qps == FAKE_MAX_QPS)
		return ENOMEM;
	fake.qps[fake.num_qps] = (struct fake_qp) {
		.req = req->drv_payload,
		.cap = attr->cap,
		.live = true,
	};
	vqp->comp_mask = 0;
	vqp->qp.context = context;
	vqp->qp.send_cq = attr->send_cq;
	vqp->qp.recv_cq = attr->recv_cq;
	vqp->qp.handle = fake.num_qps;
	vqp->qp.qp_num = fake.reuse_qpn ? fake.reuse_qpn :
					  FAKE_FIRST_QPN + fake.num_qps;
	fake.num_qps++;
	return fake_created(0);
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, struct ibv_modify_qp *cmd, size_t cmd_size)
{
	return fake_command();
}

int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr,
		     struct ibv_query_qp *cmd, size_t cmd_size)
{
	return fake_command();
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	int err = fake_command();

	if (!err)
		fake_qp_of(qp)->live = false;
	return fake_destroyed(err);
}

struct ibv_context *fake_open(void)
{
	struct verbs_context *vctx =
		fake.driver->alloc_context(&fake_device, FAKE_FD, NULL);

	return vctx ? &vctx->context : NULL;
}

void fake_close(struct ibv_context *ibctx)
{
	fake.ops->free_context(ibctx);
}
