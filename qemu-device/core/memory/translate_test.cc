/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Keys: pages, bounds with 64-bit ends, rights, owners. And guest memory.
#include "memory/translate.h"

#include <gtest/gtest.h>

#include "memory/dma.h"
#include "resource/small.h"
#include "testing/fake_host.h"

namespace vcx {
namespace {

class TranslateTest : public ::testing::Test {
 protected:
  TranslateTest() {
    qp_.number = 7;
    qp_.pd = &pd_;
    mkey_ = mkeys_.Allocate();
    mkey_->variant = 0x5a;
    mkey_->pd = &pd_;
    mkey_->mode = VCX_MKC_MODE_MTT;
    mkey_->local_read = mkey_->remote_read = true;
    mkey_->start = 0x10'0800;  // in the middle of a page
    mkey_->length = 3 * 4096;
    mkey_->pages = {0x7000, 0x9000, 0xa000, 0x20000};
  }

  uint32_t key() const { return mkey_->number << 8 | mkey_->variant; }

  vcx_vendor_syndrome Translate(uint64_t va, uint32_t len,
                                Access access = Access::kLocalRead) {
    segments_.clear();
    return translator_.Translate(qp_, key(), va, len, access, &segments_);
  }

  Pd pd_, other_pd_;
  Qp qp_;
  Table<Mkey> mkeys_{1, 16};
  Mkey* mkey_ = nullptr;
  Translator translator_{mkeys_};
  SegmentList segments_;
};

TEST_F(TranslateTest, WalksPagesAndJoinsNeighbours) {
  ASSERT_EQ(Translate(0x10'0800, 3 * 4096), VCX_VENDOR_NONE);
  ASSERT_EQ(segments_.size(), 3u);
  EXPECT_EQ(segments_[0].addr, 0x7800u);
  EXPECT_EQ(segments_[0].len, 0x800u);
  EXPECT_EQ(segments_[1].addr, 0x9000u);  // 0x9000 and 0xa000 are one piece
  EXPECT_EQ(segments_[1].len, 0x2000u);
  EXPECT_EQ(segments_[2].addr, 0x20000u);
  EXPECT_EQ(segments_[2].len, 0x800u);
}

TEST_F(TranslateTest, BoundsHoldAtBothEnds) {
  EXPECT_EQ(Translate(0x10'07ff, 2), VCX_VENDOR_KEY_BOUNDS);
  EXPECT_EQ(Translate(0x10'0800 + 3 * 4096 - 1, 1), VCX_VENDOR_NONE);
  EXPECT_EQ(Translate(0x10'0800 + 3 * 4096 - 1, 2), VCX_VENDOR_KEY_BOUNDS);
  EXPECT_EQ(Translate(0, 1), VCX_VENDOR_KEY_BOUNDS);
  EXPECT_EQ(Translate(UINT64_MAX, 2), VCX_VENDOR_KEY_BOUNDS);
}

TEST_F(TranslateTest, ListShorterThanTheBoundsIsABoundsError) {
  mkey_->pages.resize(2);
  EXPECT_EQ(Translate(0x10'0800, 3 * 4096), VCX_VENDOR_KEY_BOUNDS);
}

TEST_F(TranslateTest, RangeAtTheEndOfTheAddressSpace) {
  mkey_->start = UINT64_MAX - 4095;
  mkey_->length = 4096;
  mkey_->pages = {0x7000};
  EXPECT_EQ(Translate(UINT64_MAX, 1), VCX_VENDOR_NONE);
  EXPECT_EQ(segments_[0].addr, 0x7fffu);
  EXPECT_EQ(Translate(UINT64_MAX, 2), VCX_VENDOR_KEY_BOUNDS);
}

TEST_F(TranslateTest, Length64IgnoresBoundsButDoesNotWrap) {
  mkey_->mode = VCX_MKC_MODE_PA;
  mkey_->length64 = true;
  EXPECT_EQ(Translate(0xdead'0000, 100), VCX_VENDOR_NONE);
  EXPECT_EQ(segments_[0].addr, 0xdead'0000u);
  EXPECT_EQ(Translate(UINT64_MAX, 1), VCX_VENDOR_NONE);
  EXPECT_EQ(Translate(UINT64_MAX, 2), VCX_VENDOR_KEY_BOUNDS);
}

TEST_F(TranslateTest, LargePages) {
  mkey_->log_page_bytes = 21;
  mkey_->start = 0x1234'5678;
  mkey_->length = 4 << 20;
  mkey_->pages = {0x4000'0000, 0x8000'0000, 0xc000'0000};
  ASSERT_EQ(Translate(0x1234'5678, 2 << 20), VCX_VENDOR_NONE);
  ASSERT_EQ(segments_.size(), 2u);
  EXPECT_EQ(segments_[0].addr, 0x4000'0000u + (0x1234'5678 & 0x1fffff));
  EXPECT_EQ(segments_[1].addr, 0x8000'0000u);
}

TEST_F(TranslateTest, RefusesWhatIsNotAllowed) {
  EXPECT_EQ(Translate(0x10'0800, 1, Access::kLocalWrite),
            VCX_VENDOR_KEY_RIGHTS);
  EXPECT_EQ(Translate(0x10'0800, 1, Access::kRemoteWrite),
            VCX_VENDOR_KEY_RIGHTS);
  EXPECT_EQ(Translate(0x10'0800, 1, Access::kRemoteRead), VCX_VENDOR_NONE);
  mkey_->qpn = 8;
  EXPECT_EQ(Translate(0x10'0800, 1), VCX_VENDOR_KEY_PD);
  mkey_->qpn = VCX_MKC_ANY_QP;
  mkey_->pd = &other_pd_;
  EXPECT_EQ(Translate(0x10'0800, 1), VCX_VENDOR_KEY_PD);
  mkey_->pd = &pd_;
  mkey_->free = true;
  EXPECT_EQ(Translate(0x10'0800, 1), VCX_VENDOR_KEY_FREE);
  mkey_->free = false;
  EXPECT_EQ(translator_.Check(qp_, key() ^ 1, 0x10'0800, 1, Access::kLocalRead),
            VCX_VENDOR_KEY_INVALID);
  EXPECT_EQ(translator_.Check(qp_, 0xffffff5a, 0, 1, Access::kLocalRead),
            VCX_VENDOR_KEY_INVALID);
}

TEST_F(TranslateTest, EmptyRangeNeedsNoKey) {
  EXPECT_EQ(translator_.Check(qp_, 0xffffffff, 0, 0, Access::kRemoteWrite),
            VCX_VENDOR_NONE);
}

class DmaTest : public ::testing::Test {
 protected:
  DmaTest() { dma_.set_enabled(true); }
  FakeHost host_;
  Dma dma_{host_};
};

// Through a mapping and, where there is none, through a bounce buffer.
TEST_F(DmaTest, CopiesBetweenUnevenPieces) {
  for (bool map_works : {true, false}) {
    host_.set_map_works(map_works);
    const uint64_t from = host_.Alloc(16384);
    const uint64_t to = host_.Alloc(16384);
    std::vector<uint8_t> data(10'000);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<uint8_t>(i * 7);
    host_.Write(from, data.data(), data.size());
    const SegmentList source = {
        {from, 1}, {from + 1, 4095}, {from + 4096, 5904}};
    const SegmentList target = {{to + 3, 7000}, {to + 8000, 3000}};
    ASSERT_TRUE(CopyToGuest(dma_, target, {nullptr, source, 10'000}));
    std::vector<uint8_t> got(7000);
    host_.Read(to + 3, got.data(), 7000);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), data.begin()));
    host_.Read(to + 8000, got.data(), 3000);
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + 3000, &data[7000]));
    EXPECT_EQ(host_.mapped, 0);
  }
}

TEST_F(DmaTest, TargetThatIsTooSmallIsAnError) {
  const uint64_t at = host_.Alloc(4096);
  const SegmentList target = {{at, 9}};
  const std::vector<uint8_t> data(10);
  EXPECT_FALSE(CopyToGuest(dma_, target, {data.data(), {}, 10}));
}

TEST_F(DmaTest, BusErrorsAreSeenOnBothSides) {
  const uint64_t at = host_.Alloc(8192);
  host_.FailDma(at, 1);
  const SegmentList bad = {{at, 16}}, good = {{at + 4096, 16}};
  EXPECT_FALSE(CopyToGuest(dma_, bad, {nullptr, good, 16}));
  EXPECT_FALSE(CopyToGuest(dma_, good, {nullptr, bad, 16}));
  uint8_t buf[16];
  EXPECT_FALSE(CopyToHost(dma_, buf, {nullptr, bad, 16}));
  EXPECT_EQ(host_.mapped, 0);
}

TEST_F(DmaTest, NothingMovesWithoutBusMastering) {
  const uint64_t at = host_.Alloc(4096);
  uint8_t byte = 1;
  dma_.set_enabled(false);
  EXPECT_FALSE(dma_.Read(at, &byte, 1));
  EXPECT_FALSE(dma_.Write(at, &byte, 1));
  size_t len = 1;
  EXPECT_EQ(dma_.Map(at, &len), nullptr);
}

TEST_F(DmaTest, GuestBufferStaysInItsPages) {
  const FakeBuffer memory = host_.AllocBuffer(8192, 12, 64);
  const GuestBuffer buffer(memory.pages, 12, 64);
  std::vector<uint8_t> data(8128, 0x3c);
  ASSERT_TRUE(buffer.Write(dma_, 0, data.data(), data.size()));
  std::vector<uint8_t> got(8128);
  ASSERT_TRUE(buffer.Read(dma_, 0, got.data(), got.size()));
  EXPECT_EQ(got, data);
  const uint64_t end = memory.pages.size() * 4096 - 64;
  EXPECT_TRUE(buffer.Read(dma_, end - 1, got.data(), 1));
  EXPECT_FALSE(buffer.Read(dma_, end - 1, got.data(), 2));
  EXPECT_FALSE(buffer.Read(dma_, end + 1, got.data(), 0));
  EXPECT_FALSE(GuestBuffer().Read(dma_, 0, got.data(), 1));
}

}  // namespace
}  // namespace vcx
