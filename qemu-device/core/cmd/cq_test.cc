/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// CREATE_CQ, QUERY_CQ, MODIFY_CQ, DESTROY_CQ.
#include "testing/command_test.h"

namespace vcx {
namespace {

class CqTest : public CommandTest {
 protected:
  vcx_cqc Query(uint32_t number) {
    const Reply reply =
        d.ExecuteNumber(VCX_CMD_QUERY_CQ, number, 0, sizeof(vcx_query_cq_out));
    EXPECT_TRUE(reply.ok());
    return reply.As<vcx_query_cq_out>().cqc;
  }
  template <class Spoil>
  uint32_t RefusalAfter(Spoil spoil, CqOptions options = {}) {
    auto in = d.CqInput(d.PrepareCq(options));
    spoil(in);
    const uint64_t before = m.Counter("objects_cq");
    const uint32_t refusal = d.Refusal(in);
    EXPECT_EQ(m.Counter("objects_cq"), before);
    return refusal;
  }
  Input<vcx_modify_cq_in> ModifyInput(const FakeCq& cq, uint32_t fields,
                                      uint16_t op_mod = 0) {
    auto in = MakeInput<vcx_modify_cq_in>(VCX_CMD_MODIFY_CQ, op_mod);
    in.fixed.cqn = cq.number;
    in.fixed.field_select = fields;
    return in;
  }
  // A resize as drivers send it, into fresh memory.
  Input<vcx_modify_cq_in> ResizeInput(const FakeCq& cq, FakeCq& larger) {
    larger = d.PrepareCq(
        {.log_size = larger.options.log_size, .cqe128 = cq.options.cqe128});
    auto in = ModifyInput(cq,
                          VCX_MODIFY_CQ_LOG_SIZE | VCX_MODIFY_CQ_PAGE_OFFSET |
                              VCX_MODIFY_CQ_LOG_PAGE_SIZE,
                          VCX_MODIFY_CQ_OP_RESIZE);
    in.fixed.cqc = d.CqInput(larger).fixed.cqc;
    in.list = larger.ring.pages;
    return in;
  }
  FakeCq OfLogSize(uint8_t log_size) {
    FakeCq cq;
    cq.options.log_size = log_size;
    return cq;
  }
  // QPs a and b, connected, with this CQ for both.
  void ConnectPair(const FakeCq& cq) {
    const QpOptions options{.send_cqn = cq.number, .recv_cqn = cq.number};
    a = d.NewQp(options);
    b = d.NewQp(options);
    mr = d.NewMr();
    Connect(d, a, d, b);
  }
  void WriteOnce() {
    d.Send(a, {.opcode = VCX_WQE_RDMA_WRITE,
               .sges = {mr.At(0, 8)},
               .remote_va = mr.options.va + 64,
               .rkey = mr.key()});
    m.Settle();
  }

  FakeQp a, b;
  FakeMr mr;
};

TEST_F(CqTest, ReportsWhatItWasMadeWith) {
  FakeCq cq = d.NewCq({.log_size = 7,
                       .cqe128 = true,
                       .ignore_overrun = true,
                       .period_us = 77,
                       .max_count = 3});
  const vcx_cqc cqc = Query(cq.number);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_LOG_SIZE), 7u);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_CQE_SZ), VCX_CQE_SZ_128);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_OI), 1u);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_EQN), d.completion_eq().number);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_UAR_PAGE), d.uar());
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_PERIOD), 77u);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_MAX_COUNT), 3u);
  EXPECT_EQ(VCX_GET64(&cqc, VCX_CQC_DBR_ADDR), cq.doorbell_record);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_STATUS), VCX_CQ_STATUS_OK);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_ST), VCX_CQ_ST_FIRED);
}

TEST_F(CqTest, ReportsHowItIsArmedAndWhereItStands) {
  FakeCq cq = d.NewCq();
  ConnectPair(cq);
  WriteOnce();
  d.Arm(cq, true);
  vcx_cqc cqc = Query(cq.number);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_ST), VCX_CQ_ST_SOLICITED_ARMED);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_PRODUCER_COUNTER), 1u);
  EXPECT_TRUE(d.Poll(cq).has_value());
  d.Arm(cq);
  cqc = Query(cq.number);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_ST), VCX_CQ_ST_ARMED);
}

TEST_F(CqTest, CanBeMadeArmed) {
  auto in = d.CqInput(d.PrepareCq());
  VCX_SET(&in.fixed.cqc, VCX_CQC_ST, VCX_CQ_ST_ARMED);
  const vcx_cqc cqc = Query(d.Must(in));
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_ST), VCX_CQ_ST_ARMED);
}

