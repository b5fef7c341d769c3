/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Packets of several MTUs: who gets them, what they do to PSNs, what loss,
// doubling and delay of them does, and lies in them.
#include <algorithm>

#include "testing/traffic_test.h"
#include "wire/large.h"

namespace vcx {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kEth = 14;
constexpr size_t kLrh = kEth + kLargeHeaderBytes;
constexpr uint32_t kMtu = 1024;
constexpr uint8_t kMtuCode = 3;

bool IsLarge(const Frame& frame) {
  return frame[12] == 0x88 && frame[13] == 0xb6;
}

// Makes the checksum right again after a change.
void Seal(Frame& frame) {
  const size_t bytes = frame.size() - kEth - kOfferBytes - kLargeCrcBytes;
  const uint32_t crc = LargeCrc(&frame[kEth], bytes);
  for (size_t i = 0; i < kLargeCrcBytes; ++i)
    frame[kEth + bytes + i] = static_cast<uint8_t>(crc >> (8 * i));
}

vcx_core_config Config(uint64_t guid, uint32_t max_payload) {
  vcx_core_config config = TwoDevices::WireConfig(guid);
  config.max_payload_bytes = max_payload;
  return config;
}

// TrafficTest with two devices that were configured for it.
class LargePacketTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kMrBytes = 256 * 1024;
  static constexpr uint64_t kMs = 1'000'000;

  explicit LargePacketTest(uint32_t a = 61440, uint32_t b = 61440)
      : pair_(Config(TwoDevices::kGuidA, a), Config(TwoDevices::kGuidB, b)) {}

  void SetUp() override {
    for (auto [machine, side] :
         {std::pair{&pair_.a, &local_}, std::pair{&pair_.b, &remote_}}) {
      side->machine = machine;
      side->send_cq = machine->driver.NewCq();
      side->recv_cq = machine->driver.NewCq();
      side->mr = machine->driver.NewMr({.bytes = kMrBytes});
      side->qp = machine->driver.NewQp(
          {.send_cqn = side->send_cq.number, .recv_cqn = side->recv_cq.number});
    }
  }

  void ConnectPair(Connection connection = {}) {
    connection.mtu_code = kMtuCode;
    Connect(local_.driver(), local_.qp, remote_.driver(), remote_.qp,
            connection);
  }

  SendWr Wr(uint8_t opcode, uint32_t bytes, uint64_t at = 0) {
    SendWr wr{.opcode = opcode, .imm = 0x1234'5678};
    wr.sges = {local_.mr.At(at, bytes)};
    wr.remote_va = remote_.mr.options.va + at;
    wr.rkey = remote_.mr.key();
    return wr;
  }

  void Post(uint8_t opcode, uint32_t bytes, uint64_t at = 0) {
    if (opcode == VCX_WQE_SEND)
      remote_.driver().PostRecv(remote_.qp, {remote_.mr.At(at, bytes)});
    local_.driver().PostSend(local_.qp, Wr(opcode, bytes, at));
  }

  // Both sides know what the other takes.
  void Meet() {
    Post(VCX_WQE_RDMA_READ, 1);
    local_.driver().RingSend(local_.qp);
    pair_.Settle();
    EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_READ)));
  }

  // Payload bytes of all frames that come, in order.
  void Record() {
    pair_.OnFrame([this](Frame& frame, bool) {
      frames_.push_back(frame);
      return WireAction::kDeliver;
    });
  }

  size_t LargeFrames() const {
    return static_cast<size_t>(std::ranges::count_if(frames_, IsLarge));
  }

  std::vector<WorkCompletion> Sent() {
    return local_.driver().PollAll(local_.send_cq);
  }

  // Moves bytes by the operation and compares them.
  void MoveAndCompare(uint8_t opcode, uint32_t bytes) {
    const bool read = opcode == VCX_WQE_RDMA_READ;
    Side& source = read ? remote_ : local_;
    Side& target = read ? local_ : remote_;
    source.driver().Poke(source.mr, 0, Pattern(bytes, 7));
    Post(opcode, bytes);
    local_.driver().RingSend(local_.qp);
    pair_.Settle();
    pair_.Advance(3000 * kMs);
    EXPECT_EQ(target.driver().Peek(target.mr, 0, bytes), Pattern(bytes, 7));
    EXPECT_THAT(Sent(), ElementsAre(SendIs(opcode)));
  }

  TwoDevices pair_;
  Side local_, remote_;
  std::vector<Frame> frames_;
};

