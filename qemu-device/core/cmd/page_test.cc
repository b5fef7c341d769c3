/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// QUERY_PAGES, MANAGE_PAGES, and the supply behind them.
#include "testing/command_test.h"

namespace vcx {
namespace {

constexpr uint32_t kBoot = 5;
constexpr uint32_t kInit = 11;

vcx_core_config ConfigWithPages() {
  vcx_core_config config = TestConfig();
  config.boot_pages = kBoot;
  config.init_pages = kInit;
  return config;
}

class PageTest : public ::testing::Test {
 protected:
  PageTest() : m(ConfigWithPages()) {
    m.device.SetBusMaster(true);
    d.port().Attach();
    d.MustNumber(VCX_CMD_ENABLE_HCA);
  }

  uint32_t Asked(uint16_t op_mod) {
    const Reply reply = d.ExecuteNumber(VCX_CMD_QUERY_PAGES, 0, op_mod);
    EXPECT_TRUE(reply.ok());
    EXPECT_EQ(reply.As<vcx_query_pages_out>().function_id.get(), 0u);
    return reply.As<vcx_query_pages_out>().num_pages.get();
  }
  // Pages first, first + 1, ... as addresses.
  Input<vcx_manage_pages_in> Give(uint32_t first, uint32_t num) {
    auto in = MakeInput<vcx_manage_pages_in>(VCX_CMD_MANAGE_PAGES,
                                             VCX_MANAGE_PAGES_GIVE);
    in.fixed.num_pages = num;
    for (uint32_t i = 0; i < num; ++i)
      in.list.push_back(uint64_t{first + i} * 4096);
    return in;
  }
  Reply Take(uint32_t num, size_t room) {
    auto in = MakeInput<vcx_manage_pages_in>(VCX_CMD_MANAGE_PAGES,
                                             VCX_MANAGE_PAGES_TAKE);
    in.fixed.num_pages = num;
    return d.Execute(in, 16 + room * 8);
  }

  TestMachine m;
  FakeDriver& d = m.driver;
};

TEST_F(PageTest, AsksForWhatItIsConfiguredTo) {
  EXPECT_EQ(Asked(VCX_QUERY_PAGES_BOOT), kBoot);
  EXPECT_EQ(Asked(VCX_QUERY_PAGES_INIT), kBoot + kInit);
  EXPECT_EQ(Asked(VCX_QUERY_PAGES_REGULAR), 0u);
  d.Must(Give(1, kBoot));
  EXPECT_EQ(Asked(VCX_QUERY_PAGES_BOOT), 0u);
  EXPECT_EQ(Asked(VCX_QUERY_PAGES_INIT), kInit);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_QUERY_PAGES, 0, 0), VCX_REFUSED_OP_MOD);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_QUERY_PAGES, 1, 1), VCX_REFUSED_FUNCTION);
}

TEST_F(PageTest, InitNeedsThemAll) {
  d.Must(Give(1, kBoot + kInit - 1));
  EXPECT_EQ(d.RefusalOf(VCX_CMD_INIT_HCA), VCX_REFUSED_PAGES_OWED);
  d.Must(Give(100, 1));
  d.MustNumber(VCX_CMD_INIT_HCA);
}

TEST_F(PageTest, GivesBackExactlyWhatItGot) {
  d.Must(Give(1, kBoot));
  d.Must(Give(1000, kInit));
  EXPECT_EQ(m.Counter("objects_page"), kBoot + kInit);
  std::set<uint64_t> back;
  for (const uint32_t want : {3, 7, 100}) {
    const Reply reply = Take(want, want);
    ASSERT_TRUE(reply.ok());
    const uint32_t num = reply.As<vcx_manage_pages_out>().num_pages.get();
    for (uint32_t i = 0; i < num; ++i) back.insert(reply.ListAt(16, i));
  }
  std::set<uint64_t> given;
  for (uint64_t i = 0; i < kBoot; ++i) given.insert((1 + i) * 4096);
  for (uint64_t i = 0; i < kInit; ++i) given.insert((1000 + i) * 4096);
  EXPECT_EQ(back, given);
  EXPECT_EQ(Take(10, 10).As<vcx_manage_pages_out>().num_pages.get(), 0u);
  EXPECT_EQ(m.Counter("objects_page"), 0u);
}

