/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Golden bytes of capabilities, port and registers: each field, set to ones
// (64-bit fields: to 0102030405060708) in a structure of zeros, gives exactly
// the words beside it. The words were taken from the manual's tables, not from
// the header.
#include <gtest/gtest.h>

#include "testing/layout.h"
#include "vcx/cap.h"

namespace vcx {
namespace {

const Field<vcx_hca_cap> kHcaCap[] = {
    ROW(VCX_CAP_LOG_MAX_SRQ_SZ, "010: ff000000"),
    ROW(VCX_CAP_LOG_MAX_QP_SZ, "010: 00ff0000"),
    ROW(VCX_CAP_LOG_MAX_QP, "010: 0000001f"),
    ROW(VCX_CAP_LOG_MAX_SRQ, "014: 001f0000"),
    ROW(VCX_CAP_LOG_MAX_CQ_SZ, "018: 00ff0000"),
    ROW(VCX_CAP_LOG_MAX_CQ, "018: 0000001f"),
    ROW(VCX_CAP_LOG_MAX_EQ_SZ, "01c: ff000000"),
    ROW(VCX_CAP_LOG_MAX_MKEY, "01c: 003f0000"),
    ROW(VCX_CAP_LOG_MAX_EQ, "01c: 0000000f"),
    ROW(VCX_CAP_LOG_MAX_MRW_SZ, "020: 007f0000"),
    ROW(VCX_CAP_LOG_MAX_KLM_LIST, "020: 0000003f"),
    ROW(VCX_CAP_LOG_MAX_RA_REQ_QP, "028: 003f0000"),
    ROW(VCX_CAP_LOG_MAX_RA_RES_QP, "028: 0000003f"),
    ROW(VCX_CAP_GID_TABLE_SIZE, "02c: 0000ffff"),
    ROW(VCX_CAP_OUT_OF_SEQ_CNT, "030: 80000000"),
    ROW(VCX_CAP_RETRANS_COUNTERS, "030: 20000000"),
    ROW(VCX_CAP_MAX_QP_CNT, "030: 03ff0000"),
    ROW(VCX_CAP_PKEY_TABLE_SIZE, "030: 0000ffff"),
    ROW(VCX_CAP_IB_VIRT, "034: 20000000"),
    ROW(VCX_CAP_LOCAL_CA_ACK_DELAY, "034: 001f0000"),
    ROW(VCX_CAP_ENHANCED_ERR_COUNTERS, "034: 00004000"),
    ROW(VCX_CAP_PORT_TYPE, "034: 00000300"),
    ROW(VCX_CAP_NUM_PORTS, "034: 000000ff"),
    ROW(VCX_CAP_LOG_MAX_MSG, "038: 1f000000"),
    ROW(VCX_CAP_STAT_RATE, "03c: ffff0000"),
    ROW(VCX_CAP_CQE_VERSION, "03c: 0000000f"),
    ROW(VCX_CAP_UMR_SIZE_DISABLED, "040: 01000000"),
    ROW(VCX_CAP_CMDIF_CHECKSUM, "040: 0000c000"),
    ROW(VCX_CAP_ATOMIC, "040: 00000002"),
    ROW(VCX_CAP_CQ_OI, "044: 80000000"),
    ROW(VCX_CAP_CQ_RESIZE, "044: 40000000"),
    ROW(VCX_CAP_CQ_MODERATION, "044: 20000000"),
    ROW(VCX_CAP_XRC, "044: 00000008"),
    ROW(VCX_CAP_UD, "044: 00000004"),
    ROW(VCX_CAP_UC, "044: 00000002"),
    ROW(VCX_CAP_RC, "044: 00000001"),
    ROW(VCX_CAP_UAR_SZ, "048: 003f0000"),
    ROW(VCX_CAP_LOG_PG_SZ, "048: 000000ff"),
    ROW(VCX_CAP_BF, "04c: 80000000"),
    ROW(VCX_CAP_MKEY_BY_NAME, "04c: 02000000"),
    ROW(VCX_CAP_LOG_BF_REG_SIZE, "04c: 001f0000"),
    ROW(VCX_CAP_MAX_WQE_SZ_SQ, "050: 0000ffff"),
    ROW(VCX_CAP_MAX_WQE_SZ_RQ, "054: 0000ffff"),
    ROW(VCX_CAP_LOG_MAX_PD, "064: 001f0000"),
    ROW(VCX_CAP_LOG_MAX_XRCD, "064: 0000001f"),
    ROW(VCX_CAP_MAX_NUM_EQS, "08c: 0000ffff"),
    ROW(VCX_CAP_LOG_UAR_PAGE_SZ, "090: 0000ffff"),
};

const Field<vcx_hca_vport_context> kHcaVportContext[] = {
    ROW(VCX_VPORT_HAS_SMI, "020: 40000000"),
    ROW(VCX_VPORT_GRH_REQUIRED, "020: 10000000"),
    ROW(VCX_VPORT_PHYS_STATE, "020: 0000f000"),
    ROW(VCX_VPORT_PORT_STATE, "020: 000000f0"),
    ROW(VCX_VPORT_STATE, "020: 0000000f"),
    ROW(VCX_VPORT_CAP_MASK1, "040: ffffffff"),
    ROW(VCX_VPORT_CAP_MASK2, "048: ffffffff"),
    ROW(VCX_VPORT_LID, "060: ffff0000"),
    ROW(VCX_VPORT_LMC, "060: 000000e0"),
    ROW(VCX_VPORT_SUBNET_TIMEOUT, "060: 0000001f"),
    ROW(VCX_VPORT_SM_LID, "064: ffff0000"),
    ROW(VCX_VPORT_SM_SL, "064: 0000f000"),
    ROW(VCX_VPORT_QKEY_VIOLATIONS, "068: ffff0000"),
    ROW(VCX_VPORT_PKEY_VIOLATIONS, "068: 0000ffff"),
};

const Field64<vcx_hca_vport_context> kHcaVportContext64[] = {
    ROW(VCX_VPORT_SYSTEM_GUID, "028: 01020304, 02c: 05060708"),
    ROW(VCX_VPORT_PORT_GUID, "030: 01020304, 034: 05060708"),
    ROW(VCX_VPORT_NODE_GUID, "038: 01020304, 03c: 05060708"),
};

const Field<vcx_reg_ptys> kRegPtys[] = {
    ROW(VCX_PTYS_LOCAL_PORT, "000: 00ff0000"),
    ROW(VCX_PTYS_PROTO_MASK, "000: 00000007"),
    ROW(VCX_PTYS_IB_WIDTH_CAP, "010: ffff0000"),
    ROW(VCX_PTYS_IB_PROTO_CAP, "010: 0000ffff"),
    ROW(VCX_PTYS_IB_WIDTH_ADMIN, "01c: ffff0000"),
    ROW(VCX_PTYS_IB_PROTO_ADMIN, "01c: 0000ffff"),
    ROW(VCX_PTYS_IB_WIDTH_OPER, "028: ffff0000"),
    ROW(VCX_PTYS_IB_PROTO_OPER, "028: 0000ffff"),
};

const Field<vcx_reg_pmtu> kRegPmtu[] = {
    ROW(VCX_PMTU_LOCAL_PORT, "000: 00ff0000"),
    ROW(VCX_PMTU_MAX, "004: ffff0000"),
    ROW(VCX_PMTU_ADMIN, "008: ffff0000"),
    ROW(VCX_PMTU_OPER, "00c: ffff0000"),
};

const Field<vcx_reg_pvlc> kRegPvlc[] = {
    ROW(VCX_PVLC_LOCAL_PORT, "000: 00ff0000"),
    ROW(VCX_PVLC_HW_CAP, "004: 0000000f"),
    ROW(VCX_PVLC_ADMIN, "008: 0000000f"),
    ROW(VCX_PVLC_OPERATIONAL, "00c: 0000000f"),
};

TEST(LayoutTest, HcaCap) { Check(kHcaCap); }

TEST(LayoutTest, HcaVportContext) {
  Check(kHcaVportContext);
  Check(kHcaVportContext64);
}

TEST(LayoutTest, RegPtys) { Check(kRegPtys); }

TEST(LayoutTest, RegPmtu) { Check(kRegPmtu); }

TEST(LayoutTest, RegPvlc) { Check(kRegPvlc); }

}  // namespace
}  // namespace vcx
