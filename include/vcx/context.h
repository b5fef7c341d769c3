/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * context.h - contexts of event queues, completion queues, queue pairs and
 * memory keys. (PRM: Event Queue, Completion Queue, QP and Memory Key Context)
 *
 * Names follow the manual: log_ is a binary logarithm; log_page_size of EQC,
 * CQC and QPC counts from 4 KiB, that of MKC from one byte; page_offset is in
 * units of 1/64 of the page. Fields that are not named here are reserved: zero
 * when written, ignored by the device.
 */
#ifndef VCX_CONTEXT_H
#define VCX_CONTEXT_H

#include "types.h"

/* ---- Event queue ------------------------------------------------------- */

struct vcx_eqc {
	vcx_be32 dw[16];
};
VCX_SIZE(vcx_eqc, 0x40);

#define VCX_EQC_STATUS		VCX_FIELD(vcx_eqc, 0x00, 31, 28)
#define VCX_EQC_EC		VCX_FIELD(vcx_eqc, 0x00, 18, 18)
#define VCX_EQC_OI		VCX_FIELD(vcx_eqc, 0x00, 17, 17)
#define VCX_EQC_ST		VCX_FIELD(vcx_eqc, 0x00, 11, 8)
#define VCX_EQC_PAGE_OFFSET	VCX_FIELD(vcx_eqc, 0x08, 11, 6)
#define VCX_EQC_LOG_SIZE	VCX_FIELD(vcx_eqc, 0x0c, 28, 24)
#define VCX_EQC_UAR_PAGE	VCX_FIELD(vcx_eqc, 0x0c, 23, 0)
#define VCX_EQC_INTR		VCX_FIELD(vcx_eqc, 0x14, 11, 0)
#define VCX_EQC_LOG_PAGE_SIZE	VCX_FIELD(vcx_eqc, 0x18, 28, 24)
#define VCX_EQC_CONSUMER_COUNTER VCX_FIELD(vcx_eqc, 0x28, 23, 0)
#define VCX_EQC_PRODUCER_COUNTER VCX_FIELD(vcx_eqc, 0x2c, 23, 0)

#define VCX_EQ_STATUS_OK	0x0
#define VCX_EQ_STATUS_WRITE_FAILURE 0xa
#define VCX_EQ_ST_ARMED		0x9
#define VCX_EQ_ST_FIRED		0xa

/* ---- Completion queue -------------------------------------------------- */

struct vcx_cqc {
	vcx_be32 dw[16];
};
VCX_SIZE(vcx_cqc, 0x40);

#define VCX_CQC_STATUS		VCX_FIELD(vcx_cqc, 0x00, 31, 28)
#define VCX_CQC_CQE_SZ		VCX_FIELD(vcx_cqc, 0x00, 23, 21)
#define VCX_CQC_OI		VCX_FIELD(vcx_cqc, 0x00, 17, 17)
#define VCX_CQC_PERIOD_MODE	VCX_FIELD(vcx_cqc, 0x00, 16, 15)
#define VCX_CQC_ST		VCX_FIELD(vcx_cqc, 0x00, 11, 8)
#define VCX_CQC_PAGE_OFFSET	VCX_FIELD(vcx_cqc, 0x08, 11, 6)
#define VCX_CQC_LOG_SIZE	VCX_FIELD(vcx_cqc, 0x0c, 28, 24)
#define VCX_CQC_UAR_PAGE	VCX_FIELD(vcx_cqc, 0x0c, 23, 0)
#define VCX_CQC_PERIOD		VCX_FIELD(vcx_cqc, 0x10, 27, 16) /* us */
#define VCX_CQC_MAX_COUNT	VCX_FIELD(vcx_cqc, 0x10, 15, 0)
#define VCX_CQC_EQN		VCX_FIELD(vcx_cqc, 0x14, 31, 0)
#define VCX_CQC_LOG_PAGE_SIZE	VCX_FIELD(vcx_cqc, 0x18, 28, 24)
#define VCX_CQC_LAST_NOTIFIED	VCX_FIELD(vcx_cqc, 0x20, 23, 0)
#define VCX_CQC_LAST_SOLICITED	VCX_FIELD(vcx_cqc, 0x24, 23, 0)
#define VCX_CQC_CONSUMER_COUNTER VCX_FIELD(vcx_cqc, 0x28, 23, 0)
#define VCX_CQC_PRODUCER_COUNTER VCX_FIELD(vcx_cqc, 0x2c, 23, 0)
#define VCX_CQC_DBR_ADDR	VCX_FIELD64(vcx_cqc, 0x38)

