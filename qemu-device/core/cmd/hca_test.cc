/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// ENABLE, INIT, TEARDOWN, DISABLE; ISSI; QUERY_ADAPTER.
#include "testing/command_test.h"

namespace vcx {
namespace {

class HcaTest : public ::testing::Test {
 protected:
  HcaTest() {
    m.device.SetBusMaster(true);
    d.port().Attach();
  }

  TestMachine m;
  FakeDriver& d = m.driver;
};

TEST_F(HcaTest, GoesThroughItsLifeAHundredTimes) {
  for (int i = 0; i < 100; ++i) {
    d.Start();
    d.MustNumber(VCX_CMD_DESTROY_CQ, d.NewCq().number);
    d.Stop();
  }
  EXPECT_EQ(m.Counter("commands_failed"), 0u);
}

TEST_F(HcaTest, RefusesAnotherFunction) {
  EXPECT_EQ(d.RefusalOf(VCX_CMD_ENABLE_HCA, 1), VCX_REFUSED_FUNCTION);
  d.MustNumber(VCX_CMD_ENABLE_HCA);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DISABLE_HCA, 1), VCX_REFUSED_FUNCTION);
}

TEST_F(HcaTest, SaysWhichIssisItKnows) {
  d.MustNumber(VCX_CMD_ENABLE_HCA);
  const auto query = [this] {
    return d.ExecuteNumber(VCX_CMD_QUERY_ISSI, 0, 0, 0x70)
        .As<vcx_query_issi_out>();
  };
  EXPECT_EQ(query().current_issi.get(), 0u);
  EXPECT_EQ(query().supported_issi.get(), 0b11u);
  auto set = MakeInput<vcx_set_issi_in>(VCX_CMD_SET_ISSI);
  set.fixed.current_issi = 1u;
  d.Must(set);
  EXPECT_EQ(query().current_issi.get(), 1u);
  set.fixed.current_issi = 2u;
  EXPECT_EQ(d.Refusal(set), VCX_REFUSED_ISSI);
  EXPECT_EQ(query().current_issi.get(), 1u);
}

TEST_F(HcaTest, TeardownMustBeGraceful) {
  d.Enable();
  EXPECT_EQ(d.RefusalOf(VCX_CMD_TEARDOWN_HCA, 1), VCX_REFUSED_PROFILE);
  d.MustNumber(VCX_CMD_TEARDOWN_HCA, 0);
}

TEST_F(HcaTest, TeardownDropsAllObjectsWhoeverUsesThem) {
  d.Start({.command_events = false});
  FakeCq cq = d.NewCq();
  FakeMr mr = d.NewMr();
  const QpOptions options{.send_cqn = cq.number, .recv_cqn = cq.number};
  FakeQp a = d.NewQp(options);
  FakeQp b = d.NewQp(options);
  Connect(d, a, d, b);
  d.Send(a, {.opcode = VCX_WQE_SEND, .sges = {mr.At(0, 64)}});  // RNR wait
  d.MustNumber(VCX_CMD_TEARDOWN_HCA);
  for (const char* name : {"objects_pd", "objects_uar", "objects_eq",
                           "objects_cq", "objects_mkey", "objects_qp"})
    EXPECT_EQ(m.Counter(name), 0u) << name;
  const uint64_t writes = m.host.dma_writes;
  m.Settle();
  m.Advance(10'000'000'000);
  EXPECT_EQ(m.host.dma_writes, writes);
}

TEST_F(HcaTest, CanBeInitializedAgainAfterTeardown) {
  d.Enable();
  d.MustNumber(VCX_CMD_TEARDOWN_HCA);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_ALLOC_PD), VCX_REFUSED_HCA_STATE);
  d.MustNumber(VCX_CMD_INIT_HCA);
  d.MustNumber(VCX_CMD_ALLOC_PD);
}

TEST_F(HcaTest, TellsWhoItIs) {
  d.MustNumber(VCX_CMD_ENABLE_HCA);
  const auto out = d.ExecuteNumber(VCX_CMD_QUERY_ADAPTER, 0, 0, 0x110)
                       .As<vcx_query_adapter_out>();
  EXPECT_EQ(out.ieee_vendor_id.get(), 0x525400u);
  EXPECT_EQ(out.vsd_vendor_id.get(), VCX_PCI_VENDOR_ID);
  EXPECT_EQ(out.psid[sizeof(out.psid) - 1], 0);
  EXPECT_EQ(std::string(out.psid).substr(0, 3), "VCX");
}

}  // namespace
}  // namespace vcx
