/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// QUERY_HCA_VPORT_CONTEXT, _GID, _PKEY.
#include "testing/command_test.h"

namespace vcx {
namespace {

constexpr uint64_t kGuid = 0x0002c903'0012'3456;

class VportTest : public CommandTest {
 protected:
  Input<vcx_query_vport_in> In(uint16_t opcode, uint32_t index = 0) {
    auto in = MakeInput<vcx_query_vport_in>(opcode);
    in.fixed.vport = VCX_QUERY_VPORT_PORT(1);
    in.fixed.index = index;
    return in;
  }
  vcx_hca_vport_context Context() {
    const Reply reply = d.Execute(In(VCX_CMD_QUERY_HCA_VPORT_CONTEXT),
                                  sizeof(vcx_query_vport_context_out));
    EXPECT_TRUE(reply.ok());
    return reply.As<vcx_query_vport_context_out>().context;
  }
};

TEST_F(VportTest, IsAnActivePortThatIsItsOwnSubnetManager) {
  const vcx_hca_vport_context c = Context();
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_PORT_STATE), VCX_PORT_STATE_ACTIVE);
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_STATE), VCX_PORT_STATE_ACTIVE);
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_PHYS_STATE), VCX_PORT_PHYS_LINK_UP);
  EXPECT_EQ(VCX_GET64(&c, VCX_VPORT_SYSTEM_GUID), kGuid);
  EXPECT_EQ(VCX_GET64(&c, VCX_VPORT_PORT_GUID), kGuid);
  EXPECT_EQ(VCX_GET64(&c, VCX_VPORT_NODE_GUID), kGuid);
  const uint32_t lid = VCX_GET(&c, VCX_VPORT_LID);
  EXPECT_GT(lid, 0u);
  EXPECT_LE(lid, 0xbfffu);
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_SM_LID), lid);
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_LMC), 0u);
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_HAS_SMI), 0u);
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_GRH_REQUIRED), 0u);
}

TEST_F(VportTest, SaysWhenTheLinkIsDown) {
  m.device.SetLink(false);
  const vcx_hca_vport_context c = Context();
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_PORT_STATE), VCX_PORT_STATE_DOWN);
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_STATE), VCX_PORT_STATE_DOWN);
  EXPECT_EQ(VCX_GET(&c, VCX_VPORT_PHYS_STATE), VCX_PORT_PHYS_POLLING);
}

TEST_F(VportTest, TakesPortZeroForItsOnlyPort) {
  auto in = In(VCX_CMD_QUERY_HCA_VPORT_CONTEXT);
  in.fixed.vport = 0u;
  EXPECT_TRUE(d.Execute(in, 0x210).ok());
}

TEST_F(VportTest, RefusesOtherPorts) {
  for (const uint32_t vport : {VCX_QUERY_VPORT_PORT(2), VCX_QUERY_VPORT_OTHER,
                               1u, VCX_QUERY_VPORT_PORT(15)}) {
    for (const uint16_t opcode :
         {VCX_CMD_QUERY_HCA_VPORT_CONTEXT, VCX_CMD_QUERY_HCA_VPORT_GID,
          VCX_CMD_QUERY_HCA_VPORT_PKEY}) {
      auto in = In(opcode);
      in.fixed.vport = vport;
      EXPECT_EQ(d.Refusal(in, 0x210), VCX_REFUSED_VPORT_NUMBER) << vport;
    }
  }
}

TEST_F(VportTest, HasALinkLocalGid) {
  const Reply reply = d.Execute(In(VCX_CMD_QUERY_HCA_VPORT_GID), 32);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply.As<vcx_query_vport_gid_out>().gids_num.get(), 1u);
  EXPECT_EQ(reply.ListAt(16, 0), 0xfe80'0000'0000'0000u);
  EXPECT_EQ(reply.ListAt(16, 1), kGuid);
}

TEST_F(VportTest, GivesOneGidOrAllOfThem) {
  const Reply last = d.Execute(In(VCX_CMD_QUERY_HCA_VPORT_GID, 7), 32);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last.ListAt(16, 0), 0xfe80'0000'0000'0000u);  // an empty entry
  EXPECT_EQ(last.ListAt(16, 1), 0u);
  const Reply all =
      d.Execute(In(VCX_CMD_QUERY_HCA_VPORT_GID, 0xffff), 16 + 8 * 16);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all.As<vcx_query_vport_gid_out>().gids_num.get(), 8u);
  EXPECT_EQ(all.ListAt(16, 1), kGuid);
  EXPECT_EQ(all.ListAt(16, 15), 0u);
  EXPECT_EQ(d.Refusal(In(VCX_CMD_QUERY_HCA_VPORT_GID, 8), 32),
            VCX_REFUSED_VPORT_GID_INDEX);
  EXPECT_EQ(d.Refusal(In(VCX_CMD_QUERY_HCA_VPORT_GID, 0), 31),
            VCX_REFUSED_OUT_LIST_LENGTH);
  EXPECT_EQ(d.Refusal(In(VCX_CMD_QUERY_HCA_VPORT_GID, 0xffff), 16 + 8 * 16 - 1),
            VCX_REFUSED_OUT_LIST_LENGTH);
}

TEST_F(VportTest, GivesOnePkeyOrAllOfThem) {
  const Reply first = d.Execute(In(VCX_CMD_QUERY_HCA_VPORT_PKEY), 20);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(std::vector<uint8_t>(first.out.begin() + 16, first.out.end()),
              ::testing::ElementsAre(0, 0, 0xff, 0xff));
  const Reply all =
      d.Execute(In(VCX_CMD_QUERY_HCA_VPORT_PKEY, 0xffff), 16 + 128 * 4);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all.ListAt(16, 0), 0x0000ffff'00000000u);
  EXPECT_EQ(all.ListAt(16, 63), 0u);
  EXPECT_TRUE(d.Execute(In(VCX_CMD_QUERY_HCA_VPORT_PKEY, 127), 20).ok());
  EXPECT_EQ(d.Refusal(In(VCX_CMD_QUERY_HCA_VPORT_PKEY, 128), 20),
            VCX_REFUSED_VPORT_PKEY_INDEX);
  EXPECT_EQ(d.Refusal(In(VCX_CMD_QUERY_HCA_VPORT_PKEY, 0xffff), 16 + 127 * 4),
            VCX_REFUSED_OUT_LIST_LENGTH);
}

}  // namespace
}  // namespace vcx
