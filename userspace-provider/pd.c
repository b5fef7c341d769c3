// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * pd.c - protection domains, thread domains, and the parent domains that join
 * the two: a parent domain can bring an allocator for queue memory, and with a
 * thread domain the promise that its objects are used by one thread at a time.
 */
#include <errno.h>
#include <stdlib.h>

#include <kernel-abi/vcx-abi.h>
#include <rdma/vcx-abi.h>

#include "vcx.h"

DECLARE_DRV_CMD(vcx_cmd_alloc_pd, IB_USER_VERBS_CMD_ALLOC_PD, empty,
		vcx_alloc_pd_resp);

struct ibv_pd *vcx_alloc_pd(struct ibv_context *ibctx)
{
	struct vcx_cmd_alloc_pd_resp resp = {};
	struct ibv_alloc_pd cmd = {};
	struct vcx_pd *pd;
	int err;

	pd = calloc(1, sizeof(*pd));
	if (!pd) {
		errno = ENOMEM;
		return NULL;
	}

	err = ibv_cmd_alloc_pd(ibctx, &pd->ibpd, &cmd, sizeof(cmd),
			       &resp.ibv_resp, sizeof(resp));
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	return &pd->ibpd;
}

static int vcx_dealloc_parent_domain(struct vcx_parent_domain *domain)
{
	if (atomic_load(&domain->users))
		return EBUSY;

	atomic_fetch_sub(&domain->protection->users, 1);
	if (domain->td)
		atomic_fetch_sub(&domain->td->users, 1);
	free(domain);
	return 0;
}

int vcx_dealloc_pd(struct ibv_pd *ibpd)
{
	struct vcx_parent_domain *domain = to_vcx_parent_domain(ibpd);
	struct vcx_pd *pd = to_vcx_pd(ibpd);
	int err;

	if (domain)
		return vcx_dealloc_parent_domain(domain);
	if (atomic_load(&pd->users))
		return EBUSY;

	err = ibv_cmd_dealloc_pd(ibpd);
	if (err)
		return err;
	free(pd);
	return 0;
}

struct ibv_td *vcx_alloc_td(struct ibv_context *ibctx,
			    struct ibv_td_init_attr *attr)
{
	struct vcx_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	td = calloc(1, sizeof(*td));
	if (!td) {
		errno = ENOMEM;
		return NULL;
	}
	td->ibtd.context = ibctx;
	return &td->ibtd;
}

int vcx_dealloc_td(struct ibv_td *ibtd)
{
	struct vcx_td *td = to_vcx_td(ibtd);

	if (atomic_load(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

static int vcx_check_parent_domain(struct ibv_parent_domain_init_attr *attr)
{
	if (!check_comp_mask(attr->comp_mask,
			     IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT))
		return EOPNOTSUPP;
	if (!attr->pd || to_vcx_pd(attr->pd)->is_parent_domain)
		return EINVAL;
	if ((attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) &&
	    (!attr->alloc || !attr->free))
		return EINVAL;
	return 0;
}

struct ibv_pd *vcx_alloc_parent_domain(struct ibv_context *ibctx,
				       struct ibv_parent_domain_init_attr *attr)
{
	struct vcx_parent_domain *domain;
	int err;

	err = vcx_check_parent_domain(attr);
	if (err) {
		errno = err;
		return NULL;
	}

	domain = calloc(1, sizeof(*domain));
	if (!domain) {
		errno = ENOMEM;
		return NULL;
	}

	domain->pd.is_parent_domain = true;
	ibv_initialize_parent_domain(&domain->pd.ibpd, attr->pd);
	domain->protection = to_vcx_pd(attr->pd);
	atomic_fetch_add(&domain->protection->users, 1);
	if (attr->td) {
		domain->td = to_vcx_td(attr->td);
		atomic_fetch_add(&domain->td->users, 1);
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		domain->alloc = attr->alloc;
		domain->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		domain->pd_context = attr->pd_context;
	return &domain->pd.ibpd;
}

/* Objects hold the parent domain that they were made from; NULL is allowed. */
void vcx_domain_hold(struct vcx_parent_domain *domain)
{
	if (domain)
		atomic_fetch_add(&domain->users, 1);
}

void vcx_domain_put(struct vcx_parent_domain *domain)
{
	if (domain)
		atomic_fetch_sub(&domain->users, 1);
}

bool vcx_domain_is_single_threaded(const struct vcx_parent_domain *domain)
{
	return domain && domain->td;
}
