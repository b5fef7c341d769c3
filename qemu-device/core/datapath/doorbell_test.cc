/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Doorbells: whose they are, and what a guest may write there.
#include "testing/traffic_test.h"

namespace vcx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DoorbellTest : public TrafficTest {
 protected:
  void SetUp() override {
    TrafficTest::SetUp();
    ConnectPair();
    foreign_page_ = local_.driver().MustNumber(VCX_CMD_ALLOC_UAR);
  }
  uint64_t Refused() { return pair_.a.Counter("doorbells_refused"); }

  uint32_t foreign_page_ = 0;
};

TEST_F(DoorbellTest, SendQueueAnswersToItsOwnPageOnly) {
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 8));
  vcx_be32 producer;
  producer = local_.qp.sq_pi;
  pair_.a.host.Put(local_.qp.doorbell_record + 4, producer);
  local_.driver().WriteUar64(foreign_page_, VCX_UAR_SQ,
                             uint64_t{local_.qp.number} << 8);
  pair_.Settle();
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_EQ(Refused(), 1u);
  local_.driver().WriteUar64(local_.driver().uar(), VCX_UAR_SQ + 0x300,
                             uint64_t{local_.qp.number} << 8);
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE)));
}

TEST_F(DoorbellTest, CqAnswersToItsOwnPageOnly) {
  local_.driver().WriteUar64(foreign_page_, VCX_UAR_CQ_ARM,
                             local_.send_cq.number);
  EXPECT_EQ(Refused(), 1u);
}

TEST_F(DoorbellTest, EqAnswersToItsOwnPageOnly) {
  local_.driver().WriteUar32(foreign_page_, VCX_UAR_EQ_ARM,
                             local_.driver().completion_eq().number << 24);
  EXPECT_EQ(Refused(), 1u);
}

TEST_F(DoorbellTest, NumberThatDoesNotExistIsCounted) {
  local_.driver().WriteUar64(local_.driver().uar(), VCX_UAR_SQ,
                             uint64_t{0xffffff} << 8);
  local_.driver().WriteUar64(local_.driver().uar(), VCX_UAR_CQ_ARM, 0xffffff);
  local_.driver().WriteUar32(local_.driver().uar(), VCX_UAR_EQ_ARM, 0xff000000);
  EXPECT_EQ(Refused(), 3u);
}

TEST_F(DoorbellTest, PlaceWithoutRegisterIsCounted) {
  local_.driver().WriteUar64(local_.driver().uar(), VCX_UAR_SQ + 8, 0);
  local_.driver().WriteUar64(local_.driver().uar(), 0x100, 0);
  EXPECT_EQ(Refused(), 2u);
}

// A producer counter further ahead than the queue is long.
TEST_F(DoorbellTest, AbsurdProducerEndsTheQp) {
  local_.qp.sq_pi = 65;
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
  const auto eqe = local_.driver().NextEvent(local_.driver().async_eq());
  ASSERT_TRUE(eqe.has_value());
  EXPECT_EQ(eqe->type, VCX_EVENT_WQ_CATASTROPHIC);
}

TEST_F(DoorbellTest, UnreadableRecordEndsTheQp) {
  pair_.a.host.FailDma(local_.qp.doorbell_record, 8, FakeHost::kFailRead);
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 8));
  pair_.Settle();
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
}

TEST_F(DoorbellTest, AfterDestructionNothingAnswers) {
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 8));
  local_.driver().MustNumber(VCX_CMD_DESTROY_QP, local_.qp.number);
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  EXPECT_EQ(Refused(), 1u);
  EXPECT_EQ(pair_.carried(), 0u);
}

TEST_F(DoorbellTest, WithoutBusMasteringNothingMoves) {
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 8));
  pair_.a.device.SetBusMaster(false);
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  EXPECT_EQ(pair_.carried(), 0u);
}

}  // namespace
}  // namespace vcx
