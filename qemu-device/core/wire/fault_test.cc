/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// A faulty wire over a wire that remembers, and then between two devices.
#include "wire/fault.h"

#include <memory>

#include "testing/traffic_test.h"

namespace vcx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Packets are told apart by their PSN.
class WireLog final : public Wire {
 public:
  uint32_t MaxPayload(uint32_t mtu) const override { return 16 * mtu; }
  SendResult Send(const Packet& packet) override {
    if (result != SendResult::kSent) return result;
    psns.push_back(packet.psn.value());
    bytes.emplace_back(packet.payload.bytes,
                       packet.payload.bytes + packet.payload.length);
    if (--room == 0) result = SendResult::kBusy;
    return SendResult::kSent;
  }
  SendResult SendDamaged(const Packet& packet, uint64_t where) override {
    if (result != SendResult::kSent) return result;
    damaged.push_back(packet.psn.value());
    places.push_back(where);
    return SendResult::kSent;
  }

  SendResult result = SendResult::kSent;
  int room = -1;  // busy when it comes to zero
  std::vector<uint32_t> psns, damaged;
  std::vector<uint64_t> places;
  std::vector<std::vector<uint8_t>> bytes;
};

class FaultWireTest : public ::testing::Test {
 protected:
  void SetUp() override { dma_.set_enabled(true); }

  FaultWire& Make(const char* text,
                  FaultWire::Below below = FaultWire::Below::kQueues) {
    EXPECT_TRUE(ParseFaultPlan(text, &plan_, nullptr, 0));
    wire_ = std::make_unique<FaultWire>(
        log_, below, plan_,
        FaultWire::Needs{host_, dma_, timers_, counters_, trace_});
    return *wire_;
  }

  SendResult SendOne(uint32_t psn, uint8_t opcode = kRcWriteOnly) {
    Packet packet;
    packet.psn = Psn(psn);
    packet.opcode = opcode;
    payload_ = {static_cast<uint8_t>(psn), 0x55};
    packet.payload = {.bytes = payload_.data(), .segments = {}, .length = 2};
    const SendResult sent = wire_->Send(packet);
    payload_ = {};  // references end with the call
    return sent;
  }
  void Send(uint32_t from, uint32_t to) {
    for (uint32_t psn = from; psn <= to; ++psn)
      EXPECT_EQ(SendOne(psn), SendResult::kSent);
  }
  void PassTo(uint64_t now) {
    host_.now = now;
    while (timers_.PopDue(now) != nullptr) wire_->TimerExpired();
  }
  uint64_t Count(Counter counter) { return counters_.Get(counter); }

  FakeHost host_;
  Dma dma_{host_};
  TimerQueue timers_{host_};
  Counters counters_;
  Trace trace_{host_};
  WireLog log_;
  FaultPlan plan_;
  std::unique_ptr<FaultWire> wire_;
  std::array<uint8_t, 2> payload_{};
};

TEST_F(FaultWireTest, LeavesOthersAlone) {
  Make("drop@read-request=100%");
  Send(1, 4);
  EXPECT_THAT(log_.psns, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Count(Counter::kFaultPackets), 4u);
  EXPECT_EQ(Count(Counter::kFaultDropped), 0u);
}

TEST_F(FaultWireTest, OnePacketIsNeverMoreThanOneOfTheWireBelow) {
  EXPECT_EQ(Make("drop#1").MaxPayload(1024), 1024u);
}

TEST_F(FaultWireTest, DropsByPosition) {
  Make("drop#2-3+drop#5");
  Send(1, 6);
  EXPECT_THAT(log_.psns, ElementsAre(1, 4, 6));
  EXPECT_EQ(Count(Counter::kFaultDropped), 3u);
}

TEST_F(FaultWireTest, PositionsCountThePacketsThatFit) {
  Make("drop@ack#2");
  SendOne(1, kRcAck);
  SendOne(2, kRcWriteOnly);
  SendOne(3, kRcAck);
  SendOne(4, kRcAck);
  EXPECT_THAT(log_.psns, ElementsAre(1, 2, 4));
}

TEST_F(FaultWireTest, TheFirstRuleThatHitsTakesThePacket) {
  Make("drop#2+duplicate#1-2");
  Send(1, 3);
  EXPECT_THAT(log_.psns, ElementsAre(1, 1, 3));
  EXPECT_EQ(Count(Counter::kFaultDuplicated), 1u);
}

