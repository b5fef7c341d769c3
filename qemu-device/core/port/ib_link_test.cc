/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Frames with lies in them: each is dropped, and counted under its reason.
#include "port/ib_link.h"

#include <functional>
#include <utility>

#include "testing/traffic_test.h"
#include "wire/crc.h"
#include "wire/headers.h"

namespace vcx {
namespace {

constexpr size_t kEth = 14;
constexpr size_t kBth = kEth + kLrhBytes;

// Makes both CRCs right again after a change.
void Seal(Frame& frame) {
  uint8_t* lrh = &frame[kEth];
  const size_t bytes = frame.size() - kEth - kVcrcBytes;
  const uint32_t icrc = InvariantCrc(lrh, bytes - kIcrcBytes, false);
  for (size_t i = 0; i < kIcrcBytes; ++i)
    lrh[bytes - kIcrcBytes + i] = static_cast<uint8_t>(icrc >> (8 * i));
  const uint16_t vcrc = VariantCrc(lrh, bytes);
  lrh[bytes] = static_cast<uint8_t>(vcrc);
  lrh[bytes + 1] = static_cast<uint8_t>(vcrc >> 8);
}

struct LieCase {
  const char* name;
  const char* counter;
  bool seal;
  std::function<void(Frame&)> lie;
};

class LieTest : public TrafficTest,
                public ::testing::WithParamInterface<LieCase> {};

TEST_P(LieTest, IsDroppedAndCounted) {
  const LieCase& c = GetParam();
  ConnectPair();
  pair_.OnFrame([&](Frame& frame, bool from_a) {
    if (!from_a) return WireAction::kDeliver;
    c.lie(frame);
    if (c.seal) Seal(frame);
    return WireAction::kDeliver;
  });
  local_.driver().Poke(local_.mr, 0, Pattern(64));
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 61));
  pair_.Settle();
  EXPECT_EQ(pair_.b.Counter(c.counter), 1u);
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, 64), std::vector<uint8_t>(64));
  EXPECT_EQ(RemoteState(), VCX_QP_STATE_RTS);
}

const LieCase kLies[] = {
    {"OtherProtocol", "drop_not_ours", false, [](Frame& f) { f[13] = 0; }},
    {"NoLrh", "drop_truncated", false, [](Frame& f) { f.resize(kEth + 7); }},
    {"CutShort", "drop_truncated", false, [](Frame& f) { f.resize(40); }},
    {"Empty", "drop_truncated", false, [](Frame& f) { f.clear(); }},
    {"LengthTooLarge", "drop_truncated", false,
     [](Frame& f) { f[kEth + 4] = 7; }},
    {"LengthTooSmall", "drop_length", false,
     [](Frame& f) { f[kEth + 4] = 0, f[kEth + 5] = 5; }},
    {"LinkVersion", "drop_header", false, [](Frame& f) { f[kEth] |= 1; }},
    {"NextHeaderRaw", "drop_header", false,
     [](Frame& f) { f[kEth + 1] &= 0xfc; }},
    {"Vcrc", "drop_vcrc", false, [](Frame& f) { f.back() ^= 1; }},
    {"BitErrorInPayload", "drop_vcrc", false, [](Frame& f) { f[70] ^= 4; }},
    {"OtherLid", "drop_lid", true, [](Frame& f) { f[kEth + 3] ^= 1; }},
    {"OtherSource", "drop_source", true, [](Frame& f) { f[kEth + 7] ^= 1; }},
    {"ReservedOpcode", "drop_header", true, [](Frame& f) { f[kBth] = 0x1f; }},
    {"OtherService", "drop_header", true, [](Frame& f) { f[kBth] = 0x64; }},
    {"TransportVersion", "drop_header", true,
     [](Frame& f) { f[kBth + 1] |= 1; }},
    {"OtherPkey", "drop_pkey", true, [](Frame& f) { f[kBth + 2] ^= 1; }},
    {"NoSuchQp", "drop_no_qp", true, [](Frame& f) { f[kBth + 6] ^= 0x70; }},
    {"AckOfNothing", "drop_ghost", true, [](Frame& f) { f[kBth] = kRcAck; }},
};
INSTANTIATE_TEST_SUITE_P(All, LieTest, ::testing::ValuesIn(kLies),
                         [](const auto& info) { return info.param.name; });

class IbLinkTest : public TrafficTest {};

TEST_F(IbLinkTest, IcrcIsCheckedBehindAGoodVcrc) {
  ConnectPair();
  pair_.OnFrame([&](Frame& frame, bool from_a) {
    if (!from_a) return WireAction::kDeliver;
    frame[70] ^= 1;
    uint8_t* lrh = &frame[kEth];
    const size_t bytes = frame.size() - kEth - kVcrcBytes;
    const uint16_t vcrc = VariantCrc(lrh, bytes);
    lrh[bytes] = static_cast<uint8_t>(vcrc);
    lrh[bytes + 1] = static_cast<uint8_t>(vcrc >> 8);
    return WireAction::kDeliver;
  });
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  EXPECT_EQ(pair_.b.Counter("drop_icrc"), 1u);
}

// Ethernet pads short frames; what is behind the packet is not looked at.
TEST_F(IbLinkTest, PaddingBehindThePacketIsIgnored) {
  ConnectPair();
  pair_.OnFrame([](Frame& frame, bool) {
    frame.resize(frame.size() + 20, 0xee);
    return WireAction::kDeliver;
  });
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 1));
  pair_.Settle();
  EXPECT_THAT(Sent(), ::testing::ElementsAre(SendIs(VCX_WQE_RDMA_WRITE)));
}

TEST_F(IbLinkTest, PulledCableLosesFramesBothWays) {
  ConnectPair();
  pair_.a.device.SetLink(false);
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 1));
  pair_.Settle();
  EXPECT_EQ(pair_.carried(), 0u);
  EXPECT_EQ(pair_.a.Counter("unroutable"), 1u);
  const auto eqe = local_.driver().NextEvent(local_.driver().async_eq());
  ASSERT_TRUE(eqe.has_value());
  EXPECT_EQ(eqe->type, VCX_EVENT_PORT_CHANGE);
  EXPECT_EQ(eqe->sub_type, VCX_PORT_EVENT_DOWN);
}

TEST_F(IbLinkTest, FramesThatArriveTogetherShareAnAcknowledgement) {
  ConnectPair();
  for (int i = 0; i < 3; ++i)
    local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 8));
  pair_.a.Settle();
  for (const Frame& frame : std::exchange(pair_.a.host.frames, {}))
    pair_.b.device.Receive(frame.data(), frame.size(), true);
  EXPECT_EQ(pair_.b.Counter("acks_sent"), 0u);
  pair_.Settle();
  EXPECT_EQ(pair_.b.Counter("acks_sent"), 1u);
  EXPECT_EQ(Sent().size(), 3u);
}

TEST_F(IbLinkTest, EveryPacketCarriesBothChecksums) {
  ConnectPair();
  uint64_t checked = 0;
  pair_.OnFrame([&](Frame& frame, bool) {
    Frame sealed = frame;
    Seal(sealed);
    EXPECT_EQ(sealed, frame);
    ++checked;
    return WireAction::kDeliver;
  });
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_READ, 10'001));
  pair_.Settle();
  EXPECT_EQ(checked, 4u);
}

}  // namespace
}  // namespace vcx
