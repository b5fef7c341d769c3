/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// UARs, PDs, counter sets.
#include "testing/command_test.h"

namespace vcx {
namespace {

vcx_core_config SmallConfig() {
  vcx_core_config config = TestConfig();
  config.max_pd = 16;
  config.max_uar = 8;
  return config;
}

class SmallObjectsTest : public CommandTest {
 protected:
  SmallObjectsTest() : CommandTest(SmallConfig()) {}

  // Allocates until nothing is left, then gives everything back.
  void FillAndEmpty(uint16_t alloc, uint16_t dealloc, uint32_t none_left,
                    uint32_t number_refusal, size_t expected) {
    std::vector<uint32_t> numbers;
    Reply reply;
    while ((reply = d.ExecuteNumber(alloc)).ok())
      numbers.push_back(reply.As<vcx_number_out>().number.get());
    EXPECT_EQ(reply.syndrome, none_left);
    EXPECT_EQ(reply.status, VCX_STATUS_LIMIT);
    EXPECT_EQ(numbers.size(), expected);
    EXPECT_EQ(std::set<uint32_t>(numbers.begin(), numbers.end()).size(),
              expected);
    for (const uint32_t number : numbers) {
      d.MustNumber(dealloc, number);
      EXPECT_EQ(d.RefusalOf(dealloc, number), number_refusal);
    }
    for (const uint32_t bad : {0u, 0xffffffu})
      EXPECT_EQ(d.RefusalOf(dealloc, bad), number_refusal);
    d.MustNumber(dealloc, d.MustNumber(alloc));
  }
};

// The driver holds one of each already.
TEST_F(SmallObjectsTest, Pds) {
  FillAndEmpty(VCX_CMD_ALLOC_PD, VCX_CMD_DEALLOC_PD, VCX_REFUSED_PD_NONE_LEFT,
               VCX_REFUSED_PD_NUMBER, 15);
}

TEST_F(SmallObjectsTest, Uars) {
  FillAndEmpty(VCX_CMD_ALLOC_UAR, VCX_CMD_DEALLOC_UAR,
               VCX_REFUSED_UAR_NONE_LEFT, VCX_REFUSED_UAR_NUMBER, 7);
}

TEST_F(SmallObjectsTest, UarsLieBehindTheSegmentAndInTheBar) {
  for (int i = 0; i < 7; ++i) {
    const uint32_t uar = d.MustNumber(VCX_CMD_ALLOC_UAR);
    EXPECT_GE(uar, 3u);
    EXPECT_LT(uint64_t{uar} * 4096, m.device.bar_bytes());
  }
}

TEST_F(SmallObjectsTest, UarIsHeldByAnEq) {
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DEALLOC_UAR, d.uar()), VCX_REFUSED_UAR_IN_USE);
}

TEST_F(SmallObjectsTest, CounterSets) {
  FillAndEmpty(VCX_CMD_ALLOC_Q_COUNTER, VCX_CMD_DEALLOC_Q_COUNTER,
               VCX_REFUSED_COUNTER_NONE_LEFT, VCX_REFUSED_COUNTER_NUMBER, 64);
}

class QCounterTest : public CommandTest {
 protected:
  vcx_query_q_counter_out Query(uint32_t set, bool clear = false) {
    auto in = MakeInput<vcx_query_q_counter_in>(VCX_CMD_QUERY_Q_COUNTER);
    in.fixed.counter_set_id = set;
    if (clear) in.fixed.clear = VCX_QUERY_Q_COUNTER_CLEAR;
    const Reply reply = d.Execute(in, sizeof(vcx_query_q_counter_out));
    EXPECT_TRUE(reply.ok());
    return reply.As<vcx_query_q_counter_out>();
  }
  static uint32_t Value(const vcx_query_q_counter_out& out,
                        vcx_q_counter counter) {
    return out.dw[counter / 4 - 2].get();
  }
};

TEST_F(QCounterTest, CountsForTheQpsThatNameTheSet) {
  const uint32_t set = d.MustNumber(VCX_CMD_ALLOC_Q_COUNTER);
  const uint32_t other = d.MustNumber(VCX_CMD_ALLOC_Q_COUNTER);
  FakeCq cq = d.NewCq();
  FakeMr mr = d.NewMr();
  FakeQp a = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  FakeQp b = d.NewQp(
      {.send_cqn = cq.number, .recv_cqn = cq.number, .counter_set = set});
  Connect(d, a, d, b);
  for (int i = 0; i < 3; ++i)
    d.Send(a, {.opcode = VCX_WQE_RDMA_WRITE,
               .sges = {mr.At(0, 8)},
               .remote_va = mr.options.va + 64,
               .rkey = mr.key()});
  m.Settle();
  EXPECT_EQ(Value(Query(set), VCX_Q_COUNTER_RX_WRITE_REQUESTS), 3u);
  EXPECT_EQ(Value(Query(other), VCX_Q_COUNTER_RX_WRITE_REQUESTS), 0u);
  EXPECT_EQ(Value(Query(set, true), VCX_Q_COUNTER_RX_WRITE_REQUESTS), 3u);
  EXPECT_EQ(Value(Query(set), VCX_Q_COUNTER_RX_WRITE_REQUESTS), 0u);
}

TEST_F(QCounterTest, IsHeldByItsQps) {
  const uint32_t set = d.MustNumber(VCX_CMD_ALLOC_Q_COUNTER);
  FakeCq cq = d.NewCq();
  FakeQp qp = d.NewQp(
      {.send_cqn = cq.number, .recv_cqn = cq.number, .counter_set = set});
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DEALLOC_Q_COUNTER, set),
            VCX_REFUSED_COUNTER_IN_USE);
  d.MustNumber(VCX_CMD_DESTROY_QP, qp.number);
  d.MustNumber(VCX_CMD_DEALLOC_Q_COUNTER, set);
}

TEST_F(QCounterTest, RefusesToReadWhatIsNotThere) {
  auto in = MakeInput<vcx_query_q_counter_in>(VCX_CMD_QUERY_Q_COUNTER);
  in.fixed.counter_set_id = 9u;
  EXPECT_EQ(d.Refusal(in, 0x100), VCX_REFUSED_COUNTER_NUMBER);
}

}  // namespace
}  // namespace vcx
