/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Completion queues: arming, moderation, overflow, resize, order.
#include "testing/traffic_test.h"

namespace vcx {
namespace {

using ::testing::IsEmpty;

class CompletionTest : public TrafficTest {
 protected:
  void Write(bool solicited_event = false) {
    SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 8);
    wr.solicited = solicited_event;
    local_.driver().Send(local_.qp, wr);
    pair_.Settle();
  }
  int Events() {
    int n = 0;
    while (local_.driver().NextEvent(local_.driver().completion_eq())) ++n;
    return n;
  }
};

TEST_F(CompletionTest, OneEventForOneArming) {
  ConnectPair();
  Write();
  EXPECT_EQ(Events(), 0);
  Sent();
  local_.driver().Arm(local_.send_cq);
  EXPECT_EQ(Events(), 0);
  Write();
  Write();
  EXPECT_EQ(Events(), 1);
}

TEST_F(CompletionTest, ArmingFindsWhatIsThereAlready) {
  ConnectPair();
  Write();
  local_.driver().Arm(local_.send_cq);
  EXPECT_EQ(Events(), 1);
}

TEST_F(CompletionTest, SolicitedArmingIgnoresOrdinaryEntries) {
  ConnectPair();
  remote_.driver().Arm(remote_.recv_cq, /*solicited_only=*/true);
  for (bool solicited : {false, true}) {
    PostRecv(64);
    SendWr wr = Wr(VCX_WQE_SEND, 64);
    wr.solicited = solicited;
    local_.driver().Send(local_.qp, wr);
    pair_.Settle();
    EXPECT_EQ(remote_.driver()
                  .NextEvent(remote_.driver().completion_eq())
                  .has_value(),
              solicited);
  }
}

TEST_F(CompletionTest, ErrorWakesWhoWaitsForSolicited) {
  ConnectPair();
  local_.driver().Arm(local_.send_cq, /*solicited_only=*/true);
  local_.driver().Send(local_.qp, Wr(0x7f, 8));
  pair_.Settle();
  EXPECT_EQ(Events(), 1);
}

TEST_F(CompletionTest, ModerationCountsOrWaits) {
  local_.send_cq = local_.driver().NewCq({.period_us = 100, .max_count = 3});
  local_.qp = local_.driver().NewQp(
      {.send_cqn = local_.send_cq.number, .recv_cqn = local_.recv_cq.number});
  ConnectPair();
  local_.driver().Arm(local_.send_cq);
  Write();
  Write();
  EXPECT_EQ(Events(), 0);
  Write();
  EXPECT_EQ(Events(), 1);

  Sent();
  local_.driver().Arm(local_.send_cq);
  Write();
  pair_.Advance(100'000 - 1);
  EXPECT_EQ(Events(), 0);
  pair_.Advance(1);
  EXPECT_EQ(Events(), 1);
}

TEST_F(CompletionTest, OverflowFailsTheCqAndItsQp) {
  local_.send_cq = local_.driver().NewCq({.log_size = 1});
  local_.qp = local_.driver().NewQp(
      {.send_cqn = local_.send_cq.number, .recv_cqn = local_.recv_cq.number});
  ConnectPair();
  for (int i = 0; i < 3; ++i) Write();
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
  EXPECT_EQ(pair_.a.Counter("cq_overflows"), 1u);
  bool seen = false;
  while (auto eqe = local_.driver().NextEvent(local_.driver().async_eq()))
    if (eqe->type == VCX_EVENT_CQ_ERROR) {
      seen = true;
      EXPECT_EQ(eqe->data.cq_error.cqn.get(), local_.send_cq.number);
      EXPECT_EQ(eqe->data.cq_error.syndrome, VCX_CQ_ERROR_OVERRUN);
    }
  EXPECT_TRUE(seen);
  EXPECT_EQ(Sent().size(), 2u);
}

TEST_F(CompletionTest, ConsumerMakesRoom) {
  local_.send_cq = local_.driver().NewCq({.log_size = 1});
  local_.qp = local_.driver().NewQp(
      {.send_cqn = local_.send_cq.number, .recv_cqn = local_.recv_cq.number});
  ConnectPair();
  for (int i = 0; i < 9; ++i) {
    Write();
    EXPECT_EQ(Sent().size(), 1u);
  }
  EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
}

// The contract: data, then CQE, then EQE, then the interrupt.
TEST_F(CompletionTest, OrderIsDataEntryEventInterrupt) {
  ConnectLoopback();
  PostRecv(64);
  remote_.driver().Arm(remote_.recv_cq);
  remote_.driver().ArmEq(remote_.driver().completion_eq());
  pair_.a.host.log_events = true;
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 64));
  pair_.Settle();
  const uint64_t places[] = {remote_.mr.buffer.At(0),
                             remote_.recv_cq.ring.At(0),
                             remote_.driver().completion_eq().ring.At(0)};
  size_t stage = 0;
  for (const HostEvent& event : pair_.a.host.events) {
    if (stage < 3 && event.kind == HostEvent::Kind::kDmaWrite &&
        event.addr == places[stage])
      ++stage;
    if (event.kind == HostEvent::Kind::kInterrupt) {
      EXPECT_EQ(stage, 3u);
      return;
    }
  }
  ADD_FAILURE() << "no interrupt";
}

// The byte with the owner bit is written last and in one piece with its word.
TEST_F(CompletionTest, OwnerBitIsWrittenLast) {
  ConnectLoopback();
  pair_.a.host.log_events = true;
  Write();
  const uint64_t cqe = local_.send_cq.ring.At(0);
  const HostEvent* last = nullptr;
  for (const HostEvent& event : pair_.a.host.events)
    if (event.kind == HostEvent::Kind::kDmaWrite && event.addr >= cqe &&
        event.addr < cqe + sizeof(vcx_cqe))
      last = &event;
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->addr, cqe + sizeof(vcx_cqe) - 8);
  EXPECT_EQ(last->len, 8u);
}

TEST_F(CompletionTest, ErrorEntryNamesWhy) {
  ConnectPair();
  SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 8);
  wr.sges = {{local_.mr.key(), local_.mr.options.va - 1, 8}};
  local_.driver().Send(local_.qp, wr);
  pair_.Settle();
  const std::vector<WorkCompletion> sent = Sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].syndrome, VCX_SYNDROME_LOCAL_PROTECTION);
  EXPECT_EQ(sent[0].vendor_syndrome, VCX_VENDOR_KEY_BOUNDS);
  EXPECT_EQ(sent[0].qpn, local_.qp.number);
}

}  // namespace
}  // namespace vcx
