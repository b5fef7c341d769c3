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
  void UseSendCq(CqOptions options) {
    local_.send_cq = local_.driver().NewCq(options);
    local_.qp = local_.driver().NewQp(
        {.send_cqn = local_.send_cq.number, .recv_cqn = local_.recv_cq.number});
  }
  uint32_t StatusOfSendCq() {
    const Reply reply = local_.driver().ExecuteNumber(
        VCX_CMD_QUERY_CQ, local_.send_cq.number, 0, sizeof(vcx_query_cq_out));
    const auto out = reply.As<vcx_query_cq_out>();
    return VCX_GET(&out.cqc, VCX_CQC_STATUS);
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

// Software is woken, arms, and then polls: the entry that it was woken for lies
// beyond its counter still, and must not wake it again.
TEST_F(CompletionTest, WhatAnEventHasToldOfIsNotToldAgain) {
  ConnectPair();
  local_.driver().Arm(local_.send_cq);
  Write();
  EXPECT_EQ(Events(), 1);
  local_.driver().Arm(local_.send_cq);
  EXPECT_EQ(Events(), 0);
  EXPECT_EQ(Sent().size(), 1u);
  Write();
  EXPECT_EQ(Events(), 1);
}

// One that came between event and arming has not been told of.
TEST_F(CompletionTest, WhatCameSinceTheEventIsFoundByArming) {
  ConnectPair();
  local_.driver().Arm(local_.send_cq);
  Write();
  EXPECT_EQ(Events(), 1);
  Write();
  EXPECT_EQ(Events(), 0);
  local_.driver().Arm(local_.send_cq);
  EXPECT_EQ(Events(), 1);
}

TEST_F(CompletionTest, SolicitedEntryThatWasToldOfIsNotToldAgain) {
  ConnectPair();
  remote_.driver().Arm(remote_.recv_cq, /*solicited_only=*/true);
  const auto told = [this] {
    return remote_.driver()
        .NextEvent(remote_.driver().completion_eq())
        .has_value();
  };
  for (int i = 0; i < 2; ++i) {
    PostRecv(64);
    SendWr wr = Wr(VCX_WQE_SEND, 64);
    wr.solicited = i == 0;
    local_.driver().Send(local_.qp, wr);
    pair_.Settle();
    EXPECT_EQ(told(), i == 0);
    remote_.driver().Arm(remote_.recv_cq, /*solicited_only=*/true);
    EXPECT_FALSE(told());
  }
}

// The period begins with the last event: after a long silence the first entry
// is told at once.
TEST_F(CompletionTest, PeriodFromTheEventBeginsWithTheLastOne) {
  UseSendCq({.period_us = 100, .max_count = 8});
  ConnectPair();
  local_.driver().Arm(local_.send_cq);
  Write();
  EXPECT_EQ(Events(), 1);
  Sent();
  local_.driver().Arm(local_.send_cq);
  pair_.Advance(60'000);
  Write();
  pair_.Advance(39'999);
  EXPECT_EQ(Events(), 0);
  pair_.Advance(1);
  EXPECT_EQ(Events(), 1);
}

// The period begins anew with each entry: a steady stream is told by count.
TEST_F(CompletionTest, PeriodFromTheEntryBeginsAnewWithEach) {
  UseSendCq({.period_us = 100, .max_count = 8, .period_from_entry = true});
  ConnectPair();
  local_.driver().Arm(local_.send_cq);
  for (int i = 0; i < 3; ++i) {
    Write();
    pair_.Advance(99'999);
    EXPECT_EQ(Events(), 0);
  }
  pair_.Advance(1);
  EXPECT_EQ(Events(), 1);
}

TEST_F(CompletionTest, ModerationCountsOrWaits) {
  UseSendCq({.period_us = 100, .max_count = 3, .period_from_entry = true});
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
  EXPECT_EQ(StatusOfSendCq(), VCX_CQ_STATUS_OVERFLOW);
}

TEST_F(CompletionTest, OverflowIsTheReasonOfTheOtherQueuesFlush) {
  UseSendCq({.log_size = 1});
  ConnectPair();
  local_.driver().PostRecv(local_.qp, {local_.mr.At(0, 64)});
  for (int i = 0; i < 3; ++i) Write();
  const std::vector<WorkCompletion> flushed =
      local_.driver().PollAll(local_.recv_cq);
  ASSERT_EQ(flushed.size(), 1u);
  EXPECT_EQ(flushed[0].syndrome, VCX_SYNDROME_FLUSHED);
  EXPECT_EQ(flushed[0].vendor_syndrome, VCX_VENDOR_CQ_OVERRUN);
}

TEST_F(CompletionTest, BusErrorIsAWriteFailureAndNoOverflow) {
  ConnectPair();
  pair_.a.host.FailDma(local_.send_cq.ring.At(0), 64);
  Write();
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
  EXPECT_EQ(StatusOfSendCq(), VCX_CQ_STATUS_WRITE_FAILURE);
  EXPECT_EQ(pair_.a.Counter("cq_overflows"), 0u);
  const auto eqe = local_.driver().NextEvent(local_.driver().async_eq());
  ASSERT_TRUE(eqe.has_value());
  EXPECT_EQ(eqe->type, VCX_EVENT_CQ_ERROR);
  EXPECT_EQ(eqe->data.cq_error.syndrome, VCX_CQ_ERROR_ACCESS);
}

TEST_F(CompletionTest, UnreadableConsumerCounterIsABusError) {
  UseSendCq({.log_size = 1});
  ConnectPair();
  pair_.a.host.FailDma(local_.send_cq.doorbell_record, 8);
  for (int i = 0; i < 3; ++i) Write();
  EXPECT_EQ(StatusOfSendCq(), VCX_CQ_STATUS_WRITE_FAILURE);
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