TEST_F(CqTest, RefusesWhatItCannotBe) {
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { VCX_SET(&in.fixed.cqc, VCX_CQC_LOG_SIZE, 23); }),
            VCX_REFUSED_CQ_LOG_SIZE);
  EXPECT_EQ(
      RefusalAfter([](auto& in) { VCX_SET(&in.fixed.cqc, VCX_CQC_CQE_SZ, 2); }),
      VCX_REFUSED_CQ_CQE_SIZE);
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.cqc, VCX_CQC_PERIOD_MODE, 2);
            }),
            VCX_REFUSED_CQ_PERIOD_MODE);
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { VCX_SET(&in.fixed.cqc, VCX_CQC_UAR_PAGE, 3); }),
            VCX_REFUSED_UAR_NUMBER);
  EXPECT_EQ(
      RefusalAfter([](auto& in) { VCX_SET(&in.fixed.cqc, VCX_CQC_EQN, 77); }),
      VCX_REFUSED_EQ_NUMBER);
  // The number is 32 bits wide here; its upper bytes are no other EQ's.
  EXPECT_EQ(RefusalAfter([this](auto& in) {
              VCX_SET(&in.fixed.cqc, VCX_CQC_EQN,
                      0x100 | d.completion_eq().number);
            }),
            VCX_REFUSED_EQ_NUMBER);
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET64(&in.fixed.cqc, VCX_CQC_DBR_ADDR, 0x10004);
            }),
            VCX_REFUSED_DOORBELL_RECORD);
}

TEST_F(CqTest, RefusesMemoryThatIsNotEnough) {
  EXPECT_EQ(RefusalAfter([](auto& in) { in.list.pop_back(); }),
            VCX_REFUSED_QUEUE_PAGES);
  EXPECT_EQ(RefusalAfter([](auto& in) { in.list[0] |= 0x800; }),
            VCX_REFUSED_QUEUE_PAGE_ALIGN);
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.cqc, VCX_CQC_LOG_PAGE_SIZE, 31);
            }),
            VCX_REFUSED_QUEUE_PAGE_SIZE);
  // Entries of 128 bytes do not begin at odd multiples of 64.
  EXPECT_EQ(
      RefusalAfter(
          [](auto& in) { VCX_SET(&in.fixed.cqc, VCX_CQC_PAGE_OFFSET, 1); },
          {.cqe128 = true}),
      VCX_REFUSED_QUEUE_OFFSET);
  // 2^22 entries with a list for 64.
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { VCX_SET(&in.fixed.cqc, VCX_CQC_LOG_SIZE, 22); }),
            VCX_REFUSED_QUEUE_PAGES);
}

TEST_F(CqTest, IsNotDestroyedWhileAQpCompletesToIt) {
  FakeCq send = d.NewCq();
  FakeCq recv = d.NewCq();
  FakeQp qp = d.NewQp({.send_cqn = send.number, .recv_cqn = recv.number});
  for (const uint32_t number : {send.number, recv.number})
    EXPECT_EQ(d.RefusalOf(VCX_CMD_DESTROY_CQ, number), VCX_REFUSED_CQ_IN_USE);
  d.MustNumber(VCX_CMD_DESTROY_QP, qp.number);
  for (const uint32_t number : {send.number, recv.number}) {
    d.MustNumber(VCX_CMD_DESTROY_CQ, number);
    EXPECT_EQ(d.RefusalOf(VCX_CMD_DESTROY_CQ, number), VCX_REFUSED_CQ_NUMBER);
    EXPECT_EQ(d.RefusalOf(VCX_CMD_QUERY_CQ, number, 0, 0x110),
              VCX_REFUSED_CQ_NUMBER);
  }
}

TEST_F(CqTest, LetsGoOfItsEqAndUar) {
  const uint32_t uar = d.MustNumber(VCX_CMD_ALLOC_UAR);
  FakeEq eq = d.NewEq();
  FakeCq cq = d.NewCq({.eqn = eq.number, .uar = uar});
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DEALLOC_UAR, uar), VCX_REFUSED_UAR_IN_USE);
  d.MustNumber(VCX_CMD_DESTROY_CQ, cq.number);
  d.MustNumber(VCX_CMD_DEALLOC_UAR, uar);
  d.MustNumber(VCX_CMD_DESTROY_EQ, eq.number);
}

// ---- MODIFY_CQ
// ---------------------------------------------------------------

