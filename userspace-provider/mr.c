// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * mr.c - memory regions. The kernel does all the work: the provider never looks
 * into a region, it only hands its keys to the device.
 */
#include <errno.h>
#include <stdlib.h>

#include "vcx.h"

struct ibv_mr *vcx_reg_mr(struct ibv_pd *ibpd, void *addr, size_t length,
			  uint64_t hca_va, int access)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	struct ibv_reg_mr cmd = {};
	struct verbs_mr *vmr;
	int err;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr) {
		errno = ENOMEM;
		return NULL;
	}

	err = ibv_cmd_reg_mr(ibpd, addr, length, hca_va, access, vmr, &cmd,
			     sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

int vcx_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *ibpd,
		 void *addr, size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp = {};
	struct ibv_rereg_mr cmd = {};

	return ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr,
				access, ibpd, &cmd, sizeof(cmd), &resp,
				sizeof(resp));
}

int vcx_dereg_mr(struct verbs_mr *vmr)
{
	int err;

	err = ibv_cmd_dereg_mr(vmr);
	if (err)
		return err;
	free(vmr);
	return 0;
}
