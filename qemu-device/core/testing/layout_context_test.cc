/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Golden bytes of the contexts: each field, set to ones (64-bit fields:
// to 0102030405060708) in a structure of zeros, gives exactly the words beside
// it. The words were taken from the manual's tables, not from the header.
#include <gtest/gtest.h>

#include "testing/layout.h"
#include "vcx/context.h"

namespace vcx {
namespace {

const Field<vcx_eqc> kEqc[] = {
    ROW(VCX_EQC_STATUS, "000: f0000000"),
    ROW(VCX_EQC_EC, "000: 00040000"),
    ROW(VCX_EQC_OI, "000: 00020000"),
    ROW(VCX_EQC_ST, "000: 00000f00"),
    ROW(VCX_EQC_PAGE_OFFSET, "008: 00000fc0"),
    ROW(VCX_EQC_LOG_SIZE, "00c: 1f000000"),
    ROW(VCX_EQC_UAR_PAGE, "00c: 00ffffff"),
    ROW(VCX_EQC_INTR, "014: 00000fff"),
    ROW(VCX_EQC_LOG_PAGE_SIZE, "018: 1f000000"),
    ROW(VCX_EQC_CONSUMER_COUNTER, "028: 00ffffff"),
    ROW(VCX_EQC_PRODUCER_COUNTER, "02c: 00ffffff"),
};

const Field<vcx_cqc> kCqc[] = {
    ROW(VCX_CQC_STATUS, "000: f0000000"),
    ROW(VCX_CQC_CQE_SZ, "000: 00e00000"),
    ROW(VCX_CQC_OI, "000: 00020000"),
    ROW(VCX_CQC_PERIOD_MODE, "000: 00018000"),
    ROW(VCX_CQC_ST, "000: 00000f00"),
    ROW(VCX_CQC_PAGE_OFFSET, "008: 00000fc0"),
    ROW(VCX_CQC_LOG_SIZE, "00c: 1f000000"),
    ROW(VCX_CQC_UAR_PAGE, "00c: 00ffffff"),
    ROW(VCX_CQC_PERIOD, "010: 0fff0000"),
    ROW(VCX_CQC_MAX_COUNT, "010: 0000ffff"),
    ROW(VCX_CQC_EQN, "014: ffffffff"),
    ROW(VCX_CQC_LOG_PAGE_SIZE, "018: 1f000000"),
    ROW(VCX_CQC_LAST_NOTIFIED, "020: 00ffffff"),
    ROW(VCX_CQC_LAST_SOLICITED, "024: 00ffffff"),
    ROW(VCX_CQC_CONSUMER_COUNTER, "028: 00ffffff"),
    ROW(VCX_CQC_PRODUCER_COUNTER, "02c: 00ffffff"),
};

const Field64<vcx_cqc> kCqc64[] = {
    ROW(VCX_CQC_DBR_ADDR, "038: 01020304, 03c: 05060708"),
};

const Field<vcx_ads> kAds[] = {
    ROW(VCX_ADS_FL, "000: 80000000"),
    ROW(VCX_ADS_PKEY_INDEX, "000: 0000ffff"),
    ROW(VCX_ADS_GRH, "004: 00800000"),
    ROW(VCX_ADS_MLID, "004: 007f0000"),
    ROW(VCX_ADS_RLID, "004: 0000ffff"),
    ROW(VCX_ADS_ACK_TIMEOUT, "008: f8000000"),
    ROW(VCX_ADS_SRC_ADDR_INDEX, "008: 00ff0000"),
    ROW(VCX_ADS_STAT_RATE, "008: 00000f00"),
    ROW(VCX_ADS_HOP_LIMIT, "008: 000000ff"),
    ROW(VCX_ADS_TCLASS, "00c: 0ff00000"),
    ROW(VCX_ADS_FLOW_LABEL, "00c: 000fffff"),
    ROW(VCX_ADS_SL, "024: 0f000000"),
    ROW(VCX_ADS_PORT, "024: 00ff0000"),
};

const Field<vcx_qpc> kQpc[] = {
    ROW(VCX_QPC_STATE, "000: f0000000"),
    ROW(VCX_QPC_ST, "000: 00ff0000"),
    ROW(VCX_QPC_PM_STATE, "000: 00001800"),
    ROW(VCX_QPC_PD, "004: 00ffffff"),
    ROW(VCX_QPC_MTU, "008: e0000000"),
    ROW(VCX_QPC_LOG_MSG_MAX, "008: 1f000000"),
    ROW(VCX_QPC_LOG_RQ_SIZE, "008: 00780000"),
    ROW(VCX_QPC_LOG_RQ_STRIDE, "008: 00070000"),
    ROW(VCX_QPC_NO_SQ, "008: 00008000"),
    ROW(VCX_QPC_LOG_SQ_SIZE, "008: 00007800"),
    ROW(VCX_QPC_RLKY, "008: 00000010"),
    ROW(VCX_QPC_COUNTER_SET_ID, "00c: ff000000"),
    ROW(VCX_QPC_UAR_PAGE, "00c: 00ffffff"),
    ROW(VCX_QPC_USER_INDEX, "010: 00ffffff"),
    ROW(VCX_QPC_LOG_PAGE_SIZE, "014: 1f000000"),
    ROW(VCX_QPC_REMOTE_QPN, "014: 00ffffff"),
    ROW(VCX_QPC_LOG_ACK_REQ_FREQ, "070: f0000000"),
    ROW(VCX_QPC_LOG_SRA_MAX, "070: 00e00000"),
    ROW(VCX_QPC_RETRY_COUNT, "070: 00070000"),
    ROW(VCX_QPC_RNR_RETRY, "070: 0000e000"),
    ROW(VCX_QPC_FRE, "070: 00000800"),
    ROW(VCX_QPC_CUR_RNR_RETRY, "070: 00000700"),
    ROW(VCX_QPC_CUR_RETRY_COUNT, "070: 000000e0"),
    ROW(VCX_QPC_NEXT_SEND_PSN, "078: 00ffffff"),
    ROW(VCX_QPC_CQN_SND, "07c: 00ffffff"),
    ROW(VCX_QPC_LAST_ACKED_PSN, "088: 00ffffff"),
    ROW(VCX_QPC_SSN, "08c: 00ffffff"),
    ROW(VCX_QPC_LOG_RRA_MAX, "090: 00e00000"),
    ROW(VCX_QPC_ATOMIC_MODE, "090: 000f0000"),
    ROW(VCX_QPC_RRE, "090: 00008000"),
    ROW(VCX_QPC_RWE, "090: 00004000"),
    ROW(VCX_QPC_RAE, "090: 00002000"),
    ROW(VCX_QPC_PAGE_OFFSET, "090: 00000fc0"),
    ROW(VCX_QPC_MIN_RNR_NAK, "094: 1f000000"),
    ROW(VCX_QPC_NEXT_RCV_PSN, "094: 00ffffff"),
    ROW(VCX_QPC_XRCD, "098: 00ffffff"),
    ROW(VCX_QPC_CQN_RCV, "09c: 00ffffff"),
    ROW(VCX_QPC_Q_KEY, "0a8: ffffffff"),
    ROW(VCX_QPC_RQ_TYPE, "0ac: 07000000"),
    ROW(VCX_QPC_SRQN, "0ac: 00ffffff"),
    ROW(VCX_QPC_RMSN, "0b0: 00ffffff"),
    ROW(VCX_QPC_HW_SQ_COUNTER, "0b4: ffff0000"),
    ROW(VCX_QPC_SW_SQ_COUNTER, "0b4: 0000ffff"),
    ROW(VCX_QPC_HW_RQ_COUNTER, "0b8: ffffffff"),
    ROW(VCX_QPC_SW_RQ_COUNTER, "0bc: ffffffff"),
};

const Field64<vcx_qpc> kQpc64[] = {
    ROW(VCX_QPC_DBR_ADDR, "0a0: 01020304, 0a4: 05060708"),
};

const Field<vcx_mkc> kMkc[] = {
    ROW(VCX_MKC_FREE, "000: 40000000"),
    ROW(VCX_MKC_ACCESS_MODE_4_2, "000: 1c000000"),
    ROW(VCX_MKC_UMR_EN, "000: 00008000"),
    ROW(VCX_MKC_A, "000: 00004000"),
    ROW(VCX_MKC_RW, "000: 00002000"),
    ROW(VCX_MKC_RR, "000: 00001000"),
    ROW(VCX_MKC_LW, "000: 00000800"),
    ROW(VCX_MKC_LR, "000: 00000400"),
    ROW(VCX_MKC_ACCESS_MODE, "000: 00000300"),
    ROW(VCX_MKC_QPN, "004: ffffff00"),
    ROW(VCX_MKC_KEY_7_0, "004: 000000ff"),
    ROW(VCX_MKC_LENGTH64, "00c: 80000000"),
    ROW(VCX_MKC_PD, "00c: 00ffffff"),
    ROW(VCX_MKC_TRANSLATIONS, "034: ffffffff"),
    ROW(VCX_MKC_LOG_PAGE_SIZE, "038: 0000001f"),
};

const Field64<vcx_mkc> kMkc64[] = {
    ROW(VCX_MKC_START_ADDR, "010: 01020304, 014: 05060708"),
    ROW(VCX_MKC_LEN, "018: 01020304, 01c: 05060708"),
};

TEST(LayoutTest, Eqc) { Check(kEqc); }

TEST(LayoutTest, Cqc) {
  Check(kCqc);
  Check(kCqc64);
}

TEST(LayoutTest, Ads) { Check(kAds); }

TEST(LayoutTest, Qpc) {
  Check(kQpc);
  Check(kQpc64);
}

TEST(LayoutTest, Mkc) {
  Check(kMkc);
  Check(kMkc64);
}

// Structures inside structures.
TEST(LayoutTest, PartsOfTheQpContext) {
  vcx_qpc qpc{};
  qpc.dw[VCX_QPC_PRIMARY_PATH_DW] = 0x11u;
  qpc.dw[VCX_QPC_ALTERNATE_PATH_DW] = 0x22u;
  EXPECT_EQ(Words(qpc), "018: 00000011, 044: 00000022");
  vcx_ads ads{};
  ads.dw[VCX_ADS_RGID_DW] = 0x33u;
  EXPECT_EQ(Words(ads), "010: 00000033");
}

TEST(LayoutTest, TranslationEntriesHaveFlagsInTheLowBits) {
  EXPECT_EQ(VCX_MTT_ADDRESS(0x123456789007ull), 0x123456789000ull);
}

}  // namespace
}  // namespace vcx
