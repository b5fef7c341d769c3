/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// CREATE_QP, QUERY_QP, DESTROY_QP.
#include "testing/command_test.h"

namespace vcx {
namespace {

class QpTest : public CommandTest {
 protected:
  QpTest() : cq(d.NewCq()) {}

  QpOptions Options() const {
    return {.send_cqn = cq.number, .recv_cqn = cq.number};
  }
  template <class Spoil>
  uint32_t RefusalAfter(Spoil spoil) {
    return RefusalAfter(spoil, Options());
  }
  template <class Spoil>
  uint32_t RefusalAfter(Spoil spoil, QpOptions options) {
    auto in = d.QpInput(d.PrepareQp(options));
    spoil(in);
    const uint64_t before = m.Counter("objects_qp");
    const uint32_t refusal = d.Refusal(in);
    EXPECT_EQ(m.Counter("objects_qp"), before);
    return refusal;
  }

  FakeCq cq;
};

TEST_F(QpTest, BeginsInReset) {
  FakeQp qp = d.NewQp(Options());
  EXPECT_EQ(d.State(qp), VCX_QP_STATE_RST);
  EXPECT_GT(qp.number, 1u);
}

TEST_F(QpTest, ReportsWhatItWasMadeWith) {
  QpOptions options = Options();
  options.log_sq_size = 7;
  options.log_rq_size = 4;
  options.log_rq_stride = 8;
  options.user_index = 0x1234;
  FakeQp qp = d.NewQp(options);
  const vcx_qpc qpc = d.Query(qp);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_ST), VCX_QP_ST_RC);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_PD), d.pd());
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_LOG_SQ_SIZE), 7u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_LOG_RQ_SIZE), 4u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_LOG_RQ_STRIDE), 4u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_USER_INDEX), 0x1234u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_CQN_SND), cq.number);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_CQN_RCV), cq.number);
  EXPECT_EQ(VCX_GET64(&qpc, VCX_QPC_DBR_ADDR), qp.doorbell_record);
}

TEST_F(QpTest, ReportsItsPagesWhenThereIsRoom) {
  QpOptions options = Options();
  options.log_sq_size = 9;  // 32 KiB, and 2 KiB of receive queue: 9 pages
  FakeQp qp = d.NewQp(options);
  ASSERT_EQ(qp.buffer.pages.size(), 9u);
  const Reply all =
      d.ExecuteNumber(VCX_CMD_QUERY_QP, qp.number, 0, 0x110 + 9 * 8);
  for (size_t i = 0; i < 9; ++i)
    EXPECT_EQ(all.ListAt(0x110, i), qp.buffer.pages[i]);
  const Reply some =
      d.ExecuteNumber(VCX_CMD_QUERY_QP, qp.number, 0, 0x110 + 2 * 8 + 7);
  EXPECT_TRUE(some.ok());
  EXPECT_EQ(some.ListAt(0x110, 1), qp.buffer.pages[1]);
}

TEST_F(QpTest, IgnoresWhatOnlyTransitionsMaySet) {
  auto in = d.QpInput(d.PrepareQp(Options()));
  VCX_SET(&in.fixed.qpc, VCX_QPC_STATE, VCX_QP_STATE_RTS);
  VCX_SET(&in.fixed.qpc, VCX_QPC_REMOTE_QPN, 0x123);
  VCX_SET(&in.fixed.qpc, VCX_QPC_RWE, 1);
  VCX_SET(&in.fixed.qpc, VCX_QPC_MTU, 7);
  FakeQp qp;
  qp.number = d.Must(in);
  const vcx_qpc qpc = d.Query(qp);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_STATE), VCX_QP_STATE_RST);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_REMOTE_QPN), 0u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_RWE), 0u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_MTU), 0u);
}

TEST_F(QpTest, MayHaveOnlyOneQueueOrNone) {
  QpOptions no_rq = Options();
  no_rq.has_rq = false;
  no_rq.recv_cqn = 0;
  d.NewQp(no_rq);
  QpOptions no_sq = Options();
  no_sq.has_sq = false;
  no_sq.send_cqn = 0;
  d.NewQp(no_sq);
  QpOptions neither = no_rq;
  neither.has_sq = false;
  neither.send_cqn = 0;
  FakeQp qp = d.NewQp(neither);
  d.MustNumber(VCX_CMD_DESTROY_QP, qp.number);
}