#define VCX_CQ_STATUS_OK	0x0
#define VCX_CQ_STATUS_OVERFLOW	0x9
#define VCX_CQ_STATUS_WRITE_FAILURE 0xa
#define VCX_CQ_ST_SOLICITED_ARMED 0x6
#define VCX_CQ_ST_ARMED		0x9
#define VCX_CQ_ST_FIRED		0xa

#define VCX_CQE_SZ_64		0	/* VCX_CQC_CQE_SZ */
#define VCX_CQE_SZ_128		1

/* ---- Address path ------------------------------------------------------ */

struct vcx_ads {
	vcx_be32 dw[11];
};
VCX_SIZE(vcx_ads, 0x2c);

#define VCX_ADS_FL		VCX_FIELD(vcx_ads, 0x00, 31, 31) /* force loopback */
#define VCX_ADS_PKEY_INDEX	VCX_FIELD(vcx_ads, 0x00, 15, 0)
#define VCX_ADS_GRH		VCX_FIELD(vcx_ads, 0x04, 23, 23)
#define VCX_ADS_MLID		VCX_FIELD(vcx_ads, 0x04, 22, 16) /* path bits */
#define VCX_ADS_RLID		VCX_FIELD(vcx_ads, 0x04, 15, 0)
#define VCX_ADS_ACK_TIMEOUT	VCX_FIELD(vcx_ads, 0x08, 31, 27)
#define VCX_ADS_SRC_ADDR_INDEX	VCX_FIELD(vcx_ads, 0x08, 23, 16)
#define VCX_ADS_STAT_RATE	VCX_FIELD(vcx_ads, 0x08, 11, 8)
#define VCX_ADS_HOP_LIMIT	VCX_FIELD(vcx_ads, 0x08, 7, 0)
#define VCX_ADS_TCLASS		VCX_FIELD(vcx_ads, 0x0c, 27, 20)
#define VCX_ADS_FLOW_LABEL	VCX_FIELD(vcx_ads, 0x0c, 19, 0)
#define VCX_ADS_RGID_DW		4	/* first of four words of the GID */
#define VCX_ADS_SL		VCX_FIELD(vcx_ads, 0x24, 27, 24)
#define VCX_ADS_PORT		VCX_FIELD(vcx_ads, 0x24, 23, 16)

/* ---- Queue pair -------------------------------------------------------- */

struct vcx_qpc {
	vcx_be32 dw[58];
};
VCX_SIZE(vcx_qpc, 0xe8);