TEST_F(CqTest, TakesModerationFieldByField) {
  FakeCq cq = d.NewCq({.period_us = 10, .max_count = 20});
  auto in = ModifyInput(cq, VCX_MODIFY_CQ_PERIOD);
  VCX_SET(&in.fixed.cqc, VCX_CQC_PERIOD, 4095);
  VCX_SET(&in.fixed.cqc, VCX_CQC_MAX_COUNT, 99);
  VCX_SET(&in.fixed.cqc, VCX_CQC_OI, 1);
  VCX_SET(&in.fixed.cqc, VCX_CQC_PERIOD_MODE, 1);
  d.Must(in);
  vcx_cqc cqc = Query(cq.number);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_PERIOD), 4095u);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_MAX_COUNT), 20u);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_OI), 0u);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_PERIOD_MODE), 0u);

  in.fixed.field_select =
      VCX_MODIFY_CQ_MAX_COUNT | VCX_MODIFY_CQ_OI | VCX_MODIFY_CQ_PERIOD_MODE;
  d.Must(in);
  cqc = Query(cq.number);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_MAX_COUNT), 99u);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_OI), 1u);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_PERIOD_MODE), 1u);
}

TEST_F(CqTest, ModerationDelaysTheEvent) {
  FakeCq cq = d.NewCq();
  ConnectPair(cq);
  auto in = ModifyInput(cq, VCX_MODIFY_CQ_PERIOD | VCX_MODIFY_CQ_MAX_COUNT |
                                VCX_MODIFY_CQ_PERIOD_MODE);
  VCX_SET(&in.fixed.cqc, VCX_CQC_PERIOD_MODE, 1);  // from the entry
  VCX_SET(&in.fixed.cqc, VCX_CQC_PERIOD, 100);
  VCX_SET(&in.fixed.cqc, VCX_CQC_MAX_COUNT, 3);
  d.Must(in);
  d.Arm(cq);
  WriteOnce();
  WriteOnce();
  EXPECT_FALSE(d.NextEvent(d.completion_eq()).has_value());
  WriteOnce();
  EXPECT_TRUE(d.NextEvent(d.completion_eq()).has_value());
}

TEST_F(CqTest, RefusesModificationsThatItDoesNotKnow) {
  FakeCq cq = d.NewCq();
  EXPECT_EQ(d.Refusal(ModifyInput(cq, 0)), VCX_REFUSED_CQ_FIELD_SELECT);
  EXPECT_EQ(d.Refusal(ModifyInput(cq, 0x08)), VCX_REFUSED_CQ_FIELD_SELECT);
  EXPECT_EQ(d.Refusal(ModifyInput(cq, 0x01, 2)), VCX_REFUSED_OP_MOD);
  auto mode = ModifyInput(cq, VCX_MODIFY_CQ_PERIOD_MODE);
  VCX_SET(&mode.fixed.cqc, VCX_CQC_PERIOD_MODE, 3);
  EXPECT_EQ(d.Refusal(mode), VCX_REFUSED_CQ_PERIOD_MODE);
  auto nobody = ModifyInput(cq, 0x01);
  nobody.fixed.cqn = cq.number + 1;
  EXPECT_EQ(d.Refusal(nobody), VCX_REFUSED_CQ_NUMBER);
}

TEST_F(CqTest, GoesOnInTheNewQueueAfterAResize) {
  FakeCq cq = d.NewCq({.log_size = 2});
  ConnectPair(cq);
  for (int i = 0; i < 3; ++i) WriteOnce();
  FakeCq larger = OfLogSize(4);
  d.Must(ResizeInput(cq, larger));

  // The old queue ends with a RESIZE entry; the new one goes on counting.
  for (int i = 0; i < 3; ++i) {
    const std::optional<WorkCompletion> c = d.Poll(cq);
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(c->opcode, VCX_CQE_REQ);
  }
  const std::optional<WorkCompletion> last = d.Poll(cq);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->opcode, VCX_CQE_RESIZE);

  const vcx_cqc cqc = Query(cq.number);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_LOG_SIZE), 4u);
}

TEST_F(CqTest, RefusesAResizeBelowWhatIsOutstanding) {
  FakeCq cq = d.NewCq({.log_size = 3});
  ConnectPair(cq);
  for (int i = 0; i < 3; ++i) WriteOnce();
  FakeCq smaller = OfLogSize(1);  // two entries
  const Reply reply = d.Execute(ResizeInput(cq, smaller), 16);
  EXPECT_EQ(reply.status, VCX_STATUS_BAD_SIZE_OUTS_CQES);
  EXPECT_EQ(reply.syndrome, VCX_REFUSED_CQ_RESIZE_TOO_SMALL);
  EXPECT_EQ(d.PollAll(cq).size(), 3u);
  FakeCq again = OfLogSize(1);
  d.Must(ResizeInput(cq, again));
}

