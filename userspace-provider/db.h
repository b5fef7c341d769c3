/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
/*
 * db.h - doorbells: a record in memory, which is what the device believes, and
 * for send queues and CQ arming a register write, which makes it look.
 *
 * The device may read a record at any time, so what the record promises (WQEs,
 * or CQEs no longer needed) must be visible before it; and it reads the record
 * once the register is written, so the record must be visible before that.
 */
#ifndef VCX_DB_H
#define VCX_DB_H

#include <string.h>

#include <util/mmio.h>
#include <util/udma_barrier.h>

#include <vcx/regs.h>
#include <vcx/wqe.h>

static inline void vcx_record_write(__be32 *word, uint32_t value)
{
	*(volatile __be32 *)word = htobe32(value);
}

/*
 * The send queue: ctrl is the control segment of the last WQE, whose first
 * eight bytes tell the device which queue has work.
 */
static inline void vcx_ring_sq(__be32 *dbrec, void *reg, uint32_t pi,
			       const struct vcx_wqe_ctrl *ctrl)
{
	__be64 value;

	memcpy(&value, ctrl, sizeof(value));
	udma_to_device_barrier();
	vcx_record_write(&dbrec[VCX_DBR_SQ], pi & 0xffff);
	udma_to_device_barrier();
	mmio_write64_be(reg, value);
}

/* A receive queue has no register: the device reads the record when it must. */
static inline void vcx_ring_rq(__be32 *dbrec, uint32_t head)
{
	udma_to_device_barrier();
	vcx_record_write(&dbrec[VCX_DBR_RQ], head & 0xffff);
}

/*
 * CQEs before ci may be overwritten: our reads of them must come before the
 * store, which a release orders and a device barrier, being for stores, does
 * not.
 */
static inline void vcx_ring_cq_ci(__be32 *dbrec, uint32_t ci)
{
	__atomic_store_n(&dbrec[VCX_DBR_CQ_CI], htobe32(VCX_CQ_ARM_CI(ci)),
			 __ATOMIC_RELEASE);
}

/* sn_cmd_ci is made of VCX_CQ_ARM_*. */
static inline void vcx_ring_cq_arm(__be32 *dbrec, void *reg,
				   uint32_t sn_cmd_ci, uint32_t cqn)
{
	udma_to_device_barrier();
	vcx_record_write(&dbrec[VCX_DBR_CQ_ARM], sn_cmd_ci);
	udma_to_device_barrier();
	mmio_write64_be(reg, htobe64((uint64_t)sn_cmd_ci << 32 | cqn));
}

#endif /* VCX_DB_H */
