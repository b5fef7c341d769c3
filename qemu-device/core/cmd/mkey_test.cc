/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// CREATE_MKEY, QUERY_MKEY, DESTROY_MKEY.
#include "testing/command_test.h"

namespace vcx {
namespace {

class MkeyTest : public CommandTest {
 protected:
  vcx_query_mkey_out Query(uint32_t index) {
    const Reply reply = d.ExecuteNumber(VCX_CMD_QUERY_MKEY, index, 0,
                                        sizeof(vcx_query_mkey_out));
    EXPECT_TRUE(reply.ok());
    return reply.As<vcx_query_mkey_out>();
  }
  template <class Spoil>
  uint32_t RefusalAfter(Spoil spoil, MrOptions options = {}) {
    auto in = d.MrInput(d.PrepareMr(options));
    spoil(in);
    const uint64_t before = m.Counter("objects_mkey");
    const uint32_t refusal = d.Refusal(in);
    EXPECT_EQ(m.Counter("objects_mkey"), before);
    return refusal;
  }
  static void SetList(Input<vcx_create_mkey_in>& in, size_t addresses) {
    in.list.resize(addresses);
    in.fixed.translations_octwords = static_cast<uint32_t>(addresses / 2);
  }
  static void SetRange(Input<vcx_create_mkey_in>& in, uint64_t start,
                       uint64_t length) {
    VCX_SET64(&in.fixed.mkc, VCX_MKC_START_ADDR, start);
    VCX_SET64(&in.fixed.mkc, VCX_MKC_LEN, length);
  }
};

TEST_F(MkeyTest, ReportsWhatItWasMadeWith) {
  FakeMr mr = d.NewMr({.bytes = 10000, .va = 0x7000'0000'0123});
  const vcx_query_mkey_out out = Query(mr.index);
  EXPECT_EQ(VCX_GET64(&out.mkc, VCX_MKC_START_ADDR), 0x7000'0000'0123u);
  EXPECT_EQ(VCX_GET64(&out.mkc, VCX_MKC_LEN), 10000u);
  EXPECT_EQ(VCX_GET(&out.mkc, VCX_MKC_KEY_7_0), mr.options.variant);
  EXPECT_EQ(VCX_GET(&out.mkc, VCX_MKC_PD), d.pd());
  vcx_be64 pages[4];
  memcpy(pages, out.translations, sizeof(pages));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(pages[i].get(), mr.buffer.pages[i]);
  EXPECT_EQ(pages[3].get(), 0u);
}

TEST_F(MkeyTest, NeverHasTheKeyThatEndsAReceiveList) {
  for (int i = 0; i < 50; ++i) {
    const FakeMr mr = d.NewMr({.variant = 0});
    EXPECT_GT(mr.key(), 0x100u);
  }
}

TEST_F(MkeyTest, AcceptsAnyPageSizeFrom4KiBTo2GiB) {
  for (const uint8_t log_page : {12, 13, 16, 21, 30, 31}) {
    auto in = d.MrInput(d.PrepareMr());
    // Begins in the middle of a page and ends in the one after the next.
    const uint64_t page = uint64_t{1} << log_page;
    SetRange(in, 5 * page + page / 2, page + page / 2 + 1);
    VCX_SET(&in.fixed.mkc, VCX_MKC_LOG_PAGE_SIZE, log_page);
    SetList(in, 4);
    in.list = {page, 3 * page, 5 * page, 0};
    d.Must(in);
    SetList(in, 2);
    EXPECT_EQ(d.Refusal(in), VCX_REFUSED_MKEY_PAGES) << int{log_page};
  }
}

TEST_F(MkeyTest, MasksTheFlagsInTheLowBitsOfAddresses) {
  FakeMr mr = d.PrepareMr({.bytes = 8192});
  for (const bool pg_access : {false, true}) {
    auto in = d.MrInput(mr);
    for (uint64_t& page : in.list) page |= 3;
    if (pg_access) in.fixed.flags = VCX_CREATE_MKEY_PG_ACCESS;
    const vcx_query_mkey_out out = Query(d.Must(in));
    vcx_be64 first;
    memcpy(&first, out.translations, sizeof(first));
    EXPECT_EQ(first.get(), mr.buffer.pages[0]);
  }
}

TEST_F(MkeyTest, AcceptsPhysicalAddressesWithAndWithoutBounds) {
  d.Must(d.PhysicalInput());
  auto bounded = d.PhysicalInput();
  VCX_SET(&bounded.fixed.mkc, VCX_MKC_LENGTH64, 0);
  SetRange(bounded, 0x1000, 0x1000);
  d.Must(bounded);
}

TEST_F(MkeyTest, AcceptsAFreeKeyWithoutTranslations) {
  auto in = d.MrInput(d.PrepareMr({.bytes = 1 << 20}));
  VCX_SET(&in.fixed.mkc, VCX_MKC_FREE, 1);
  VCX_SET(&in.fixed.mkc, VCX_MKC_UMR_EN, 1);
  SetList(in, 0);
  d.Must(in);
}

TEST_F(MkeyTest, MayEndAtTheTopOfTheAddressSpaceButNotBeyond) {
  auto in = d.PhysicalInput();
  VCX_SET(&in.fixed.mkc, VCX_MKC_LENGTH64, 0);
  SetRange(in, 0xffff'ffff'ffff'f000, 0x1000);
  d.Must(in);
  SetRange(in, 0xffff'ffff'ffff'f000, 0x1001);
  EXPECT_EQ(d.Refusal(in), VCX_REFUSED_MKEY_BOUNDS);
  SetRange(in, 1, 0xffff'ffff'ffff'ffff);
  d.Must(in);
  SetRange(in, 2, 0xffff'ffff'ffff'ffff);
  EXPECT_EQ(d.Refusal(in), VCX_REFUSED_MKEY_BOUNDS);

  // The same in a page list: the last page of all is one page.
  auto list = d.MrInput(d.PrepareMr());
  SetRange(list, 0xffff'ffff'ffff'f800, 0x800);
  SetList(list, 2);
  d.Must(list);
}

TEST_F(MkeyTest, RefusesWhatItCannotBe) {
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.mkc, VCX_MKC_ACCESS_MODE, VCX_MKC_MODE_KLM);
            }),
            VCX_REFUSED_MKEY_MODE);
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.mkc, VCX_MKC_ACCESS_MODE_4_2, 1);
            }),
            VCX_REFUSED_MKEY_MODE);
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { VCX_SET(&in.fixed.mkc, VCX_MKC_LENGTH64, 1); }),
            VCX_REFUSED_MKEY_LENGTH64);
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.mkc, VCX_MKC_LOG_PAGE_SIZE, 11);
            }),
            VCX_REFUSED_MKEY_PAGE_SIZE);
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { VCX_SET(&in.fixed.mkc, VCX_MKC_PD, 0xffffff); }),
            VCX_REFUSED_PD_NUMBER);
  EXPECT_EQ(RefusalAfter([](auto& in) { in.list[0] |= 0x800; }),
            VCX_REFUSED_MKEY_PAGE_ALIGN);
}