TEST_F(QpTest, RefusesWhatItCannotBe) {
  for (const vcx_qp_st st : {VCX_QP_ST_UC, VCX_QP_ST_UD, VCX_QP_ST_XRC,
                             VCX_QP_ST_QP1, VCX_QP_ST_REG_UMR})
    EXPECT_EQ(RefusalAfter(
                  [st](auto& in) { VCX_SET(&in.fixed.qpc, VCX_QPC_ST, st); }),
              VCX_REFUSED_QP_SERVICE_TYPE);
  for (const uint32_t rq_type : {1u, 2u, 4u})
    EXPECT_EQ(RefusalAfter([rq_type](auto& in) {
                VCX_SET(&in.fixed.qpc, VCX_QPC_RQ_TYPE, rq_type);
              }),
              VCX_REFUSED_QP_RQ_TYPE);
  EXPECT_EQ(RefusalAfter([](auto& in) { in.fixed.qpn = 0x123u; }),
            VCX_REFUSED_QP_INPUT_NUMBER);
  // 1 KiB for a receive WQE is more than the capabilities say.
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.qpc, VCX_QPC_LOG_RQ_STRIDE, 6);
            }),
            VCX_REFUSED_QP_RQ_STRIDE);
  // Two receive WQEs of 16 bytes: the send queue would begin at 32.
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.qpc, VCX_QPC_LOG_RQ_STRIDE, 0);
              VCX_SET(&in.fixed.qpc, VCX_QPC_LOG_RQ_SIZE, 1);
            }),
            VCX_REFUSED_QP_SQ_OFFSET);
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET64(&in.fixed.qpc, VCX_QPC_DBR_ADDR, 0x1004);
            }),
            VCX_REFUSED_DOORBELL_RECORD);
}

TEST_F(QpTest, RefusesPartsThatAreNotThere) {
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { VCX_SET(&in.fixed.qpc, VCX_QPC_PD, 0xfffff); }),
            VCX_REFUSED_PD_NUMBER);
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { VCX_SET(&in.fixed.qpc, VCX_QPC_UAR_PAGE, 1); }),
            VCX_REFUSED_UAR_NUMBER);
  for (const uint32_t cqn : {0u, 0xfffffu}) {
    EXPECT_EQ(RefusalAfter([cqn](auto& in) {
                VCX_SET(&in.fixed.qpc, VCX_QPC_CQN_SND, cqn);
              }),
              VCX_REFUSED_QP_SEND_CQ);
    EXPECT_EQ(RefusalAfter([cqn](auto& in) {
                VCX_SET(&in.fixed.qpc, VCX_QPC_CQN_RCV, cqn);
              }),
              VCX_REFUSED_QP_RECV_CQ);
  }
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.qpc, VCX_QPC_COUNTER_SET_ID, 0x77);
            }),
            VCX_REFUSED_QP_COUNTER_SET);
  // A CQ that is named must be there, needed or not.
  QpOptions no_rq = Options();
  no_rq.has_rq = false;
  EXPECT_EQ(
      RefusalAfter(
          [](auto& in) { VCX_SET(&in.fixed.qpc, VCX_QPC_CQN_RCV, 0xfffff); },
          no_rq),
      VCX_REFUSED_QP_RECV_CQ);
}

TEST_F(QpTest, RefusesMemoryThatIsNotEnough) {
  EXPECT_EQ(RefusalAfter([](auto& in) { in.list.pop_back(); }),
            VCX_REFUSED_QUEUE_PAGES);
  EXPECT_EQ(RefusalAfter([](auto& in) { in.list[0] |= 0x40; }),
            VCX_REFUSED_QUEUE_PAGE_ALIGN);
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.qpc, VCX_QPC_LOG_PAGE_SIZE, 31);
            }),
            VCX_REFUSED_QUEUE_PAGE_SIZE);
  // The largest queues of all, with a list for small ones.
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.qpc, VCX_QPC_LOG_SQ_SIZE, 15);
              VCX_SET(&in.fixed.qpc, VCX_QPC_LOG_RQ_SIZE, 15);
              VCX_SET(&in.fixed.qpc, VCX_QPC_LOG_RQ_STRIDE, 5);
            }),
            VCX_REFUSED_QUEUE_PAGES);
}