TEST_F(CqTest, RefusesAResizeOfAFullQueue) {
  FakeCq cq = d.NewCq({.log_size = 1});
  ConnectPair(cq);
  WriteOnce();
  WriteOnce();
  FakeCq larger = OfLogSize(5);
  EXPECT_EQ(d.Refusal(ResizeInput(cq, larger)), VCX_REFUSED_CQ_RESIZE_FULL);
  EXPECT_EQ(d.PollAll(cq).size(), 2u);
  d.Must(ResizeInput(cq, larger));
}

TEST_F(CqTest, RefusesResizesThatCannotBe) {
  FakeCq cq = d.NewCq();
  FakeCq larger = OfLogSize(7);
  auto no_size = ResizeInput(cq, larger);
  no_size.fixed.field_select = VCX_MODIFY_CQ_PAGE_OFFSET;
  EXPECT_EQ(d.Refusal(no_size), VCX_REFUSED_CQ_FIELD_SELECT);
  auto unknown = ResizeInput(cq, larger);
  unknown.fixed.field_select = 0x1f;
  EXPECT_EQ(d.Refusal(unknown), VCX_REFUSED_CQ_FIELD_SELECT);
  auto stride = ResizeInput(cq, larger);
  VCX_SET(&stride.fixed.cqc, VCX_CQC_CQE_SZ, VCX_CQE_SZ_128);
  EXPECT_EQ(d.Refusal(stride), VCX_REFUSED_CQ_RESIZE_CQE_SIZE);
  auto huge = ResizeInput(cq, larger);
  VCX_SET(&huge.fixed.cqc, VCX_CQC_LOG_SIZE, 23);
  EXPECT_EQ(d.Refusal(huge), VCX_REFUSED_CQ_LOG_SIZE);
  auto pages = ResizeInput(cq, larger);
  pages.list.pop_back();
  EXPECT_EQ(d.Refusal(pages), VCX_REFUSED_QUEUE_PAGES);
  const vcx_cqc cqc = Query(cq.number);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_LOG_SIZE), 6u);
}

TEST_F(CqTest, KeepsTheOldQueueWhenTheBusRefusesTheResize) {
  FakeCq cq = d.NewCq({.log_size = 3});
  ConnectPair(cq);
  FakeCq larger = OfLogSize(5);
  auto in = ResizeInput(cq, larger);
  m.host.FailDma(cq.doorbell_record, 8, FakeHost::kFailRead);
  EXPECT_EQ(d.Refusal(in), VCX_REFUSED_CQ_RESIZE_DMA);
  m.host.HealDma();
  m.host.FailDma(cq.ring.At(0), 64, FakeHost::kFailWrite);
  EXPECT_EQ(d.Refusal(in), VCX_REFUSED_CQ_RESIZE_DMA);
  m.host.HealDma();
  WriteOnce();
  EXPECT_EQ(d.PollAll(cq).size(), 1u);
}

TEST_F(CqTest, RefusesToResizeAQueueThatHasFailed) {
  FakeCq cq = d.NewCq({.log_size = 1});
  ConnectPair(cq);
  for (int i = 0; i < 3; ++i) WriteOnce();
  const vcx_cqc cqc = Query(cq.number);
  EXPECT_EQ(VCX_GET(&cqc, VCX_CQC_STATUS), VCX_CQ_STATUS_OVERFLOW);
  FakeCq larger = OfLogSize(5);
  EXPECT_EQ(d.Refusal(ResizeInput(cq, larger)), VCX_REFUSED_CQ_FAILED);
}

TEST(CqTableTest, FillsToTheBrimAndEmpties) {
  vcx_core_config config = TestConfig();
  config.max_cq = 32;
  TestMachine m(config);
  m.driver.Start();
  std::vector<uint32_t> numbers;
  for (int i = 0; i < 32; ++i) numbers.push_back(m.driver.NewCq().number);
  EXPECT_EQ(m.driver.Refusal(m.driver.CqInput(m.driver.PrepareCq())),
            VCX_REFUSED_CQ_NONE_LEFT);
  for (const uint32_t n : numbers) m.driver.MustNumber(VCX_CMD_DESTROY_CQ, n);
  EXPECT_EQ(m.Counter("objects_cq"), 0u);
  m.driver.NewCq();
}

}  // namespace
}  // namespace vcx
