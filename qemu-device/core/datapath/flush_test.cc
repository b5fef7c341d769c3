/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// A QP in error gives back everything that is posted, now and later; SQD
// finishes what was begun.
#include "testing/traffic_test.h"

namespace vcx {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FlushTest : public TrafficTest {};

TEST_F(FlushTest, CommandFlushesBothQueuesInOrder) {
  ConnectPair();
  pair_.OnFrame([](Frame&, bool) { return WireAction::kDrop; });
  for (int i = 0; i < 3; ++i) {
    local_.driver().PostRecv(local_.qp, {local_.mr.At(0, 64)});
    SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 64);
    wr.signaled = false;  // flushed all the same
    local_.driver().PostSend(local_.qp, wr);
  }
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  local_.driver().ToErr(local_.qp);
  pair_.Settle();
  const std::vector<WorkCompletion> sent = Sent();
  EXPECT_EQ(sent.size(), 3u);
  EXPECT_THAT(sent, Each(SendFailed(VCX_SYNDROME_FLUSHED)));
  for (size_t i = 1; i < sent.size(); ++i)
    EXPECT_GT(sent[i].wqe_counter, sent[i - 1].wqe_counter);
  const auto received = local_.driver().PollAll(local_.recv_cq);
  EXPECT_EQ(received.size(), 3u);
  EXPECT_THAT(received, Each(ReceiveFailed(VCX_SYNDROME_FLUSHED)));
}

// This is how a kernel drains its queues.
TEST_F(FlushTest, WhatIsPostedLaterIsFlushedToo) {
  ConnectPair();
  local_.driver().ToErr(local_.qp);
  pair_.Settle();
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_FLUSHED)));

  local_.driver().PostRecv(local_.qp, {local_.mr.At(0, 64)});
  pair_.Advance(100 * kMs);
  EXPECT_THAT(local_.driver().PollAll(local_.recv_cq),
              ElementsAre(ReceiveFailed(VCX_SYNDROME_FLUSHED)));
}

TEST_F(FlushTest, ErrorTouchesNoMemory) {
  ConnectPair();
  remote_.driver().ToErr(remote_.qp);
  local_.driver().Poke(local_.mr, 0, Pattern(64));
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, 64), std::vector<uint8_t>(64));
  EXPECT_GT(pair_.b.Counter("drop_qp_state"), 0u);
}

TEST_F(FlushTest, ReceiveTakenForAHalfMessageIsFlushed) {
  ConnectPair({.mtu_code = 1, .retry_count = 0, .ack_timeout = 10});
  PostRecv(1000);
  pair_.OnFrame([n = 0](Frame&, bool from_a) mutable {
    return from_a && n++ >= 2 ? WireAction::kDrop : WireAction::kDeliver;
  });
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 1000));
  pair_.Settle();
  remote_.driver().ToErr(remote_.qp);
  pair_.Settle();
  EXPECT_THAT(Received(), ElementsAre(ReceiveFailed(VCX_SYNDROME_FLUSHED)));
}

TEST_F(FlushTest, ResetForgetsWithoutCompletions) {
  ConnectPair();
  pair_.OnFrame([](Frame&, bool) { return WireAction::kDrop; });
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  local_.driver().ToRst(local_.qp);
  pair_.Advance(10'000 * kMs);
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_EQ(pair_.carried(), 1u);
}

TEST_F(FlushTest, DrainReportsWhenNothingIsOutstanding) {
  ConnectPair();
  bool hold = true;
  pair_.OnFrame([&](Frame&, bool from_a) {
    return !from_a && hold ? WireAction::kHold : WireAction::kDeliver;
  });
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  local_.driver().MustNumber(VCX_CMD_RTS2SQD_QP, local_.qp.number,
                             VCX_RTS2SQD_EVENT);
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));  // not begun
  pair_.Settle();
  EXPECT_FALSE(local_.driver().NextEvent(local_.driver().async_eq()));
  hold = false;
  pair_.ReleaseHeld();
  const auto eqe = local_.driver().NextEvent(local_.driver().async_eq());
  ASSERT_TRUE(eqe.has_value());
  EXPECT_EQ(eqe->type, VCX_EVENT_SQ_DRAINED);
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE)));
}

}  // namespace
}  // namespace vcx