TEST_F(FaultWireTest, ReorderedPacketIsOvertaken) {
  Make("reorder#2:3");
  Send(1, 6);
  EXPECT_THAT(log_.psns, ElementsAre(1, 3, 4, 5, 2, 6));
  EXPECT_THAT(log_.bytes[4], ElementsAre(2, 0x55));
  EXPECT_EQ(Count(Counter::kFaultReordered), 1u);
}

TEST_F(FaultWireTest, ReorderedPacketThatNobodyOvertakesGoesOn) {
  Make("reorder#1:3");
  Send(1, 2);
  PassTo(host_.now + FaultWire::kOvertakeNs - 1);
  EXPECT_THAT(log_.psns, ElementsAre(2));
  PassTo(host_.now + 1);
  EXPECT_THAT(log_.psns, ElementsAre(2, 1));
  Send(3, 6);
  EXPECT_THAT(log_.psns, ElementsAre(2, 1, 3, 4, 5, 6));
}

// Where Send() is the delivery, what was held comes from the timer alone.
TEST_F(FaultWireTest, NothingHeldIsDeliveredFromWithinSend) {
  Make("reorder#1", FaultWire::Below::kDelivers);
  Send(1, 2);
  EXPECT_THAT(log_.psns, ElementsAre(2));
  PassTo(host_.now);
  EXPECT_THAT(log_.psns, ElementsAre(2, 1));
}