TEST_F(PageTest, KeepsThemFromInitToTeardown) {
  d.Must(Give(1, kBoot + kInit));
  d.MustNumber(VCX_CMD_INIT_HCA);
  EXPECT_EQ(Take(1, 1).syndrome, VCX_REFUSED_PAGES_IN_USE);
  d.MustNumber(VCX_CMD_TEARDOWN_HCA);
  EXPECT_EQ(Take(100, 100).As<vcx_manage_pages_out>().num_pages.get(),
            kBoot + kInit);
}

TEST_F(PageTest, RefusesWhatItDoesNotUnderstandAndKeepsNothingOfIt) {
  EXPECT_EQ(d.Refusal(Give(1, kBoot + kInit + 1)), VCX_REFUSED_PAGES_UNASKED);

  auto misaligned = Give(1, 3);
  misaligned.list[2] += 8;
  EXPECT_EQ(d.Refusal(misaligned), VCX_REFUSED_PAGE_ALIGN);

  auto twice = Give(1, 3);
  twice.list[2] = twice.list[0];
  EXPECT_EQ(d.Refusal(twice), VCX_REFUSED_PAGE_TWICE);

  auto short_list = Give(1, 3);
  short_list.list.pop_back();
  EXPECT_EQ(d.Refusal(short_list), VCX_REFUSED_LIST_LENGTH);

  auto huge = Give(1, 3);
  huge.fixed.num_pages = 0xffffffffu;
  EXPECT_EQ(d.Refusal(huge), VCX_REFUSED_LIST_LENGTH);

  auto function = Give(1, 3);
  function.fixed.function_id = 1u;
  EXPECT_EQ(d.Refusal(function), VCX_REFUSED_FUNCTION);

  EXPECT_EQ(m.Counter("objects_page"), 0u);
  d.Must(Give(1, 3));
  EXPECT_EQ(d.Refusal(Give(3, 2)), VCX_REFUSED_PAGE_TWICE);
  EXPECT_EQ(m.Counter("objects_page"), 3u);
}

TEST_F(PageTest, TakesNothingWhenThereIsNoRoomToSayWhat) {
  d.Must(Give(1, 5));
  EXPECT_EQ(Take(5, 4).syndrome, VCX_REFUSED_OUT_LIST_LENGTH);
  EXPECT_EQ(m.Counter("objects_page"), 5u);
  // Room that is not needed is not asked for.
  EXPECT_TRUE(Take(1000, 5).ok());
}

TEST_F(PageTest, AcceptsThatADriverCannotGive) {
  auto in = MakeInput<vcx_manage_pages_in>(VCX_CMD_MANAGE_PAGES,
                                           VCX_MANAGE_PAGES_CANT_GIVE);
  in.fixed.num_pages = kBoot;
  d.Must(in);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_INIT_HCA), VCX_REFUSED_PAGES_OWED);
  in.fixed.hdr.op_mod = uint16_t{3};
  EXPECT_EQ(d.Refusal(in), VCX_REFUSED_OP_MOD);
}

TEST_F(PageTest, ForgetsThemWhenDisabledOrReset) {
  d.Must(Give(1, 5));
  d.MustNumber(VCX_CMD_DISABLE_HCA);
  EXPECT_EQ(m.Counter("objects_page"), 0u);
  d.MustNumber(VCX_CMD_ENABLE_HCA);
  d.Must(Give(1, 5));
  m.device.Reset(VCX_RESET_FUNCTION);
  EXPECT_EQ(m.Counter("objects_page"), 0u);
}

TEST(PageSupplyTest, IsOffByDefault) {
  TestMachine m;
  m.device.SetBusMaster(true);
  m.driver.port().Attach();
  m.driver.MustNumber(VCX_CMD_ENABLE_HCA);
  for (const uint16_t op_mod : {1, 2})
    EXPECT_EQ(m.driver.ExecuteNumber(VCX_CMD_QUERY_PAGES, 0, op_mod)
                  .As<vcx_query_pages_out>()
                  .num_pages.get(),
              0u);
  // A driver that gives nothing all the same is content.
  auto give = MakeInput<vcx_manage_pages_in>(VCX_CMD_MANAGE_PAGES,
                                             VCX_MANAGE_PAGES_GIVE);
  m.driver.Must(give);
  m.driver.MustNumber(VCX_CMD_INIT_HCA);
}

TEST(PageSupplyTest, ADriverThatStartsAndStopsGetsAllBack) {
  TestMachine m(ConfigWithPages());
  m.driver.Start();
  EXPECT_EQ(m.Counter("objects_page"), kBoot + kInit);
  m.driver.Stop();  // which checks the addresses
  EXPECT_EQ(m.Counter("objects_page"), 0u);
}

}  // namespace
}  // namespace vcx