TEST_F(LargePacketTest, FirstMessageGoesInSingleMtus) {
  ConnectPair();
  Record();
  MoveAndCompare(VCX_WQE_RDMA_WRITE, 10 * kMtu);
  EXPECT_EQ(LargeFrames(), 0u);
}

TEST_F(LargePacketTest, AllThatFitsIsOnePacket) {
  ConnectPair();
  Meet();
  Record();
  MoveAndCompare(VCX_WQE_RDMA_WRITE, 10 * kMtu + 3);
  EXPECT_EQ(LargeFrames(), 1u);
  EXPECT_EQ(frames_.size(), 2u);  // and the acknowledgement
}

TEST_F(LargePacketTest, EveryOperationUsesThem) {
  ConnectPair();
  Meet();
  for (uint8_t opcode : {VCX_WQE_SEND, VCX_WQE_RDMA_WRITE, VCX_WQE_RDMA_READ})
    for (uint32_t bytes : {kMtu + 1, 60 * kMtu, 60 * kMtu + 1, 121 * kMtu}) {
      frames_.clear();
      Record();
      MoveAndCompare(opcode, bytes);
      // The last of 60 * kMtu + 1 is a single MTU.
      EXPECT_EQ(LargeFrames(), bytes <= 60 * kMtu + 1 ? 1u : 2u)
          << int{opcode} << ' ' << bytes;
    }
}

TEST_F(LargePacketTest, SingleMtuKeepsTheFrameOfTheSpecification) {
  ConnectPair();
  Meet();
  Record();
  MoveAndCompare(VCX_WQE_RDMA_WRITE, kMtu);
  EXPECT_EQ(LargeFrames(), 0u);
}

TEST_F(LargePacketTest, AGrhIsCarriedToo) {
  Connection a{.remote_qpn = remote_.qp.number,
               .dlid = remote_.driver().lid(),
               .mtu_code = kMtuCode,
               .dgid_guid = TwoDevices::kGuidB};
  Connection b{.remote_qpn = local_.qp.number,
               .dlid = local_.driver().lid(),
               .mtu_code = kMtuCode,
               .dgid_guid = TwoDevices::kGuidA};
  for (auto [side, connection] :
       {std::pair{&local_, a}, std::pair{&remote_, b}}) {
    side->driver().ToInit(side->qp);
    side->driver().ToRtr(side->qp, connection);
    side->driver().ToRts(side->qp, connection);
  }
  Meet();
  Record();
  MoveAndCompare(VCX_WQE_RDMA_WRITE, 60 * kMtu);
  EXPECT_EQ(LargeFrames(), 1u);
}

// Twice as many single packets afterwards, so that a PSN that was counted wrong
// is noticed.
TEST_F(LargePacketTest, CountsPsnsInMtus) {
  ConnectPair();
  Meet();
  MoveAndCompare(VCX_WQE_RDMA_WRITE, 100 * kMtu);
  MoveAndCompare(VCX_WQE_RDMA_READ, 100 * kMtu);
  // The last acknowledgement or response tells the PSN; Connect() begins with
  // 0xfffffe.
  Record();
  MoveAndCompare(VCX_WQE_RDMA_WRITE, kMtu);
  const Frame& request = frames_.front();
  EXPECT_EQ(request[kEth + 8 + 10] << 8 | request[kEth + 8 + 11],
            (0xfffffe + 1 + 200) & 0xffff);
}

class OneSideLargeTest : public LargePacketTest {
 protected:
  OneSideLargeTest() : LargePacketTest(61440, 4096) {}
};