TEST_F(FaultWireTest, DelayIsExact) {
  Make("delay#1:300us+delay#2:100us");
  const uint64_t start = host_.now;
  Send(1, 3);
  EXPECT_EQ(wire_->held(), 2u);
  PassTo(start + 99'999);
  EXPECT_THAT(log_.psns, ElementsAre(3));
  PassTo(start + 100'000);
  EXPECT_THAT(log_.psns, ElementsAre(3, 2));
  PassTo(start + 299'999);
  EXPECT_EQ(log_.psns.size(), 2u);
  PassTo(start + 300'000);
  EXPECT_THAT(log_.psns, ElementsAre(3, 2, 1));
  EXPECT_EQ(Count(Counter::kFaultDelayed), 2u);
}

TEST_F(FaultWireTest, LateTimerReleasesByDeadline) {
  Make("delay#1:300us+delay#2:100us");
  Send(1, 2);
  PassTo(host_.now + 1'000'000);
  EXPECT_THAT(log_.psns, ElementsAre(2, 1));
}

TEST_F(FaultWireTest, DamageIsForTheWireBelow) {
  Make("corrupt#2");
  Send(1, 3);
  EXPECT_THAT(log_.psns, ElementsAre(1, 3));
  EXPECT_THAT(log_.damaged, ElementsAre(2));
  EXPECT_EQ(Count(Counter::kFaultCorrupted), 1u);
}

// A busy wire gets the same packet again, and it is the same one to the plan.
TEST_F(FaultWireTest, BusyWireChangesNothing) {
  for (const char* text : {"duplicate#2", "corrupt#2", "drop#1+duplicate#2"}) {
    log_ = WireLog();
    Make(text);
    SendOne(1);
    log_.result = SendResult::kBusy;
    EXPECT_EQ(SendOne(2), SendResult::kBusy) << text;
    EXPECT_EQ(SendOne(2), SendResult::kBusy) << text;
    log_.result = SendResult::kSent;
    EXPECT_EQ(SendOne(2), SendResult::kSent) << text;
    EXPECT_EQ(SendOne(3), SendResult::kSent) << text;
  }
  EXPECT_EQ(Count(Counter::kFaultDuplicated), 2u);
  EXPECT_EQ(Count(Counter::kFaultCorrupted), 1u);
  EXPECT_EQ(Count(Counter::kFaultPackets), 9u);
}

TEST_F(FaultWireTest, SecondOfTwoWaitsForRoom) {
  Make("duplicate#1");
  log_.room = 1;
  EXPECT_EQ(SendOne(1), SendResult::kSent);
  EXPECT_THAT(log_.psns, ElementsAre(1));
  EXPECT_EQ(Count(Counter::kFaultDuplicated), 1u);
  log_.result = SendResult::kSent;
  wire_->Ready();
  EXPECT_THAT(log_.psns, ElementsAre(1, 1));
}

TEST_F(FaultWireTest, HeldPacketWaitsForRoom) {
  Make("delay#1-2:1us");
  Send(1, 2);
  log_.result = SendResult::kBusy;
  PassTo(host_.now + 1000);
  EXPECT_EQ(wire_->held(), 2u);
  log_.result = SendResult::kSent;
  wire_->Ready();
  EXPECT_THAT(log_.psns, ElementsAre(1, 2));
  EXPECT_EQ(wire_->held(), 0u);
}

TEST_F(FaultWireTest, FullPoolHoldsNoMore) {
  Make("delay=100%:1ms");
  Send(1, FaultWire::kSlots + 2);
  EXPECT_EQ(log_.psns.size(), 2u);
  EXPECT_EQ(Count(Counter::kFaultDelayed), FaultWire::kSlots);
  EXPECT_EQ(Count(Counter::kFaultNotHeld), 2u);
  PassTo(host_.now + 1'000'000);
  EXPECT_EQ(log_.psns.size(), FaultWire::kSlots + 2);
  EXPECT_EQ(log_.psns[2], 1u);
  Send(1, 1);
  EXPECT_EQ(wire_->held(), 1u);
}

TEST_F(FaultWireTest, ClearForgetsWhatIsHeld) {
  Make("delay=100%:1ms");
  Send(1, 5);
  wire_->Clear();
  EXPECT_EQ(wire_->held(), 0u);
  PassTo(host_.now + 10'000'000);
  EXPECT_THAT(log_.psns, IsEmpty());
}

TEST_F(FaultWireTest, PayloadThatCannotBeReadIsAnErrorAtOnce) {
  Make("delay=100%");
  Packet packet;
  const Segment nowhere = {0x10, 4};
  packet.payload = {.bytes = nullptr, .segments = {&nowhere, 1}, .length = 4};
  EXPECT_EQ(wire_->Send(packet), SendResult::kDmaError);
  EXPECT_EQ(wire_->held(), 0u);
}

std::vector<uint32_t> DroppedWith(const char* text, FaultWire::Below below) {
  struct Run : FaultWireTest {
    void TestBody() override {}
    using FaultWireTest::log_;
    using FaultWireTest::Make;
    using FaultWireTest::Send;
    using FaultWireTest::SetUp;
  } run;
  run.SetUp();
  run.Make(text, below);
  run.Send(0, 9999);
  return run.log_.psns;
}

TEST_F(FaultWireTest, TheSeedDecides) {
  constexpr auto kLink = FaultWire::Below::kQueues;
  const std::vector<uint32_t> once = DroppedWith("drop=1%+seed=3", kLink);
  EXPECT_EQ(once, DroppedWith("seed=3+drop=1%", kLink));
  EXPECT_NE(once, DroppedWith("drop=1%+seed=4", kLink));
  EXPECT_NE(once, DroppedWith("drop=1%+seed=3", FaultWire::Below::kDelivers));
}

TEST_F(FaultWireTest, RatesAreKept) {
  const size_t arrived =
      DroppedWith("drop=1%", FaultWire::Below::kQueues).size();
  EXPECT_GT(arrived, 9850u);  // 9900 and five standard deviations
  EXPECT_LT(arrived, 9950u);
}

// ---- Between two devices ----------------------------------------------------

constexpr char kPlan[] = "drop=2%+corrupt=1%+duplicate=2%+reorder=5%:2";

class FaultTrafficTest : public TrafficTest,
                         public ::testing::WithParamInterface<bool> {
 protected:
  FaultTrafficTest() : TrafficTest(kPlan, kPlan) {}

  // What one device put on its wires, by what its plan did to the packets.
  static uint64_t Expected(const TestMachine& m) {
    return m.Counter("fault_packets") - m.Counter("fault_dropped") +
           m.Counter("fault_duplicated");
  }
  static uint64_t Damaged(const TestMachine& m) {
    return m.Counter("drop_vcrc") + m.Counter("drop_icrc") +
           m.Counter("drop_truncated") + m.Counter("drop_length") +
           m.Counter("drop_header");
  }
};

TEST_P(FaultTrafficTest, DataIsWholeAndEveryLossIsExplained) {
  const bool loopback = GetParam();
  const Connection connection{.mtu_code = 1, .retry_count = 7};
  if (loopback)
    ConnectLoopback(connection);
  else
    ConnectPair(connection);
  constexpr uint32_t kBytes = 8000;
  constexpr uint32_t kMessages = 30;
  const std::vector<uint8_t> data = Pattern(kMessages * kBytes);
  local_.driver().Poke(local_.mr, 0, data);
  for (uint8_t opcode : {VCX_WQE_RDMA_WRITE, VCX_WQE_SEND, VCX_WQE_RDMA_READ}) {
    Side& target = opcode == VCX_WQE_RDMA_READ ? local_ : remote_;
    if (opcode == VCX_WQE_RDMA_READ)  // what the others have brought
      local_.driver().Poke(local_.mr, 0, std::vector<uint8_t>(data.size()));
    else
      remote_.driver().Poke(remote_.mr, 0, std::vector<uint8_t>(data.size()));
    for (uint32_t i = 0; i < kMessages; ++i) {
      if (opcode == VCX_WQE_SEND) PostRecv(kBytes, i * kBytes);
      SendWr wr = Wr(opcode, kBytes, i * kBytes);
      wr.sges = {local_.mr.At(i * kBytes, kBytes)};
      local_.driver().PostSend(local_.qp, wr);
    }
    local_.driver().RingSend(local_.qp);
    pair_.Settle();
    pair_.Advance(60'000 * kMs);
    EXPECT_EQ(target.driver().Peek(target.mr, 0, data.size()), data);
    EXPECT_EQ(Sent().size(), kMessages);
    EXPECT_EQ(Received().size(), opcode == VCX_WQE_SEND ? kMessages : 0u);
  }
  EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
  EXPECT_EQ(RemoteState(), VCX_QP_STATE_RTS);

  const TestMachine& a = pair_.a;
  const TestMachine& b = pair_.b;
  EXPECT_GT(a.Counter("fault_dropped"), 0u);
  EXPECT_GT(a.Counter("fault_corrupted"), 0u);
  EXPECT_GT(a.Counter("fault_duplicated"), 0u);
  EXPECT_GT(a.Counter("fault_reordered"), 0u);
  EXPECT_EQ(a.Counter("packets_sent"), a.Counter("fault_packets"));
  EXPECT_EQ(b.Counter("packets_sent"), b.Counter("fault_packets"));
  if (loopback) {
    EXPECT_EQ(a.Counter("loopback_packets"), Expected(a));
    EXPECT_EQ(a.Counter("drop_icrc"), a.Counter("fault_corrupted"));
    return;
  }
  EXPECT_EQ(a.Counter("frames_sent"), Expected(a));
  EXPECT_EQ(b.Counter("frames_sent"), Expected(b));
  EXPECT_EQ(Damaged(b), a.Counter("fault_corrupted"));
  EXPECT_EQ(Damaged(a), b.Counter("fault_corrupted"));
  EXPECT_EQ(b.Counter("frames_received") + Damaged(b),
            a.Counter("frames_sent"));
  EXPECT_EQ(a.Counter("frames_received") + Damaged(a),
            b.Counter("frames_sent"));
}
INSTANTIATE_TEST_SUITE_P(LinkAndLoopback, FaultTrafficTest, ::testing::Bool());

// Each byte of a frame, and each of its two checksums, finds the damage.
class DamageTest : public TrafficTest {
 protected:
  DamageTest() : TrafficTest("corrupt@write=100%", nullptr) {}
};

TEST_F(DamageTest, IsAlwaysFound) {
  ConnectPair({.retry_count = 7, .ack_timeout = 1});
  for (int i = 0; i < 250; ++i) {
    local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 61));
    pair_.Settle();
    pair_.Advance(kMs);
    Sent();
    if (LocalState() == VCX_QP_STATE_RTS) continue;
    // Its retries are used up: another pair.
    MakeSide(pair_.a, local_);
    MakeSide(pair_.b, remote_);
    ConnectPair({.retry_count = 7, .ack_timeout = 1});
  }
  const TestMachine& b = pair_.b;
  EXPECT_GE(pair_.a.Counter("fault_corrupted"), 250u);
  EXPECT_EQ(b.Counter("frames_received"), 0u);
  EXPECT_EQ(b.Counter("drop_not_ours"), 0u);
  EXPECT_GT(b.Counter("drop_vcrc"), 0u);
  EXPECT_GT(b.Counter("drop_icrc"), 0u);
}

class ResetTest : public TrafficTest {
 protected:
  ResetTest() : TrafficTest("delay=100%:1ms", nullptr) {}
};

TEST_F(ResetTest, DropsHeldPackets) {
  ConnectPair();
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  EXPECT_EQ(pair_.a.Counter("fault_delayed"), 1u);
  pair_.a.device.Reset(VCX_RESET_FUNCTION);
  pair_.a.device.SetBusMaster(true);
  pair_.Advance(10 * kMs);
  EXPECT_EQ(pair_.a.Counter("frames_sent"), 0u);
}

}  // namespace
}  // namespace vcx
