/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Loss, duplication and delay at every place of a message, and what happens
// when patience ends. Time is the host's and passes only here.
#include "testing/traffic_test.h"

namespace vcx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct DisturbCase {
  uint8_t opcode;
  uint32_t frame;  // which frame on the wire, from either side
  WireAction action;
};

// Five packets each way at most; more than one message, so that what follows
// the disturbed one is there too.
class DisturbTest : public TrafficTest,
                    public ::testing::WithParamInterface<DisturbCase> {};

TEST_P(DisturbTest, DataIsWholeAndCompletionsAreInOrder) {
  const DisturbCase& c = GetParam();
  ConnectPair({.mtu_code = 1, .retry_count = 7});
  constexpr uint32_t kBytes = 1200;
  const bool read = c.opcode == VCX_WQE_RDMA_READ;
  const std::vector<uint8_t> data = Pattern(2 * kBytes);
  Side& source = read ? remote_ : local_;
  Side& target = read ? local_ : remote_;
  source.driver().Poke(source.mr, 0, data);
  pair_.OnFrame([&, n = 0u](Frame&, bool) mutable {
    return n++ == c.frame ? c.action : WireAction::kDeliver;
  });

  for (uint32_t i = 0; i < 2; ++i) {
    PostRecv(kBytes, i * kBytes);
    SendWr wr = Wr(c.opcode, kBytes, i * kBytes);
    wr.sges = {local_.mr.At(i * kBytes, kBytes)};
    local_.driver().PostSend(local_.qp, wr);
  }
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  if (c.action == WireAction::kHold) pair_.ReleaseHeld();
  pair_.Advance(3000 * kMs);

  EXPECT_EQ(target.driver().Peek(target.mr, 0, data.size()), data);
  EXPECT_THAT(Sent(), ElementsAre(SendIs(c.opcode), SendIs(c.opcode)));
  EXPECT_EQ(Received().size(), c.opcode == VCX_WQE_SEND ? 2u : 0u);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
  EXPECT_EQ(RemoteState(), VCX_QP_STATE_RTS);
}

std::vector<DisturbCase> AllDisturbances() {
  std::vector<DisturbCase> cases;
  for (uint8_t opcode : {VCX_WQE_SEND, VCX_WQE_RDMA_WRITE, VCX_WQE_RDMA_READ})
    for (WireAction action :
         {WireAction::kDrop, WireAction::kDuplicate, WireAction::kHold})
      for (uint32_t frame = 0; frame < 13; ++frame)
        cases.push_back({opcode, frame, action});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, DisturbTest,
                         ::testing::ValuesIn(AllDisturbances()));

class RetryTest : public TrafficTest {
 protected:
  void DropAll() {
    pair_.OnFrame([](Frame&, bool) { return WireAction::kDrop; });
  }
};

// retry_count 2: the first packet and two more, each after the timeout.
TEST_F(RetryTest, GivesUpAfterItsRetries) {
  ConnectPair({.retry_count = 2, .ack_timeout = 10});
  DropAll();
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  const uint64_t timeout = Retry::AckTimeoutNs(10);
  pair_.Advance(3 * timeout - 1);
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_EQ(pair_.carried(), 3u);
  pair_.Advance(1);
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_RETRY_EXCEEDED)));
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
  EXPECT_EQ(pair_.carried(), 3u);
}

TEST_F(RetryTest, WithoutTimeoutItWaitsForEver) {
  ConnectPair({.ack_timeout = 0});
  DropAll();
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  pair_.Advance(3'600'000 * kMs);
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
}

TEST_F(RetryTest, ProgressGivesNewRetries) {
  ConnectPair({.mtu_code = 1, .retry_count = 1, .ack_timeout = 10});
  // Every message loses its first packet once: one retry each.
  pair_.OnFrame([last = Frame()](Frame& frame, bool from_a) mutable {
    if (!from_a || frame == last) return WireAction::kDeliver;
    last = frame;
    return WireAction::kDrop;
  });
  for (int i = 0; i < 5; ++i) {
    local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64, 64u * i));
    pair_.Settle();
    pair_.Advance(1000 * kMs);
    EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE)));
  }
}

// The pause is the one that the receiver asked for: code 12 is 0.64 ms.
TEST_F(RetryTest, ReceiverNotReadyPausesAndGoesOn) {
  ConnectPair({.rnr_retry = 1, .min_rnr_nak = 12});
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 64));
  pair_.Settle();
  EXPECT_EQ(pair_.b.Counter("rnr_naks_sent"), 1u);
  PostRecv(64);
  pair_.Advance(640'000 - 1);
  EXPECT_THAT(Sent(), IsEmpty());
  pair_.Advance(1);
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_SEND)));
  EXPECT_EQ(Received().size(), 1u);
}