TEST_F(OneSideLargeTest, APeerThatOffersNothingGetsSingleMtus) {
  ConnectPair();
  Meet();
  Record();
  MoveAndCompare(VCX_WQE_RDMA_WRITE, 20 * kMtu);
  MoveAndCompare(VCX_WQE_RDMA_READ, 20 * kMtu);
  EXPECT_EQ(LargeFrames(), 0u);
}

class TwoSizesTest : public LargePacketTest {
 protected:
  TwoSizesTest() : LargePacketTest(61440, 8192) {}
};

TEST_F(TwoSizesTest, TheSmallerLimitHolds) {
  ConnectPair();
  Meet();
  Record();
  MoveAndCompare(VCX_WQE_RDMA_WRITE, 24 * kMtu);
  EXPECT_EQ(LargeFrames(), 3u);
}

// ---- Loss
// -------------------------------------------------------------------

struct DisturbLargeCase {
  uint8_t opcode;
  uint32_t frame;
  WireAction action;
};

class DisturbLargeTest
    : public LargePacketTest,
      public ::testing::WithParamInterface<DisturbLargeCase> {};

TEST_P(DisturbLargeTest, DataIsWholeAndCompletionsAreInOrder) {
  const DisturbLargeCase& c = GetParam();
  ConnectPair({.retry_count = 7});
  Meet();
  constexpr uint32_t kBytes = 125 * kMtu + 5;  // two large, one more
  const bool read = c.opcode == VCX_WQE_RDMA_READ;
  const std::vector<uint8_t> data = Pattern(2 * kBytes);
  Side& source = read ? remote_ : local_;
  Side& target = read ? local_ : remote_;
  source.driver().Poke(source.mr, 0, data);
  pair_.OnFrame([&, n = 0u](Frame&, bool) mutable {
    return n++ == c.frame ? c.action : WireAction::kDeliver;
  });
  for (uint32_t i = 0; i < 2; ++i) Post(c.opcode, kBytes, i * kBytes);
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  if (c.action == WireAction::kHold) pair_.ReleaseHeld();
  pair_.Advance(3000 * kMs);

  EXPECT_EQ(target.driver().Peek(target.mr, 0, data.size()), data);
  EXPECT_THAT(Sent(), ElementsAre(SendIs(c.opcode), SendIs(c.opcode)));
  EXPECT_EQ(local_.driver().State(local_.qp), VCX_QP_STATE_RTS);
  EXPECT_EQ(remote_.driver().State(remote_.qp), VCX_QP_STATE_RTS);
}

std::vector<DisturbLargeCase> AllDisturbances() {
  std::vector<DisturbLargeCase> cases;
  for (uint8_t opcode : {VCX_WQE_SEND, VCX_WQE_RDMA_WRITE, VCX_WQE_RDMA_READ})
    for (WireAction action :
         {WireAction::kDrop, WireAction::kDuplicate, WireAction::kHold})
      for (uint32_t frame = 0; frame < 9; ++frame)
        cases.push_back({opcode, frame, action});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, DisturbLargeTest,
                         ::testing::ValuesIn(AllDisturbances()));

// Something between the two carries no long frames: slow, but it goes.
TEST_F(LargePacketTest, AWireThatLosesAllLargeFramesIsBearable) {
  ConnectPair({.retry_count = 7});
  Meet();
  pair_.OnFrame([](Frame& frame, bool) {
    return IsLarge(frame) ? WireAction::kDrop : WireAction::kDeliver;
  });
  for (uint8_t opcode : {VCX_WQE_RDMA_WRITE, VCX_WQE_RDMA_READ})
    MoveAndCompare(opcode, 60 * kMtu);
}

// A large packet that begins before what the responder expects and ends behind
// it: its PSN is changed on the way.
TEST_F(LargePacketTest, APacketThatOverlapsIsAnsweredWithWhereToGoOn) {
  ConnectPair({.retry_count = 7});
  Meet();
  local_.driver().Poke(local_.mr, 0, Pattern(8 * kMtu));
  pair_.OnFrame([&](Frame& frame, bool) {
    if (!IsLarge(frame)) {
      frames_.push_back(frame);
      return WireAction::kDeliver;
    }
    Frame early = frame;
    early[kLrh + 8 + 8] &= 0x7f;  // no acknowledgement asked for
    early[kLrh + 8 + 11] = static_cast<uint8_t>(early[kLrh + 8 + 11] - 3);
    Seal(early);
    frame = early;
    return WireAction::kDeliver;
  });
  Post(VCX_WQE_RDMA_WRITE, 8 * kMtu);
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  EXPECT_EQ(pair_.b.Counter("duplicate_requests"), 1u);
  EXPECT_EQ(frames_.size(), 1u);
}