#define VCX_QPC_STATE		VCX_FIELD(vcx_qpc, 0x00, 31, 28)
#define VCX_QPC_ST		VCX_FIELD(vcx_qpc, 0x00, 23, 16)
#define VCX_QPC_PM_STATE	VCX_FIELD(vcx_qpc, 0x00, 12, 11)
#define VCX_QPC_PD		VCX_FIELD(vcx_qpc, 0x04, 23, 0)
#define VCX_QPC_MTU		VCX_FIELD(vcx_qpc, 0x08, 31, 29)
#define VCX_QPC_LOG_MSG_MAX	VCX_FIELD(vcx_qpc, 0x08, 28, 24)
#define VCX_QPC_LOG_RQ_SIZE	VCX_FIELD(vcx_qpc, 0x08, 22, 19)
#define VCX_QPC_LOG_RQ_STRIDE	VCX_FIELD(vcx_qpc, 0x08, 18, 16) /* 16 B << n */
#define VCX_QPC_NO_SQ		VCX_FIELD(vcx_qpc, 0x08, 15, 15)
#define VCX_QPC_LOG_SQ_SIZE	VCX_FIELD(vcx_qpc, 0x08, 14, 11) /* of 64 B */
#define VCX_QPC_RLKY		VCX_FIELD(vcx_qpc, 0x08, 4, 4)
#define VCX_QPC_COUNTER_SET_ID	VCX_FIELD(vcx_qpc, 0x0c, 31, 24)
#define VCX_QPC_UAR_PAGE	VCX_FIELD(vcx_qpc, 0x0c, 23, 0)
#define VCX_QPC_USER_INDEX	VCX_FIELD(vcx_qpc, 0x10, 23, 0)
#define VCX_QPC_LOG_PAGE_SIZE	VCX_FIELD(vcx_qpc, 0x14, 28, 24)
#define VCX_QPC_REMOTE_QPN	VCX_FIELD(vcx_qpc, 0x14, 23, 0)
#define VCX_QPC_PRIMARY_PATH_DW	6	/* struct vcx_ads begins here */
#define VCX_QPC_ALTERNATE_PATH_DW 17
#define VCX_QPC_LOG_ACK_REQ_FREQ VCX_FIELD(vcx_qpc, 0x70, 31, 28)
#define VCX_QPC_LOG_SRA_MAX	VCX_FIELD(vcx_qpc, 0x70, 23, 21)
#define VCX_QPC_RETRY_COUNT	VCX_FIELD(vcx_qpc, 0x70, 18, 16)
#define VCX_QPC_RNR_RETRY	VCX_FIELD(vcx_qpc, 0x70, 15, 13)
#define VCX_QPC_FRE		VCX_FIELD(vcx_qpc, 0x70, 11, 11)
#define VCX_QPC_CUR_RNR_RETRY	VCX_FIELD(vcx_qpc, 0x70, 10, 8)
#define VCX_QPC_CUR_RETRY_COUNT	VCX_FIELD(vcx_qpc, 0x70, 7, 5)
#define VCX_QPC_NEXT_SEND_PSN	VCX_FIELD(vcx_qpc, 0x78, 23, 0)
#define VCX_QPC_CQN_SND		VCX_FIELD(vcx_qpc, 0x7c, 23, 0)
#define VCX_QPC_LAST_ACKED_PSN	VCX_FIELD(vcx_qpc, 0x88, 23, 0)
#define VCX_QPC_SSN		VCX_FIELD(vcx_qpc, 0x8c, 23, 0)
#define VCX_QPC_LOG_RRA_MAX	VCX_FIELD(vcx_qpc, 0x90, 23, 21)
#define VCX_QPC_ATOMIC_MODE	VCX_FIELD(vcx_qpc, 0x90, 19, 16)
#define VCX_QPC_RRE		VCX_FIELD(vcx_qpc, 0x90, 15, 15)
#define VCX_QPC_RWE		VCX_FIELD(vcx_qpc, 0x90, 14, 14)
#define VCX_QPC_RAE		VCX_FIELD(vcx_qpc, 0x90, 13, 13)
#define VCX_QPC_PAGE_OFFSET	VCX_FIELD(vcx_qpc, 0x90, 11, 6)
#define VCX_QPC_MIN_RNR_NAK	VCX_FIELD(vcx_qpc, 0x94, 28, 24)
#define VCX_QPC_NEXT_RCV_PSN	VCX_FIELD(vcx_qpc, 0x94, 23, 0)
#define VCX_QPC_XRCD		VCX_FIELD(vcx_qpc, 0x98, 23, 0)
#define VCX_QPC_CQN_RCV		VCX_FIELD(vcx_qpc, 0x9c, 23, 0)
#define VCX_QPC_DBR_ADDR	VCX_FIELD64(vcx_qpc, 0xa0)
#define VCX_QPC_Q_KEY		VCX_FIELD(vcx_qpc, 0xa8, 31, 0)
#define VCX_QPC_RQ_TYPE		VCX_FIELD(vcx_qpc, 0xac, 26, 24)
#define VCX_QPC_SRQN		VCX_FIELD(vcx_qpc, 0xac, 23, 0)
#define VCX_QPC_RMSN		VCX_FIELD(vcx_qpc, 0xb0, 23, 0)
#define VCX_QPC_HW_SQ_COUNTER	VCX_FIELD(vcx_qpc, 0xb4, 31, 16)
#define VCX_QPC_SW_SQ_COUNTER	VCX_FIELD(vcx_qpc, 0xb4, 15, 0)
#define VCX_QPC_HW_RQ_COUNTER	VCX_FIELD(vcx_qpc, 0xb8, 31, 0)
#define VCX_QPC_SW_RQ_COUNTER	VCX_FIELD(vcx_qpc, 0xbc, 31, 0)

enum vcx_qp_state {
	VCX_QP_STATE_RST	= 0,
	VCX_QP_STATE_INIT	= 1,
	VCX_QP_STATE_RTR	= 2,
	VCX_QP_STATE_RTS	= 3,
	VCX_QP_STATE_SQER	= 4,
	VCX_QP_STATE_SQD	= 5,
	VCX_QP_STATE_ERR	= 6,
	VCX_QP_STATE_SQ_DRAINING = 7,	/* QUERY_QP: SQD, and not drained yet */
};

enum vcx_qp_st {		/* VCX_QPC_ST, service type */
	VCX_QP_ST_RC		= 0,
	VCX_QP_ST_UC		= 1,
	VCX_QP_ST_UD		= 2,
	VCX_QP_ST_XRC		= 3,
	VCX_QP_ST_QP0		= 7,
	VCX_QP_ST_QP1		= 8,
	VCX_QP_ST_RAW		= 9,
	VCX_QP_ST_REG_UMR	= 12,
};