TEST_F(RetryTest, ReceiverNeverReadyEndsTheQp) {
  ConnectPair({.rnr_retry = 2});
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 64));
  pair_.Settle();
  pair_.Advance(100 * kMs);
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_RNR_EXCEEDED)));
  EXPECT_EQ(pair_.b.Counter("rnr_naks_sent"), 3u);
  EXPECT_EQ(RemoteState(), VCX_QP_STATE_RTS);
}

TEST_F(RetryTest, SevenRnrRetriesAreEndless) {
  ConnectPair({.rnr_retry = 7});
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 64));
  pair_.Settle();
  pair_.Advance(200 * kMs);
  EXPECT_THAT(Sent(), IsEmpty());
  PostRecv(64);
  pair_.Advance(10 * kMs);
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_SEND)));
}

// An immediate that finds no receive WQE is repeated whole; nothing of the
// last packet was written before.
TEST_F(RetryTest, WriteWithImmediateWaitsForAReceive) {
  ConnectPair({.mtu_code = 1});
  local_.driver().Poke(local_.mr, 0, Pattern(600));
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE_IMM, 600));
  pair_.Settle();
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 512, 88),
            std::vector<uint8_t>(88));
  PostRecv(1);
  pair_.Advance(10 * kMs);
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE_IMM)));
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, 600), Pattern(600));
}

// The acknowledgement of a write is lost, the response of a read is late: it
// comes when the requester has gone back to the write, and the NOP between them
// would be passed again.
TEST_F(RetryTest, LateResponseBehindANopIsTaken) {
  ConnectPair({.ack_timeout = 10});
  pair_.OnFrame([n = 0](Frame&, bool from_a) mutable {
    if (from_a || n > 1) return WireAction::kDeliver;
    return n++ == 0 ? WireAction::kDrop : WireAction::kHold;
  });
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 100));
  local_.driver().PostSend(local_.qp, {.opcode = VCX_WQE_NOP});
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_READ, 100));
  pair_.Settle();
  ASSERT_EQ(pair_.held(), 1u);
  pair_.a.host.wire_full = true;
  pair_.Advance(Retry::AckTimeoutNs(10));
  ASSERT_EQ(pair_.a.Counter("timeouts"), 1u);
  pair_.ReleaseHeld();
  pair_.a.host.wire_full = false;
  pair_.a.device.WireReady();
  pair_.Settle();
  EXPECT_THAT(Sent(),
              ElementsAre(SendIs(VCX_WQE_RDMA_WRITE), SendIs(VCX_WQE_NOP),
                          SendIs(VCX_WQE_RDMA_READ)));
  EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
}

// The acknowledgement timer is not for the receiver's pause, whatever wakes it.
TEST_F(RetryTest, PauseIsNoTimeout) {
  ConnectPair({.retry_count = 0, .ack_timeout = 1, .min_rnr_nak = 16});
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 64));
  pair_.Settle();
  auto in = MakeInput<vcx_qp_in>(VCX_CMD_RTS2RTS_QP);
  in.fixed.qpn = local_.qp.number;
  in.fixed.opt_param_mask = VCX_QP_OPT_MIN_RNR_NAK;
  local_.driver().Must(in);
  PostRecv(64);
  pair_.Advance(2'560'000 - 1);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
  EXPECT_THAT(Sent(), IsEmpty());
  pair_.Advance(1);
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_SEND)));
  EXPECT_EQ(pair_.a.Counter("timeouts"), 0u);
}

// After the pause the peer is gone, or the wire: that is a loss like others.
TEST_F(RetryTest, FullWireAfterAPauseUsesUpTheRetries) {
  ConnectPair({.retry_count = 1, .ack_timeout = 10, .min_rnr_nak = 16});
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 64));
  pair_.Settle();
  pair_.a.host.wire_full = true;
  const uint64_t timeout = Retry::AckTimeoutNs(10);
  pair_.Advance(2'560'000 + 2 * timeout - 1);
  EXPECT_THAT(Sent(), IsEmpty());
  pair_.Advance(1);
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_RETRY_EXCEEDED)));
}

TEST(RnrTableTest, IsTheOneOfTheSpecification) {
  EXPECT_EQ(Retry::RnrPauseNs(0), 655'360'000u);
  EXPECT_EQ(Retry::RnrPauseNs(1), 10'000u);
  EXPECT_EQ(Retry::RnrPauseNs(14), 1'280'000u);
  EXPECT_EQ(Retry::RnrPauseNs(31), 491'520'000u);
}

}  // namespace
}  // namespace vcx