// ---- Lies
// ---------------------------------------------------------------------

struct LargeLie {
  const char* name;
  const char* counter;
  bool seal;
  void (*lie)(Frame&);
};

class LargeLieTest : public LargePacketTest,
                     public ::testing::WithParamInterface<LargeLie> {};

TEST_P(LargeLieTest, IsDroppedAndCounted) {
  const LargeLie& c = GetParam();
  ConnectPair();
  Meet();
  pair_.OnFrame([&](Frame& frame, bool) {
    if (!IsLarge(frame)) return WireAction::kDeliver;
    c.lie(frame);
    if (c.seal) Seal(frame);
    return WireAction::kDeliver;
  });
  local_.driver().Poke(local_.mr, 0, Pattern(5 * kMtu));
  Post(VCX_WQE_RDMA_WRITE, 5 * kMtu);
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  EXPECT_EQ(pair_.b.Counter(c.counter), 1u);
  EXPECT_THAT(remote_.driver().Peek(remote_.mr, 0, 5 * kMtu), Each(0));
  EXPECT_EQ(remote_.driver().State(remote_.qp), VCX_QP_STATE_RTS);
}

const LargeLie kLies[] = {
    {"Empty", "drop_header", false, [](Frame& f) { f.resize(kEth); }},
    {"Version", "drop_header", true, [](Frame& f) { f[kEth] = 2; }},
    {"LongerThanTheFrame", "drop_truncated", false,
     [](Frame& f) { f[kEth + 5] = 1; }},
    {"HugeLength", "drop_truncated", false,
     [](Frame& f) { f[kEth + 4] = 0xff; }},
    {"ShorterThanHeaders", "drop_length", false,
     [](Frame& f) { f[kEth + 6] = 0, f[kEth + 7] = 9; }},
    {"CutShort", "drop_truncated", false, [](Frame& f) { f.resize(3000); }},
    {"BitErrorInPayload", "drop_icrc", false, [](Frame& f) { f[2000] ^= 4; }},
    {"BitErrorInHeader", "drop_icrc", false, [](Frame& f) { f[kLrh] ^= 0x80; }},
    {"OtherLid", "drop_lid", true, [](Frame& f) { f[kLrh + 3] ^= 1; }},
    {"LinkVersion", "drop_header", true, [](Frame& f) { f[kLrh] |= 1; }},
    {"OtherPkey", "drop_pkey", true, [](Frame& f) { f[kLrh + 8 + 2] ^= 1; }},
    {"OnePsn", "drop_header", true,
     [](Frame& f) { f[kEth + 2] = 0, f[kEth + 3] = 1; }},
    {"TooFewPsns", "drop_path_mtu", true, [](Frame& f) { f[kEth + 3] = 4; }},
    {"TooManyPsns", "drop_path_mtu", true, [](Frame& f) { f[kEth + 3] = 6; }},
    {"MostPsns", "drop_path_mtu", true,
     [](Frame& f) { f[kEth + 2] = f[kEth + 3] = 0xff; }},
};
INSTANTIATE_TEST_SUITE_P(All, LargeLieTest, ::testing::ValuesIn(kLies),
                         [](const auto& info) { return info.param.name; });

TEST(OfferTest, IsReadOnlyWhole) {
  uint8_t offer[kOfferBytes];
  PutOffer(offer, 61440);
  EXPECT_EQ(GetOffer(offer), 61440u);
  EXPECT_EQ(GetOffer({offer, 3}), 0u);
  for (uint8_t& byte : offer) {
    byte ^= 0x10;
    EXPECT_EQ(GetOffer(offer), 0u);
    byte ^= 0x10;
  }
}

}  // namespace
}  // namespace vcx
