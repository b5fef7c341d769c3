/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Golden bytes of what lies in queues and registers: each structure, filled in
// member by member, gives exactly these bytes. They follow from the offsets in
// the manual's tables.
#include <gtest/gtest.h>

#include <cstddef>

#include "testing/layout.h"
#include "vcx/cmd.h"
#include "vcx/cqe.h"
#include "vcx/eqe.h"
#include "vcx/regs.h"
#include "vcx/wqe.h"

namespace vcx {
namespace {

TEST(LayoutTest, WqeControlSegment) {
  vcx_wqe_ctrl c{};
  c.opmod_idx_opcode = 0x00123409u;  // index 0x1234, RDMA write with immediate
  c.qpn_ds = 0xabcdef05u;            // QP 0xabcdef, five units
  c.signature = 0x77;
  c.fm_ce_se = VCX_WQE_FM_FENCE | VCX_WQE_CE_ALWAYS | VCX_WQE_SE;
  c.imm = 0xdeadbeefu;
  EXPECT_EQ(Hex(c),
            "00123409"
            "abcdef05"
            "7700004a"
            "deadbeef");
  EXPECT_EQ(VCX_WQE_CTRL_OPCODE(c.opmod_idx_opcode.get()), 0x09u);
  EXPECT_EQ(VCX_WQE_CTRL_INDEX(c.opmod_idx_opcode.get()), 0x1234u);
  EXPECT_EQ(VCX_WQE_CTRL_QPN(c.qpn_ds.get()), 0xabcdefu);
  EXPECT_EQ(VCX_WQE_CTRL_DS(c.qpn_ds.get()), 5u);
}

TEST(LayoutTest, WqeRemoteAddressSegment) {
  vcx_wqe_raddr r{};
  r.va = 0x0102030405060708u;
  r.rkey = 0x11223344u;
  EXPECT_EQ(Hex(r),
            "0102030405060708"
            "11223344"
            "00000000");
}

TEST(LayoutTest, WqeDatagramSegment) {
  vcx_wqe_datagram d{};
  d.qkey = 0x11111111u;
  d.ext_qpn = VCX_WQE_DATAGRAM_EXT | 0x0abcdeu;
  d.stat_rate_sl = 0x7f;
  d.fl_mlid = 0x85;
  d.rlid = uint16_t{0xbffe};
  d.rmac[0] = 0x02;
  d.tclass = 0xc1;
  d.hop_limit = 64;
  d.grh = VCX_WQE_GRH_PRESENT | 7u << VCX_WQE_GRH_SGID_SHIFT | 0x12345u;
  for (uint8_t i = 0; i < sizeof(d.rgid); ++i) d.rgid[i] = i;
  EXPECT_EQ(Hex(d),
            "11111111"
            "00000000"
            "800abcde"
            "7f85bffe"
            "00000000"
            "0200000000"
            "00"
            "c140"
            "40712345"
            "000102030405060708090a0b0c0d0e0f");
}

TEST(LayoutTest, WqeDataSegment) {
  vcx_wqe_data d{};
  d.byte_count = 0x1000u;
  d.lkey = VCX_WQE_LKEY_TERMINATE;
  d.va = 0x0102030405060708u;
  EXPECT_EQ(Hex(d),
            "00001000"
            "00000100"
            "0102030405060708");
}

TEST(LayoutTest, WqeInlineSegment) {
  vcx_wqe_inline i{};
  i.byte_count = VCX_WQE_INLINE | 0x123;
  EXPECT_EQ(Hex(i), "80000123");
}

TEST(LayoutTest, Cqe) {
  vcx_cqe c{};
  c.ml_path = 0x81;
  c.slid = uint16_t{0x1234};
  c.flags_rqpn = VCX_CQE_GRH_PRESENT | 0x05abcdefu;
  c.srqn_uidx = 0x00765432u;
  c.imm_inval_pkey = 0xcafef00du;
  c.byte_count = 0x40000000u;
  c.timestamp = 0x0102030405060708u;
  c.sop_qpn = 0x0a112233u;
  c.wqe_counter = uint16_t{0xfffe};
  c.signature = 0x99;
  c.op_own = VCX_CQE_OP_OWN(VCX_CQE_RESP_SEND_IMM, 1, 1);
  EXPECT_EQ(Hex(c),
            "00000000000000000000000000000000"  // 0x00
            "00810000"
            "00001234"
            "15abcdef"
            "00000000"
            "00765432"
            "cafef00d"
            "00000000"
            "40000000"
            "0102030405060708"
            "0a112233"
            "fffe9933");
}

TEST(LayoutTest, ErrorCqe) {
  vcx_err_cqe c{};
  c.srqn_uidx = 0x00765432u;
  c.vendor_syndrome = VCX_VENDOR_KEY_BOUNDS;
  c.syndrome = VCX_SYNDROME_REMOTE_ACCESS;
  c.sop_qpn = 0x08112233u;
  c.wqe_counter = uint16_t{0x0102};
  c.signature = 0x99;
  c.op_own = VCX_CQE_OP_OWN(VCX_CQE_REQ_ERR, 0, 1);
  EXPECT_EQ(Hex(c),
            "00000000000000000000000000000000"
            "00000000000000000000000000000000"
            "00765432"
            "00000000"
            "00000000"
            "00000000"
            "00000000"
            "00001413"
            "08112233"
            "010299d1");
}

TEST(LayoutTest, EqeOfACompletion) {
  vcx_eqe e{};
  e.type = VCX_EVENT_COMPLETION;
  e.sub_type = 0x44;
  e.data.completion.cqn = 0x00abcdefu;
  e.signature = 0x99;
  e.owner = 1;
  EXPECT_EQ(Hex(e),
            "00000044000000000000000000000000"
            "00000000000000000000000000000000"
            "00000000000000000000000000000000"
            "0000000000000000"
            "00abcdef"
            "00009901");
}

// Of the other events only the first 0x28 bytes from the type's data on differ.
TEST(LayoutTest, EqeOfAQp) {
  vcx_eqe e{};
  e.type = VCX_EVENT_WQ_ACCESS_ERROR;
  e.data.qp.queue_type = VCX_EQE_QUEUE_SQ;
  e.data.qp.number = 0x00123456u;
  EXPECT_EQ(Words(e), "000: 00110000, 034: 02000000, 038: 00123456");
}

TEST(LayoutTest, EqeOfACqError) {
  vcx_eqe e{};
  e.type = VCX_EVENT_CQ_ERROR;
  e.data.cq_error.cqn = 0x00123456u;
  e.data.cq_error.syndrome = VCX_CQ_ERROR_OVERRUN;
  EXPECT_EQ(Words(e), "000: 00040000, 020: 00123456, 028: 00000001");
}

TEST(LayoutTest, EqeOfAPort) {
  vcx_eqe e{};
  e.type = VCX_EVENT_PORT_CHANGE;
  e.sub_type = VCX_PORT_EVENT_ACTIVE;
  e.data.port.port = 1 << 4;
  EXPECT_EQ(Words(e), "000: 00090004, 028: 10000000");
}

TEST(LayoutTest, EqeOfCommands) {
  vcx_eqe e{};
  e.type = VCX_EVENT_COMMAND;
  e.data.command.slots = 0x80000001u;
  EXPECT_EQ(Words(e), "000: 000a0000, 020: 80000001");
}

TEST(LayoutTest, EqeOfAPageRequest) {
  vcx_eqe e{};
  e.type = VCX_EVENT_PAGE_REQUEST;
  e.data.pages.function_id = uint16_t{0x0102};
  e.data.pages.num_pages = 0xfffffffeu;
  EXPECT_EQ(Words(e), "000: 000b0000, 020: 00000102, 024: fffffffe");
}

TEST(LayoutTest, CommandEntry) {
  vcx_cmd_entry e{};
  e.type = VCX_CMD_TYPE_PCIE;
  e.in_bytes = 0x110u;
  e.in_mailbox = 0x0102030405060708u;
  e.in[0] = 0xa1;
  e.in[15] = 0xa2;
  e.out[0] = 0xb1;
  e.out[15] = 0xb2;
  e.out_mailbox = 0x1112131415161718u;
  e.out_bytes = 0x1010u;
  e.token = 0x5a;
  e.signature = 0x99;
  e.status_own = VCX_DELIVERY_TOKEN << 1 | VCX_CMD_OWNER_DEVICE;
  EXPECT_EQ(Hex(e),
            "07000000"
            "00000110"
            "0102030405060708"
            "a1000000"
            "00000000"
            "00000000"
            "000000a2"
            "b1000000"
            "00000000"
            "00000000"
            "000000b2"
            "1112131415161718"
            "00001010"
            "5a990005");
}

TEST(LayoutTest, CommandMailbox) {
  vcx_cmd_mailbox m{};
  m.data[0] = 0xa1;
  m.data[511] = 0xa2;
  m.next = 0x0102030405060708u;
  m.block_num = 3u;
  m.token = 0x5a;
  m.ctrl_signature = 0x98;
  m.signature = 0x99;
  EXPECT_EQ(Words(m),
            "000: a1000000, 1fc: 000000a2, 230: 01020304, 234: 05060708, "
            "238: 00000003, 23c: 005a9899");
}

TEST(LayoutTest, InitializationSegment) {
  vcx_init_seg s{};
  s.fw_rev = 1u;
  s.cmdif_rev_fw_sub = 2u;
  s.cmdq_addr_h = 3u;
  s.cmdq_addr_l_sz = 4u;
  s.cmd_dbell = 5u;
  s.initializing = 6u;
  s.cmd_exec_to = 7u;
  s.cmd_q_init_to = 8u;
  s.internal_timer_h = 9u;
  s.internal_timer_l = 10u;
  s.health_counter = 11u;
  s.clr_intx = 12u;
  EXPECT_EQ(Words(s),
            "000: 00000001, 004: 00000002, 010: 00000003, 014: 00000004, "
            "018: 00000005, 1fc: 00000006, ff8: 00000007, ffc: 00000008, "
            "1000: 00000009, 1004: 0000000a, 1010: 0000000b, 200c: 0000000c");
}

TEST(LayoutTest, HealthBuffer) {
  vcx_health_buffer h{};
  h.assert_var[0] = 1u;
  h.assert_var[5] = 2u;
  h.assert_exit_ptr = 3u;
  h.assert_callra = 4u;
  h.time = 5u;
  h.fw_ver = 6u;
  h.hw_id = 7u;
  h.rfr_severity = VCX_HEALTH_RFR | VCX_HEALTH_SEVERITY_VALID;
  h.irisc_index = 0x0a;
  h.synd = 0x0b;
  h.ext_synd = uint16_t{0x0c0d};
  EXPECT_EQ(Words(h),
            "000: 00000001, 014: 00000002, 020: 00000003, 024: 00000004, "
            "02c: 00000005, 030: 00000006, 034: 00000007, 038: 88000000, "
            "03c: 0a0b0c0d");
}

TEST(LayoutTest, CqDoorbell) {
  vcx_doorbell_cq d{};
  d.sn_cmd_ci =
      VCX_CQ_ARM_SN(2) | VCX_CQ_ARM_SOLICITED | VCX_CQ_ARM_CI(0xff123456);
  d.cqn = 0x00abcdefu;
  EXPECT_EQ(Hex(d),
            "21123456"
            "00abcdef");
  EXPECT_EQ(VCX_CQ_ARM_SN_GET(d.sn_cmd_ci.get()), 2u);
}

// Numbers that are not in any structure.
TEST(LayoutTest, UarPage) {
  EXPECT_EQ(VCX_UAR_CQ_ARM, 0x20);
  EXPECT_EQ(VCX_UAR_EQ_ARM, 0x40);
  EXPECT_EQ(VCX_UAR_EQ_CI, 0x48);
  EXPECT_EQ(VCX_UAR_SQ, 0x800);
  EXPECT_EQ(1 << VCX_UAR_SQ_LOG_BYTES, 0x200);
  EXPECT_GE(VCX_UAR_FIRST_PAGE, 3);
}

}  // namespace
}  // namespace vcx