#define VCX_QP_PM_MIGRATED	3	/* VCX_QPC_PM_STATE */

#define VCX_QP_RQ_REGULAR	0	/* VCX_QPC_RQ_TYPE */
#define VCX_QP_RQ_SRQ		1
#define VCX_QP_RQ_NONE		3

#define VCX_QP_NO_USER_INDEX	0xffffffu

/*
 * opt_param_mask of the QP transition commands: these optional parameters are
 * to be taken from the context, beyond those the transition requires.
 */
#define VCX_QP_OPT_ALT_PATH	(1u << 0)
#define VCX_QP_OPT_RRE		(1u << 1)
#define VCX_QP_OPT_RAE		(1u << 2)
#define VCX_QP_OPT_RWE		(1u << 3)
#define VCX_QP_OPT_PKEY_INDEX	(1u << 4)
#define VCX_QP_OPT_Q_KEY	(1u << 5)
#define VCX_QP_OPT_MIN_RNR_NAK	(1u << 6)
#define VCX_QP_OPT_PRIMARY_PATH	(1u << 7)
#define VCX_QP_OPT_SRA_MAX	(1u << 8)
#define VCX_QP_OPT_RRA_MAX	(1u << 9)
#define VCX_QP_OPT_PM_STATE	(1u << 10)
#define VCX_QP_OPT_RETRY_COUNT	(1u << 12)
#define VCX_QP_OPT_RNR_RETRY	(1u << 13)
#define VCX_QP_OPT_ACK_TIMEOUT	(1u << 14)
#define VCX_QP_OPT_PRIMARY_PORT	(1u << 16)
#define VCX_QP_OPT_SRQN		(1u << 18)
#define VCX_QP_OPT_CQN_RCV	(1u << 19)
#define VCX_QP_OPT_COUNTER_SET	(1u << 25)

/* ---- Memory key -------------------------------------------------------- */

struct vcx_mkc {
	vcx_be32 dw[16];
};
VCX_SIZE(vcx_mkc, 0x40);

#define VCX_MKC_FREE		VCX_FIELD(vcx_mkc, 0x00, 30, 30)
#define VCX_MKC_ACCESS_MODE_4_2	VCX_FIELD(vcx_mkc, 0x00, 28, 26)
#define VCX_MKC_UMR_EN		VCX_FIELD(vcx_mkc, 0x00, 15, 15)
#define VCX_MKC_A		VCX_FIELD(vcx_mkc, 0x00, 14, 14)
#define VCX_MKC_RW		VCX_FIELD(vcx_mkc, 0x00, 13, 13)
#define VCX_MKC_RR		VCX_FIELD(vcx_mkc, 0x00, 12, 12)
#define VCX_MKC_LW		VCX_FIELD(vcx_mkc, 0x00, 11, 11)
#define VCX_MKC_LR		VCX_FIELD(vcx_mkc, 0x00, 10, 10)
#define VCX_MKC_ACCESS_MODE	VCX_FIELD(vcx_mkc, 0x00, 9, 8)
#define VCX_MKC_QPN		VCX_FIELD(vcx_mkc, 0x04, 31, 8)
#define VCX_MKC_KEY_7_0		VCX_FIELD(vcx_mkc, 0x04, 7, 0)
#define VCX_MKC_LENGTH64	VCX_FIELD(vcx_mkc, 0x0c, 31, 31)
#define VCX_MKC_PD		VCX_FIELD(vcx_mkc, 0x0c, 23, 0)
#define VCX_MKC_START_ADDR	VCX_FIELD64(vcx_mkc, 0x10)
#define VCX_MKC_LEN		VCX_FIELD64(vcx_mkc, 0x18)
#define VCX_MKC_TRANSLATIONS	VCX_FIELD(vcx_mkc, 0x34, 31, 0) /* of 16 B */
#define VCX_MKC_LOG_PAGE_SIZE	VCX_FIELD(vcx_mkc, 0x38, 4, 0)

enum vcx_mkc_access_mode {
	VCX_MKC_MODE_PA		= 0,	/* key addresses are DMA addresses */
	VCX_MKC_MODE_MTT	= 1,	/* list of pages of equal size */
	VCX_MKC_MODE_KLM	= 2,
	VCX_MKC_MODE_KSM	= 3,
};

#define VCX_MKC_ANY_QP		0xffffffu

/* A page address in a translation list; the low bits are not address. */
#define VCX_MTT_ADDRESS(v)	((v) & ~7ull)

#endif /* VCX_CONTEXT_H */
