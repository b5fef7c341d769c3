/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * qp_attr.h - verbs attributes of a queue pair <-> its hardware context. Pure
 * functions: they look at nothing but their arguments.
 */
#ifndef VCX_QP_ATTR_H
#define VCX_QP_ATTR_H

#include <rdma/ib_verbs.h>
#include <vcx/context.h>

struct vcx_caps;

/* A transition that has no firmware command. */
#define VCX_QP_NO_OPCODE	0

int vcx_path_check(const struct vcx_caps *caps, const struct rdma_ah_attr *ah);
int vcx_qp_attr_check(const struct vcx_caps *caps,
		      const struct ib_qp_attr *attr, int mask);
void vcx_qp_attr_merge(struct ib_qp_attr *to, const struct ib_qp_attr *from,
		       int mask);
u16 vcx_qp_opcode(enum ib_qp_state from, enum ib_qp_state to);
bool vcx_qp_opcode_has_context(u16 opcode);
u32 vcx_qp_opt_mask(u16 opcode, int mask);
void vcx_qp_attr_to_qpc(const struct vcx_caps *caps,
			const struct ib_qp_attr *attr, struct vcx_qpc *qpc);
void vcx_qpc_to_attr(const struct vcx_qpc *qpc, struct ib_qp_attr *attr);
enum ib_qp_state vcx_qpc_to_state(const struct vcx_qpc *qpc);

#endif /* VCX_QP_ATTR_H */
