/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * regs.h - PCI identity, BAR 0, initialization segment and UAR pages.
 *
 * BAR 0 is an array of 4 KiB pages. Pages 0 to 2 are the initialization
 * segment; the others are UAR pages, page i at offset i * 4096. Registers are
 * 32 bits wide and big-endian. (PRM: Initialization Segment, UAR Page Format)
 */
#ifndef VCX_REGS_H
#define VCX_REGS_H

#include "types.h"

#define VCX_PCI_VENDOR_ID	0x1234
#define VCX_PCI_DEVICE_ID	0x5658
#define VCX_PCI_BAR		0

#define VCX_PAGE_BYTES		4096	/* unit of BAR 0 and of supplied pages */
#define VCX_LOG_PAGE_BYTES	12

/* Only this revision of the command interface exists. */
#define VCX_CMDIF_REV		5

struct vcx_health_buffer {
	vcx_be32	assert_var[6];
	__u8		rsvd_18[8];
	vcx_be32	assert_exit_ptr;
	vcx_be32	assert_callra;
	__u8		rsvd_28[4];
	vcx_be32	time;
	vcx_be32	fw_ver;		/* all ones: the function is gone */
	vcx_be32	hw_id;
	__u8		rfr_severity;	/* VCX_HEALTH_* */
	__u8		rsvd_39[3];
	__u8		irisc_index;
	__u8		synd;		/* VCX_HEALTH_SYND_*, 0: healthy */
	vcx_be16	ext_synd;
};
VCX_SIZE(vcx_health_buffer, 0x40);

#define VCX_HEALTH_RFR			0x80	/* reset needed to recover */
#define VCX_HEALTH_SEVERITY_VALID	0x08

struct vcx_init_seg {
	vcx_be32	fw_rev;		/* minor in 31..16, major in 15..0 */
	vcx_be32	cmdif_rev_fw_sub; /* VCX_CMDIF_REV in 31..16 */
	__u8		rsvd_8[8];
	vcx_be32	cmdq_addr_h;	/* W: command queue address, high */
	vcx_be32	cmdq_addr_l_sz;	/* R: VCX_CMDQ_*; W: low, 4 KiB aligned */
	vcx_be32	cmd_dbell;	/* W: bit i hands slot i to the device */
	__u8		rsvd_1c[0x1e0];
	vcx_be32	initializing;	/* VCX_INIT_* */
	struct vcx_health_buffer health;
	__u8		rsvd_240[0xdb8];
	vcx_be32	cmd_exec_to;	/* 0: the driver's default */
	vcx_be32	cmd_q_init_to;	/* 0: no register DTOR */
	vcx_be32	internal_timer_h;
	vcx_be32	internal_timer_l;
	__u8		rsvd_1008[8];
	vcx_be32	health_counter;	/* moves while the device is alive */
	__u8		rsvd_1014[0xff8];
	vcx_be32	clr_intx;
};
VCX_AT(vcx_init_seg, initializing, 0x1fc);
VCX_AT(vcx_init_seg, health, 0x200);
VCX_AT(vcx_init_seg, cmd_exec_to, 0xff8);
VCX_AT(vcx_init_seg, health_counter, 0x1010);
VCX_SIZE(vcx_init_seg, 0x2010);

/* cmdq_addr_l_sz as read */
#define VCX_CMDQ_LOG_STRIDE(v)	((v) & 0xf)
#define VCX_CMDQ_LOG_SLOTS(v)	(((v) >> 4) & 0xf)
#define VCX_CMDQ_NIC_STATE(v)	(((v) >> 8) & 0x7)
#define VCX_NIC_STATE_FULL	0	/* driver in full control */
#define VCX_NIC_STATE_DISABLED	1
#define VCX_NIC_STATE_SW_RESET	7

/* initializing */
#define VCX_INIT_BUSY		0x80000000u	/* poll until clear */
#define VCX_INIT_FW_RESET	0x40000000u
#define VCX_INIT_EMBEDDED_CPU	0x00800000u

/* First UAR page; those below are the initialization segment. */
#define VCX_UAR_FIRST_PAGE	4

/* Doorbell registers in a UAR page. */
#define VCX_UAR_CQ_ARM		0x020	/* 8 bytes, struct vcx_doorbell_cq */
#define VCX_UAR_EQ_ARM		0x040	/* 4 bytes: eqn 31..24, ci 23..0; arms */
#define VCX_UAR_EQ_CI		0x048	/* 4 bytes: the same without arming */
#define VCX_UAR_SQ		0x800	/* 8 bytes: start of the control segment */
#define VCX_UAR_SQ_REGISTERS	4	/* at VCX_UAR_SQ + k * size */
#define VCX_UAR_SQ_LOG_BYTES	9	/* log_bf_reg_size */

/*
 * What is written at VCX_UAR_CQ_ARM, and in word 1 of a CQ's doorbell record
 * (the first word of this structure).
 */
struct vcx_doorbell_cq {
	vcx_be32	sn_cmd_ci;	/* VCX_CQ_ARM_* */
	vcx_be32	cqn;
};
VCX_SIZE(vcx_doorbell_cq, 8);

#define VCX_CQ_ARM_SN(sn)	(((__u32)(sn) & 3) << 28)
#define VCX_CQ_ARM_SN_GET(v)	(((v) >> 28) & 3)
#define VCX_CQ_ARM_SOLICITED	0x01000000u	/* clear: next completion */
#define VCX_CQ_ARM_CI(ci)	((ci) & 0xffffffu)

/*
 * Doorbell records: two big-endian words in guest memory, 8-byte aligned.
 * QP: receive producer counter, then send producer counter (16 bits, the
 * latter in units of 64 bytes). CQ: consumer counter (24 bits), then the arm
 * word above.
 */
#define VCX_DBR_RQ		0
#define VCX_DBR_SQ		1
#define VCX_DBR_CQ_CI		0
#define VCX_DBR_CQ_ARM		1

#endif /* VCX_REGS_H */
