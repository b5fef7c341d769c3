/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The state "send queue drained": what was begun is finished, whatever it takes,
// nothing else is begun, and an event tells when all is quiet.
// (IBA vol. 1, 10.3.1.5)
#include "datapath/retry.h"
#include "testing/traffic_test.h"

namespace vcx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DrainTest : public TrafficTest {
 protected:
  void HoldAnswers() {
    pair_.OnFrame([](Frame&, bool from_a) {
      return from_a ? WireAction::kDeliver : WireAction::kHold;
    });
  }
  void Drain(bool tell = true) {
    local_.driver().MustNumber(VCX_CMD_RTS2SQD_QP, local_.qp.number,
                               tell ? VCX_RTS2SQD_EVENT : 0);
    pair_.Settle();
  }
  void GoOn() {
    Input<vcx_qp_in> in = MakeInput<vcx_qp_in>(VCX_CMD_SQD2RTS_QP);
    in.fixed.qpn = local_.qp.number;
    local_.driver().Must(in);
    pair_.Settle();
  }
  // Events of this QP since the last call: how many say that it is drained.
  int Told() {
    int n = 0;
    while (auto eqe = local_.driver().NextEvent(local_.driver().async_eq())) {
      if (eqe->type != VCX_EVENT_SQ_DRAINED) continue;
      EXPECT_EQ(eqe->data.qp.number.get(), local_.qp.number);
      ++n;
    }
    return n;
  }
};

TEST_F(DrainTest, QuietQueueIsDrainedAtOnce) {
  ConnectPair();
  Drain();
  EXPECT_EQ(Told(), 1);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_SQD);
}

TEST_F(DrainTest, WaitsForTheLastAnswer) {
  ConnectPair();
  HoldAnswers();
  for (int i = 0; i < 3; ++i)
    local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  Drain();
  EXPECT_EQ(Told(), 0);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_SQ_DRAINING);
  pair_.OnFrame(nullptr);
  pair_.ReleaseHeld();
  EXPECT_EQ(Told(), 1);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_SQD);
  EXPECT_EQ(Sent().size(), 3u);
}

TEST_F(DrainTest, IsSilentWhenNobodyAsked) {
  ConnectPair();
  HoldAnswers();
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  Drain(/*tell=*/false);
  pair_.OnFrame(nullptr);
  pair_.ReleaseHeld();
  EXPECT_EQ(Told(), 0);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_SQD);
}

// A message that stands still in its middle is begun, and goes to its end.
TEST_F(DrainTest, FinishesAMessageThatIsPartlySent) {
  ConnectPair({.mtu_code = 1});
  const std::vector<uint8_t> data = Pattern(2000);
  local_.driver().Poke(local_.mr, 0, data);
  pair_.a.host.wire_capacity = 3;
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 2000));
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64, 4096));
  local_.driver().RingSend(local_.qp);  // three frames, and the wire is full
  local_.driver().MustNumber(VCX_CMD_RTS2SQD_QP, local_.qp.number,
                             VCX_RTS2SQD_EVENT);
  for (int i = 0; i < 10; ++i) {
    pair_.Settle();
    pair_.a.device.WireReady();
  }
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, 2000), data);
  EXPECT_EQ(Sent().size(), 1u);
  EXPECT_EQ(Told(), 1);
}

TEST_F(DrainTest, BeginsNothingThatWaits) {
  ConnectPair();
  HoldAnswers();
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_READ, 64));
  SendWr fenced = Wr(VCX_WQE_RDMA_WRITE, 64, 8192);
  fenced.fence = VCX_WQE_FM_FENCE;
  local_.driver().Send(local_.qp, fenced);
  pair_.Settle();
  Drain();
  pair_.OnFrame(nullptr);
  pair_.ReleaseHeld();
  EXPECT_EQ(Told(), 1);
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_READ)));
  // What is posted meanwhile waits too.
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  EXPECT_THAT(Sent(), IsEmpty());
  GoOn();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE),
                                  SendIs(VCX_WQE_RDMA_WRITE)));
  EXPECT_EQ(Told(), 0);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
}

TEST_F(DrainTest, RepairsALoss) {
  ConnectPair({.ack_timeout = 10});
  pair_.OnFrame([n = 0](Frame&, bool) mutable {
    return n++ == 0 ? WireAction::kDrop : WireAction::kDeliver;
  });
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  Drain();
  pair_.Advance(Retry::AckTimeoutNs(10) - 1);
  EXPECT_EQ(Told(), 0);
  pair_.Advance(1);
  EXPECT_EQ(Told(), 1);
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE)));
}

TEST_F(DrainTest, WaitsForAReceiver) {
  ConnectPair({.min_rnr_nak = 12});
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 64));
  pair_.Settle();
  Drain();
  PostRecv(64);
  pair_.Advance(640'000 - 1);
  EXPECT_EQ(Told(), 0);
  pair_.Advance(1);
  EXPECT_EQ(Told(), 1);
}

TEST_F(DrainTest, PeerIsServedMeanwhile) {
  ConnectPair();
  Drain();
  remote_.driver().Poke(remote_.mr, 0, Pattern(64));
  SendWr wr{.opcode = VCX_WQE_RDMA_WRITE, .sges = {remote_.mr.At(0, 64)}};
  wr.remote_va = local_.mr.options.va;
  wr.rkey = local_.mr.key();
  remote_.driver().Send(remote_.qp, wr);
  pair_.Settle();
  EXPECT_EQ(local_.driver().Peek(local_.mr, 0, 64), Pattern(64));
  EXPECT_EQ(remote_.driver().PollAll(remote_.send_cq).size(), 1u);
}

// The next time is another one.
TEST_F(DrainTest, TellsOnceEachTime) {
  ConnectPair();
  for (int i = 0; i < 3; ++i) {
    local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
    pair_.Settle();
    Drain();
    EXPECT_EQ(Told(), 1);
    GoOn();
  }
  EXPECT_EQ(Sent().size(), 3u);
}

TEST_F(DrainTest, ErrorEndsItWithoutThatEvent) {
  ConnectPair();
  HoldAnswers();
  SendWr bad = Wr(VCX_WQE_RDMA_WRITE, 64);
  bad.rkey ^= 1;
  local_.driver().PostSend(local_.qp, bad);
  SendWr fenced = Wr(VCX_WQE_RDMA_WRITE, 64);
  fenced.fence = VCX_WQE_FM_STRONG_ORDER;
  local_.driver().Send(local_.qp, fenced);
  pair_.Settle();
  Drain();
  pair_.OnFrame(nullptr);
  pair_.ReleaseHeld();
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_REMOTE_ACCESS),
                                  SendFailed(VCX_SYNDROME_FLUSHED)));
  EXPECT_EQ(Told(), 0);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
}

}  // namespace
}  // namespace vcx