TEST_F(QpTest, HoldsItsParts) {
  const uint32_t pd = d.MustNumber(VCX_CMD_ALLOC_PD);
  const uint32_t uar = d.MustNumber(VCX_CMD_ALLOC_UAR);
  QpOptions options = Options();
  options.pd = pd;
  options.uar = uar;
  FakeQp qp = d.NewQp(options);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DEALLOC_PD, pd), VCX_REFUSED_PD_IN_USE);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DEALLOC_UAR, uar), VCX_REFUSED_UAR_IN_USE);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DESTROY_CQ, cq.number), VCX_REFUSED_CQ_IN_USE);
  d.MustNumber(VCX_CMD_DESTROY_QP, qp.number);
  d.MustNumber(VCX_CMD_DEALLOC_PD, pd);
  d.MustNumber(VCX_CMD_DEALLOC_UAR, uar);
  d.MustNumber(VCX_CMD_DESTROY_CQ, cq.number);
}

TEST_F(QpTest, IsGoneOnceDestroyed) {
  FakeQp qp = d.NewQp(Options());
  d.MustNumber(VCX_CMD_DESTROY_QP, qp.number);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DESTROY_QP, qp.number), VCX_REFUSED_QP_NUMBER);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_QUERY_QP, qp.number, 0, 0x110),
            VCX_REFUSED_QP_NUMBER);
  EXPECT_EQ(d.Refusal(d.InitInput(qp)), VCX_REFUSED_QP_NUMBER);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_2ERR_QP, qp.number), VCX_REFUSED_QP_NUMBER);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_2RST_QP, qp.number), VCX_REFUSED_QP_NUMBER);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_RTS2SQD_QP, qp.number), VCX_REFUSED_QP_NUMBER);
}

TEST_F(QpTest, CanBeDestroyedInTheMiddleOfATransfer) {
  FakeQp a = d.NewQp(Options());
  FakeQp b = d.NewQp(Options());
  Connect(d, a, d, b);
  FakeMr mr = d.NewMr();
  d.Send(a, {.opcode = VCX_WQE_SEND, .sges = {mr.At(0, 64)}});  // RNR wait
  d.MustNumber(VCX_CMD_DESTROY_QP, a.number);
  m.Settle();
  m.Advance(1'000'000'000);
  d.MustNumber(VCX_CMD_DESTROY_QP, b.number);
  EXPECT_EQ(m.Counter("objects_qp"), 0u);
}

TEST_F(QpTest, AThousandAtOnceComeAndGo) {
  std::vector<FakeQp> qps;
  for (int i = 0; i < 1000; ++i) qps.push_back(d.NewQp(Options()));
  EXPECT_EQ(m.Counter("objects_qp"), 1000u);
  for (const FakeQp& qp : qps) d.MustNumber(VCX_CMD_DESTROY_QP, qp.number);
  EXPECT_EQ(m.Counter("objects_qp"), 0u);
  d.MustNumber(VCX_CMD_DESTROY_CQ, cq.number);
}

TEST(QpTableTest, FillsToTheBrimAndEmpties) {
  vcx_core_config config = TestConfig();
  config.max_qp = 16;
  TestMachine m(config);
  m.driver.Start();
  const FakeCq cq = m.driver.NewCq();
  const QpOptions options{.send_cqn = cq.number, .recv_cqn = cq.number};
  std::vector<uint32_t> numbers;
  for (int i = 0; i < 16; ++i)
    numbers.push_back(m.driver.NewQp(options).number);
  EXPECT_EQ(m.driver.Refusal(m.driver.QpInput(m.driver.PrepareQp(options))),
            VCX_REFUSED_QP_NONE_LEFT);
  for (const uint32_t n : numbers) m.driver.MustNumber(VCX_CMD_DESTROY_QP, n);
  m.driver.NewQp(options);
}

}  // namespace
}  // namespace vcx
