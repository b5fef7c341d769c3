/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "cmd/dispatch.h"

#include <string_view>

#include "testing/command_test.h"

namespace vcx {
namespace {

// An opcode, the least that it takes and gives, and whether op_mod means
// something to it. Written from the manual, not from the table under test.
struct Opcode {
  uint16_t opcode;
  const char* name;
  size_t in_bytes;
  size_t out_bytes;
  bool has_op_mod = false;
};

constexpr Opcode kOpcodes[] = {
    {0x100, "QUERY_HCA_CAP", 16, 0x1010, true},
    {0x101, "QUERY_ADAPTER", 16, 0x110},
    {0x102, "INIT_HCA", 16, 16},
    {0x103, "TEARDOWN_HCA", 16, 16},
    {0x104, "ENABLE_HCA", 16, 12},
    {0x105, "DISABLE_HCA", 16, 12},
    {0x107, "QUERY_PAGES", 16, 16, true},
    {0x108, "MANAGE_PAGES", 16, 16, true},
    {0x109, "SET_HCA_CAP", 0x1010, 16, true},
    {0x10a, "QUERY_ISSI", 16, 0x70},
    {0x10b, "SET_ISSI", 16, 16},
    {0x200, "CREATE_MKEY", 0x110, 16},
    {0x201, "QUERY_MKEY", 16, 0x130},
    {0x202, "DESTROY_MKEY", 16, 16},
    {0x301, "CREATE_EQ", 0x110, 16},
    {0x302, "DESTROY_EQ", 16, 16},
    {0x303, "QUERY_EQ", 16, 0x110},
    {0x400, "CREATE_CQ", 0x110, 16},
    {0x401, "DESTROY_CQ", 16, 16},
    {0x402, "QUERY_CQ", 16, 0x110},
    {0x403, "MODIFY_CQ", 0x110, 16, true},
    {0x500, "CREATE_QP", 0x110, 16},
    {0x501, "DESTROY_QP", 16, 16},
    {0x502, "RST2INIT_QP", 0x110, 16},
    {0x503, "INIT2RTR_QP", 0x110, 16},
    {0x504, "RTR2RTS_QP", 0x110, 16},
    {0x505, "RTS2RTS_QP", 0x110, 16},
    {0x506, "SQERR2RTS_QP", 0x110, 16},
    {0x507, "2ERR_QP", 16, 16},
    {0x508, "RTS2SQD_QP", 16, 16, true},
    {0x50a, "2RST_QP", 16, 16},
    {0x50b, "QUERY_QP", 16, 0x110},
    {0x50c, "SQD2RTS_QP", 0x110, 16},
    {0x50e, "INIT2INIT_QP", 0x110, 16},
    {0x762, "QUERY_HCA_VPORT_CONTEXT", 16, 0x210},
    {0x764, "QUERY_HCA_VPORT_GID", 16, 16},
    {0x765, "QUERY_HCA_VPORT_PKEY", 16, 16},
    {0x771, "ALLOC_Q_COUNTER", 16, 16},
    {0x772, "DEALLOC_Q_COUNTER", 16, 16},
    {0x773, "QUERY_Q_COUNTER", 0x20, 0x100},
    {0x800, "ALLOC_PD", 16, 16},
    {0x801, "DEALLOC_PD", 16, 16},
    {0x802, "ALLOC_UAR", 16, 16},
    {0x803, "DEALLOC_UAR", 16, 16},
    {0x805, "ACCESS_REG", 16, 16, true},
};

std::vector<uint8_t> Blank(uint16_t opcode, size_t bytes, uint16_t op_mod = 0,
                           uint16_t uid = 0) {
  std::vector<uint8_t> in(bytes);
  in[0] = static_cast<uint8_t>(opcode >> 8);
  in[1] = static_cast<uint8_t>(opcode);
  in[2] = static_cast<uint8_t>(uid >> 8);
  in[3] = static_cast<uint8_t>(uid);
  in[6] = static_cast<uint8_t>(op_mod >> 8);
  in[7] = static_cast<uint8_t>(op_mod);
  return in;
}

TEST(DispatchTest, KnowsTheNameOfEachOpcodeAndOfNoOther) {
  size_t known = 0;
  for (uint32_t opcode = 0; opcode <= 0xffff; ++opcode)
    known += std::string_view(OpcodeName(static_cast<uint16_t>(opcode))) !=
             "UNKNOWN";
  EXPECT_EQ(known, std::size(kOpcodes));
  for (const Opcode& o : kOpcodes) EXPECT_STREQ(OpcodeName(o.opcode), o.name);
}

TEST(DispatchTest, RefusesAllButEnableBeforeEnable) {
  TestMachine m;
  m.device.SetBusMaster(true);
  m.driver.port().Attach();
  for (const Opcode& o : kOpcodes) {
    if (o.opcode == VCX_CMD_ENABLE_HCA) continue;
    const Reply reply =
        m.driver.Execute(Blank(o.opcode, o.in_bytes), o.out_bytes);
    EXPECT_EQ(reply.syndrome, VCX_REFUSED_HCA_STATE) << o.name;
    EXPECT_EQ(reply.status, VCX_STATUS_BAD_SYS_STATE) << o.name;
  }
}

TEST(DispatchTest, RefusesObjectsBeforeInit) {
  TestMachine m;
  m.device.SetBusMaster(true);
  m.driver.port().Attach();
  m.driver.MustNumber(VCX_CMD_ENABLE_HCA);
  for (const Opcode& o : kOpcodes) {
    if (o.opcode < VCX_CMD_CREATE_MKEY || o.opcode == VCX_CMD_ACCESS_REG)
      continue;
    const Reply reply =
        m.driver.Execute(Blank(o.opcode, o.in_bytes), o.out_bytes);
    EXPECT_EQ(reply.syndrome, VCX_REFUSED_HCA_STATE) << o.name;
  }
}

class DispatchTestAfterStart : public CommandTest {};

TEST_F(DispatchTestAfterStart, RefusesWhatBelongsBeforeInit) {
  for (const uint16_t opcode : {VCX_CMD_ENABLE_HCA, VCX_CMD_DISABLE_HCA,
                                VCX_CMD_INIT_HCA, VCX_CMD_SET_ISSI})
    EXPECT_EQ(d.RefusalOf(opcode), VCX_REFUSED_HCA_STATE) << opcode;
  EXPECT_EQ(d.Refusal(MakeInput<vcx_set_hca_cap_in>(VCX_CMD_SET_HCA_CAP)),
            VCX_REFUSED_HCA_STATE);
}

TEST_F(DispatchTestAfterStart, RefusesEachInputThatIsAByteShort) {
  for (const Opcode& o : kOpcodes) {
    const Reply reply = d.Execute(Blank(o.opcode, o.in_bytes - 1), o.out_bytes);
    EXPECT_EQ(reply.syndrome, VCX_REFUSED_IN_LENGTH) << o.name;
    EXPECT_EQ(reply.status, VCX_STATUS_BAD_IN_LENGTH) << o.name;
  }
}

TEST_F(DispatchTestAfterStart, RefusesEachOutputThatIsAByteShort) {
  for (const Opcode& o : kOpcodes) {
    const Reply reply = d.Execute(Blank(o.opcode, o.in_bytes), o.out_bytes - 1);
    EXPECT_EQ(reply.syndrome, VCX_REFUSED_OUT_LENGTH) << o.name;
    EXPECT_EQ(reply.status, VCX_STATUS_BAD_OUT_LENGTH) << o.name;
  }
}

TEST_F(DispatchTestAfterStart, RefusesAnInputThatIsFarTooLong) {
  const Reply reply = d.Execute(Blank(VCX_CMD_ALLOC_PD, 8192), 16);
  EXPECT_EQ(reply.syndrome, VCX_REFUSED_IN_LENGTH);
}

TEST_F(DispatchTestAfterStart, AcceptsAnInputThatGoesOnALittle) {
  EXPECT_TRUE(d.Execute(Blank(VCX_CMD_ALLOC_PD, 64), 16).ok());
}

TEST_F(DispatchTestAfterStart, RefusesUidsAndUnknownOpMods) {
  for (const Opcode& o : kOpcodes) {
    if (o.opcode < VCX_CMD_CREATE_MKEY) continue;  // not in this state
    const Reply uid = d.Execute(Blank(o.opcode, o.in_bytes, 0, 1), o.out_bytes);
    EXPECT_EQ(uid.syndrome, VCX_REFUSED_UID) << o.name;
    if (o.has_op_mod) continue;  // its own tests look at those
    const Reply op_mod =
        d.Execute(Blank(o.opcode, o.in_bytes, 0x100), o.out_bytes);
    EXPECT_EQ(op_mod.syndrome, VCX_REFUSED_OP_MOD) << o.name;
  }
}

TEST_F(DispatchTestAfterStart, AnswersUnknownOpcodesWithBadOp) {
  m.device.SetTrace(1ull << VCX_TRACE_COMMAND);
  for (const uint16_t opcode : {0, 0x106, 0x110, 0x700, 0x90c, 0xffff}) {
    // However long they are: nothing of them is copied.
    const Reply reply = d.Execute(Blank(opcode, 600), 16);
    EXPECT_EQ(reply.status, VCX_STATUS_BAD_OP) << opcode;
    EXPECT_EQ(reply.syndrome, VCX_REFUSED_OPCODE) << opcode;
    ASSERT_FALSE(m.host.traces.empty());
    EXPECT_EQ(m.host.traces.back().args[0], opcode);
    EXPECT_EQ(m.host.traces.back().args[2], VCX_STATUS_BAD_OP);
  }
  EXPECT_EQ(m.Counter("commands_failed"), 6u);
}

TEST_F(DispatchTestAfterStart, FailsTheCommandThatATestNames) {
  m.device.FailCommand(3);
  d.MustNumber(VCX_CMD_ALLOC_PD);
  // One that is refused anyway is not counted.
  EXPECT_EQ(d.RefusalOf(VCX_CMD_ENABLE_HCA), VCX_REFUSED_HCA_STATE);
  d.MustNumber(VCX_CMD_ALLOC_PD);
  const uint64_t pds = m.Counter("objects_pd");
  const Reply reply = d.ExecuteNumber(VCX_CMD_ALLOC_PD, 0);
  EXPECT_EQ(reply.status, VCX_STATUS_INTERNAL);
  EXPECT_EQ(reply.syndrome, VCX_REFUSED_FOR_TEST);
  EXPECT_EQ(m.Counter("objects_pd"), pds);
  d.MustNumber(VCX_CMD_ALLOC_PD);
  m.device.FailCommand(1);
  m.device.FailCommand(0);
  d.MustNumber(VCX_CMD_ALLOC_PD);
}

TEST(DispatchTest, AFailureThatATestNamesOutlivesAReset) {
  TestMachine m;
  m.device.FailCommand(1);
  m.device.Reset(VCX_RESET_FUNCTION);
  m.device.SetBusMaster(true);
  m.driver.port().Attach();
  EXPECT_EQ(m.driver.RefusalOf(VCX_CMD_ENABLE_HCA), VCX_REFUSED_FOR_TEST);
  m.driver.MustNumber(VCX_CMD_ENABLE_HCA);
}

TEST_F(DispatchTestAfterStart, LeavesNothingInTheOutputOfARefusedCommand) {
  const Reply reply = d.ExecuteNumber(VCX_CMD_QUERY_CQ, 77, 0, 0x110);
  EXPECT_EQ(reply.status, VCX_STATUS_BAD_RESOURCE);
  EXPECT_THAT(std::vector<uint8_t>(reply.out.begin() + 8, reply.out.end()),
              ::testing::Each(0));
}

}  // namespace
}  // namespace vcx