TEST_F(MkeyTest, RefusesListsThatLie) {
  // A count that the input does not hold,
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { in.fixed.translations_octwords = 0xffffffffu; }),
            VCX_REFUSED_LIST_LENGTH);
  // one that is enough for fewer pages than the range has,
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET64(&in.fixed.mkc, VCX_MKC_LEN, 100 * 4096);
            }),
            VCX_REFUSED_MKEY_PAGES);
  // and a range that no list could cover.
  EXPECT_EQ(
      RefusalAfter([](auto& in) { SetRange(in, 0, 0xffff'ffff'ffff'ffff); }),
      VCX_REFUSED_MKEY_LIST);
}

TEST_F(MkeyTest, TakesTheLongestListThatIsAllowedAndNoLonger) {
  constexpr size_t kMax = 1u << 22;
  auto in = d.MrInput(d.PrepareMr());
  SetRange(in, 0, uint64_t{kMax} * 4096);
  SetList(in, kMax);
  d.Must(in);
  SetRange(in, 0, uint64_t{kMax} * 4096 + 1);
  EXPECT_EQ(d.Refusal(in), VCX_REFUSED_MKEY_LIST);
}

TEST_F(MkeyTest, TakesTheIndexThatIsAskedForIfItIsFree) {
  const FakeMr mr = d.NewMr({.bytes = 8192, .variant = 3});
  auto again = d.MrInput(d.PrepareMr({.bytes = 4096, .variant = 3}));
  again.fixed.input_index = mr.index;
  EXPECT_EQ(d.Refusal(again), VCX_REFUSED_MKEY_INPUT_INDEX);
  d.MustNumber(VCX_CMD_DESTROY_MKEY, mr.index);
  EXPECT_EQ(d.Must(again), mr.index);
  const vcx_query_mkey_out out = Query(mr.index);
  EXPECT_EQ(VCX_GET64(&out.mkc, VCX_MKC_LEN), 4096u);

  // It is not given to anybody else, and comes back as often as one likes.
  EXPECT_NE(d.NewMr().index, mr.index);
  for (int i = 0; i < 3000; ++i) {
    d.MustNumber(VCX_CMD_DESTROY_MKEY, mr.index);
    ASSERT_EQ(d.Must(again), mr.index);
  }
  // What has never been in use cannot be asked for.
  for (const uint32_t index : {1u, 0x1000u, 0xffffffu}) {
    again.fixed.input_index = index;
    EXPECT_EQ(d.Refusal(again), VCX_REFUSED_MKEY_INPUT_INDEX) << index;
  }
}

TEST_F(MkeyTest, KeepsItsPd) {
  const uint32_t pd = d.MustNumber(VCX_CMD_ALLOC_PD);
  const FakeMr mr = d.NewMr({.pd = pd});
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DEALLOC_PD, pd), VCX_REFUSED_PD_IN_USE);
  d.MustNumber(VCX_CMD_DESTROY_MKEY, mr.index);
  d.MustNumber(VCX_CMD_DEALLOC_PD, pd);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DESTROY_MKEY, mr.index),
            VCX_REFUSED_MKEY_NUMBER);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_QUERY_MKEY, mr.index, 0, 0x130),
            VCX_REFUSED_MKEY_NUMBER);
}

TEST(MkeyTableTest, FillsToTheBrimAndEmpties) {
  vcx_core_config config = TestConfig();
  config.max_mr = 64;
  TestMachine m(config);
  m.driver.Start();
  std::vector<uint32_t> indices;
  for (int i = 0; i < 64; ++i)
    indices.push_back(m.driver.Must(m.driver.PhysicalInput()));
  EXPECT_EQ(m.driver.Refusal(m.driver.PhysicalInput()),
            VCX_REFUSED_MKEY_NONE_LEFT);
  for (const uint32_t i : indices) m.driver.MustNumber(VCX_CMD_DESTROY_MKEY, i);
  EXPECT_EQ(m.Counter("objects_mkey"), 0u);
}

}  // namespace
}  // namespace vcx
