/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Golden bytes of inputs and outputs of the commands: each structure, filled in
// member by member, has these words at these offsets. They follow from the
// manual's tables.
#include <gtest/gtest.h>

#include "testing/layout.h"
#include "vcx/cmd_layout.h"

namespace vcx {
namespace {

vcx_cmd_in Header(uint16_t opcode, uint16_t op_mod) {
  vcx_cmd_in hdr{};
  hdr.opcode = opcode;
  hdr.uid = uint16_t{0};
  hdr.op_mod = op_mod;
  return hdr;
}

vcx_cmd_out OutHeader() {
  vcx_cmd_out hdr{};
  hdr.status = VCX_STATUS_BAD_QP_STATE;
  hdr.syndrome = 0x00010203u;
  return hdr;
}

// What the output header above makes.
#define OUT_WORDS "000: 10000000, 004: 00010203"

TEST(CommandLayoutTest, Headers) {
  vcx_cmd_in in = Header(0x0805, 0x0102);
  in.uid = uint16_t{0x0304};
  EXPECT_EQ(Hex(in),
            "08050304"
            "00000102");
  EXPECT_EQ(Hex(OutHeader()),
            "10000000"
            "00010203");
}

TEST(CommandLayoutTest, NumberInAndOut) {
  vcx_number_in in{};
  in.hdr = Header(0x501, 0);
  in.number = 0x00abcdefu;
  EXPECT_EQ(Words(in), "000: 05010000, 008: 00abcdef");
  vcx_number_out out{};
  out.hdr = OutHeader();
  out.number = 0x00abcdefu;
  EXPECT_EQ(Words(out), OUT_WORDS ", 008: 00abcdef");
}

TEST(CommandLayoutTest, StatusOut) {
  vcx_status_out out{};
  out.hdr = OutHeader();
  EXPECT_EQ(Words(out), OUT_WORDS);
  EXPECT_EQ(sizeof(out), 12u);
}

TEST(CommandLayoutTest, HcaCap) {
  vcx_query_hca_cap_out out{};
  out.hdr = OutHeader();
  out.cap.dw[0] = 1u;
  out.cap.dw[1023] = 2u;
  EXPECT_EQ(Words(out), OUT_WORDS ", 010: 00000001, 100c: 00000002");
  vcx_set_hca_cap_in in{};
  in.hdr = Header(0x109, 0);
  in.cap.dw[0] = 1u;
  in.cap.dw[1023] = 2u;
  EXPECT_EQ(Words(in), "000: 01090000, 010: 00000001, 100c: 00000002");
  EXPECT_EQ(VCX_CAP_OP_MOD(VCX_CAP_GENERAL, VCX_CAP_MODE_CURRENT), 1);
}

TEST(CommandLayoutTest, QueryAdapter) {
  vcx_query_adapter_out out{};
  out.hdr = OutHeader();
  out.ieee_vendor_id = 0x00010203u;
  out.vsd_vendor_id = uint16_t{0x0405};
  out.vsd[0] = 6;
  out.vsd[207] = 7;
  out.psid[0] = 8;
  out.psid[15] = 9;
  EXPECT_EQ(Words(out), OUT_WORDS
            ", 028: 00010203, 02c: 00000405, 030: 06000000, "
            "0fc: 00000007, 100: 08000000, 10c: 00000009");
}

TEST(CommandLayoutTest, Pages) {
  vcx_query_pages_out query{};
  query.hdr = OutHeader();
  query.function_id = 0x0102u;
  query.num_pages = 0xffffffffu;
  EXPECT_EQ(Words(query), OUT_WORDS ", 008: 00000102, 00c: ffffffff");
  vcx_manage_pages_in in{};
  in.hdr = Header(0x108, VCX_MANAGE_PAGES_TAKE);
  in.function_id = 0x0102u;
  in.num_pages = 0x300u;
  EXPECT_EQ(Words(in),
            "000: 01080000, 004: 00000002, 008: 00000102, 00c: 00000300");
  vcx_manage_pages_out out{};
  out.hdr = OutHeader();
  out.num_pages = 0x300u;
  EXPECT_EQ(Words(out), OUT_WORDS ", 008: 00000300");
}

TEST(CommandLayoutTest, Issi) {
  vcx_query_issi_out out{};
  out.hdr = OutHeader();
  out.current_issi = 1u;
  out.supported_issi = 3u;
  EXPECT_EQ(Words(out), OUT_WORDS ", 008: 00000001, 06c: 00000003");
  vcx_set_issi_in in{};
  in.hdr = Header(0x10b, 0);
  in.current_issi = 1u;
  EXPECT_EQ(Words(in), "000: 010b0000, 008: 00000001");
}

TEST(CommandLayoutTest, Mkey) {
  vcx_create_mkey_in in{};
  in.hdr = Header(0x200, 0);
  in.input_index = 0x00abcdefu;
  in.flags = VCX_CREATE_MKEY_PG_ACCESS;
  in.mkc.dw[0] = 1u;
  in.mkc.dw[15] = 2u;
  in.translations_octwords = 3u;
  EXPECT_EQ(Words(in),
            "000: 02000000, 008: 00abcdef, 00c: 80000000, 010: 00000001, "
            "04c: 00000002, 060: 00000003");
  EXPECT_EQ(sizeof(in), 0x110u);
  vcx_query_mkey_out out{};
  out.hdr = OutHeader();
  out.mkc.dw[0] = 1u;
  out.translations[0] = 4;
  out.translations[31] = 5;
  EXPECT_EQ(Words(out),
            OUT_WORDS ", 010: 00000001, 110: 04000000, 12c: 00000005");
}

TEST(CommandLayoutTest, Eq) {
  vcx_create_eq_in in{};
  in.hdr = Header(0x301, 0);
  in.eqc.dw[0] = 1u;
  in.eqc.dw[15] = 2u;
  in.event_bitmask[0] = 1ull << 0x0a;  // the event of commands
  in.event_bitmask[3] = 0x0102030405060708u;
  EXPECT_EQ(Words(in),
            "000: 03010000, 010: 00000001, 04c: 00000002, 05c: 00000400, "
            "070: 01020304, 074: 05060708");
  EXPECT_EQ(sizeof(in), 0x110u);
  vcx_query_eq_out out{};
  out.hdr = OutHeader();
  out.eqc.dw[0] = 1u;
  out.event_bitmask[0] = 0x400u;
  EXPECT_EQ(Words(out), OUT_WORDS ", 010: 00000001, 05c: 00000400");
}

TEST(CommandLayoutTest, Cq) {
  vcx_create_cq_in create{};
  create.hdr = Header(0x400, 0);
  create.cqc.dw[0] = 1u;
  create.cqc.dw[15] = 2u;
  EXPECT_EQ(Words(create), "000: 04000000, 010: 00000001, 04c: 00000002");
  EXPECT_EQ(sizeof(create), 0x110u);
  vcx_modify_cq_in modify{};
  modify.hdr = Header(0x403, VCX_MODIFY_CQ_OP_RESIZE);
  modify.cqn = 0x00abcdefu;
  modify.field_select = VCX_MODIFY_CQ_LOG_SIZE | VCX_MODIFY_CQ_LOG_PAGE_SIZE;
  modify.cqc.dw[0] = 1u;
  EXPECT_EQ(Words(modify),
            "000: 04030000, 004: 00000001, 008: 00abcdef, 00c: 00000005, "
            "010: 00000001");
  EXPECT_EQ(sizeof(modify), 0x110u);
  vcx_query_cq_out out{};
  out.hdr = OutHeader();
  out.cqc.dw[0] = 1u;
  out.cqc.dw[15] = 2u;
  EXPECT_EQ(Words(out), OUT_WORDS ", 010: 00000001, 04c: 00000002");
}

TEST(CommandLayoutTest, Qp) {
  vcx_qp_in in{};
  in.hdr = Header(0x503, 0);
  in.qpn = 0x00abcdefu;
  in.opt_param_mask = VCX_QP_OPT_RRE | VCX_QP_OPT_COUNTER_SET;
  in.qpc.dw[0] = 1u;
  in.qpc.dw[57] = 2u;
  EXPECT_EQ(Words(in),
            "000: 05030000, 008: 00abcdef, 010: 02000002, 018: 00000001, "
            "0fc: 00000002");
  EXPECT_EQ(sizeof(in), 0x110u);
  vcx_query_qp_out out{};
  out.hdr = OutHeader();
  out.opt_param_mask = 1u;
  out.qpc.dw[0] = 1u;
  out.qpc.dw[57] = 2u;
  EXPECT_EQ(Words(out),
            OUT_WORDS ", 010: 00000001, 018: 00000001, 0fc: 00000002");
  EXPECT_EQ(sizeof(out), 0x110u);
}

TEST(CommandLayoutTest, Vport) {
  vcx_query_vport_in in{};
  in.hdr = Header(0x764, 0);
  in.vport = VCX_QUERY_VPORT_OTHER | VCX_QUERY_VPORT_PORT(2);
  in.index = 0xffffu;
  EXPECT_EQ(Words(in), "000: 07640000, 008: 80020000, 00c: 0000ffff");
  EXPECT_EQ(VCX_QUERY_VPORT_PORT_GET(in.vport.get()), 2u);
  vcx_query_vport_context_out context{};
  context.hdr = OutHeader();
  context.context.dw[0] = 1u;
  context.context.dw[127] = 2u;
  EXPECT_EQ(Words(context), OUT_WORDS ", 010: 00000001, 20c: 00000002");
  vcx_query_vport_gid_out gid{};
  gid.hdr = OutHeader();
  gid.gids_num = uint16_t{8};
  EXPECT_EQ(Words(gid), OUT_WORDS ", 00c: 00080000");
  vcx_query_vport_pkey_out pkey{};
  pkey.hdr = OutHeader();
  EXPECT_EQ(Words(pkey), OUT_WORDS);
  EXPECT_EQ(sizeof(pkey), 16u);
}

TEST(CommandLayoutTest, QCounter) {
  vcx_query_q_counter_in in{};
  in.hdr = Header(0x773, 0);
  in.clear = VCX_QUERY_Q_COUNTER_CLEAR;
  in.counter_set_id = 0x42u;
  EXPECT_EQ(Words(in), "000: 07730000, 018: 80000000, 01c: 00000042");
  vcx_query_q_counter_out out{};
  out.hdr = OutHeader();
  out.dw[VCX_Q_COUNTER_RX_WRITE_REQUESTS / 4 - 2] = 1u;
  out.dw[VCX_Q_COUNTER_REQ_CQE_FLUSH_ERROR / 4 - 2] = 2u;
  out.dw[61] = 3u;
  EXPECT_EQ(Words(out),
            OUT_WORDS ", 010: 00000001, 0c0: 00000002, 0fc: 00000003");
}

TEST(CommandLayoutTest, AccessRegister) {
  vcx_access_reg_in in{};
  in.hdr = Header(0x805, VCX_ACCESS_REG_READ);
  in.register_id = VCX_REG_PTYS;
  in.argument = 0x01020304u;
  EXPECT_EQ(Words(in),
            "000: 08050000, 004: 00000001, 008: 00005004, 00c: 01020304");
  vcx_access_reg_out out{};
  out.hdr = OutHeader();
  EXPECT_EQ(Words(out), OUT_WORDS);
  EXPECT_EQ(sizeof(out), 16u);
}

}  // namespace
}  // namespace vcx
