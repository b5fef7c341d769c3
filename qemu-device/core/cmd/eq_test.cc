/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// CREATE_EQ, QUERY_EQ, DESTROY_EQ.
#include "testing/command_test.h"

namespace vcx {
namespace {

class EqTest : public CommandTest {
 protected:
  vcx_query_eq_out Query(uint32_t number) {
    const Reply reply =
        d.ExecuteNumber(VCX_CMD_QUERY_EQ, number, 0, sizeof(vcx_query_eq_out));
    EXPECT_TRUE(reply.ok());
    return reply.As<vcx_query_eq_out>();
  }
  // The refusal of an input after one field of the context was changed.
  template <class Spoil>
  uint32_t RefusalAfter(Spoil spoil) {
    auto in = d.EqInput(d.PrepareEq());
    spoil(in);
    const uint64_t before = m.Counter("objects_eq");
    const uint32_t refusal = d.Refusal(in);
    EXPECT_EQ(m.Counter("objects_eq"), before);
    return refusal;
  }
};

TEST_F(EqTest, ReportsWhatItWasMadeWith) {
  FakeEq eq = d.NewEq({.log_size = 9, .vector = 3, .events = 0x1fb3e});
  const vcx_query_eq_out out = Query(eq.number);
  EXPECT_EQ(VCX_GET(&out.eqc, VCX_EQC_LOG_SIZE), 9u);
  EXPECT_EQ(VCX_GET(&out.eqc, VCX_EQC_INTR), 3u);
  EXPECT_EQ(VCX_GET(&out.eqc, VCX_EQC_UAR_PAGE), d.uar());
  EXPECT_EQ(VCX_GET(&out.eqc, VCX_EQC_STATUS), VCX_EQ_STATUS_OK);
  EXPECT_EQ(VCX_GET(&out.eqc, VCX_EQC_ST), VCX_EQ_ST_FIRED);
  EXPECT_EQ(out.event_bitmask[0].get(), 0x1fb3eu);
  d.ArmEq(eq);
  const vcx_query_eq_out armed = Query(eq.number);
  EXPECT_EQ(VCX_GET(&armed.eqc, VCX_EQC_ST), VCX_EQ_ST_ARMED);
}

TEST_F(EqTest, ReportsItsCounters) {
  const vcx_query_eq_out before = Query(d.command_eq().number);
  const vcx_query_eq_out after = Query(d.command_eq().number);
  EXPECT_EQ(VCX_GET(&after.eqc, VCX_EQC_PRODUCER_COUNTER),
            VCX_GET(&before.eqc, VCX_EQC_PRODUCER_COUNTER) + 1);
  EXPECT_EQ(VCX_GET(&after.eqc, VCX_EQC_CONSUMER_COUNTER),
            VCX_GET(&before.eqc, VCX_EQC_CONSUMER_COUNTER) + 1);
}

TEST_F(EqTest, TakesMemoryInAnyPageSizeAndAtAnOffset) {
  for (const uint8_t log_page : {12, 13, 16, 21}) {
    FakeEq eq = d.PrepareEq(
        {.events = 1ull << VCX_EVENT_PORT_CHANGE, .log_page = log_page});
    const uint32_t unit = (1u << log_page) / 64;
    eq.ring = m.host.AllocBuffer(64 * 64, log_page, 63 * unit);
    for (int i = 0; i < 64; ++i)
      m.host.Put(eq.ring.At(static_cast<uint64_t>(i) * 64 + 63), uint8_t{1});
    eq.number = d.Must(d.EqInput(eq));
    // Around the end of the first page, where the second entry lies.
    for (int i = 0; i < 3; ++i) {
      m.device.SetLink(false);
      m.device.SetLink(true);
      const std::optional<vcx_eqe> down = d.NextEvent(eq);
      const std::optional<vcx_eqe> up = d.NextEvent(eq);
      ASSERT_TRUE(down && up) << int{log_page};
      EXPECT_EQ(down->sub_type, VCX_PORT_EVENT_DOWN);
      EXPECT_EQ(up->sub_type, VCX_PORT_EVENT_ACTIVE);
      EXPECT_EQ(up->data.port.port, 1 << 4);
    }
    d.MustNumber(VCX_CMD_DESTROY_EQ, eq.number);
  }
}

TEST_F(EqTest, RefusesWhatItCannotBe) {
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { VCX_SET(&in.fixed.eqc, VCX_EQC_LOG_SIZE, 23); }),
            VCX_REFUSED_EQ_LOG_SIZE);
  EXPECT_EQ(
      RefusalAfter([](auto& in) { VCX_SET(&in.fixed.eqc, VCX_EQC_INTR, 4); }),
      VCX_REFUSED_EQ_VECTOR);
  EXPECT_EQ(RefusalAfter(
                [](auto& in) { VCX_SET(&in.fixed.eqc, VCX_EQC_UAR_PAGE, 0); }),
            VCX_REFUSED_UAR_NUMBER);
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.eqc, VCX_EQC_LOG_PAGE_SIZE, 20);
            }),
            VCX_REFUSED_QUEUE_PAGE_SIZE);
  EXPECT_EQ(RefusalAfter([](auto& in) { in.list.clear(); }),
            VCX_REFUSED_QUEUE_PAGES);
  // 64 entries fill a page: at an offset they need another.
  EXPECT_EQ(RefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.eqc, VCX_EQC_PAGE_OFFSET, 1);
            }),
            VCX_REFUSED_QUEUE_PAGES);
  EXPECT_EQ(RefusalAfter([](auto& in) { in.list[0] += 64; }),
            VCX_REFUSED_QUEUE_PAGE_ALIGN);
}

TEST_F(EqTest, FillsItsTableToTheBrimAndEmptiesIt) {
  std::vector<uint32_t> numbers;
  for (uint64_t i = m.Counter("objects_eq"); i < 128; ++i)
    numbers.push_back(d.NewEq().number);
  EXPECT_EQ(std::set<uint32_t>(numbers.begin(), numbers.end()).size(),
            numbers.size());
  EXPECT_LE(*std::max_element(numbers.begin(), numbers.end()), 0xffu);
  EXPECT_EQ(d.Refusal(d.EqInput(d.PrepareEq())), VCX_REFUSED_EQ_NONE_LEFT);
  for (const uint32_t number : numbers)
    d.MustNumber(VCX_CMD_DESTROY_EQ, number);
  d.NewEq();
}

TEST_F(EqTest, IsNotDestroyedWhileACqReportsToIt) {
  FakeEq eq = d.NewEq();
  FakeCq cq = d.NewCq({.eqn = eq.number});
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DESTROY_EQ, eq.number), VCX_REFUSED_EQ_IN_USE);
  d.MustNumber(VCX_CMD_DESTROY_CQ, cq.number);
  d.MustNumber(VCX_CMD_DESTROY_EQ, eq.number);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DESTROY_EQ, eq.number), VCX_REFUSED_EQ_NUMBER);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_QUERY_EQ, eq.number, 0, 0x110),
            VCX_REFUSED_EQ_NUMBER);
}

TEST_F(EqTest, ListsOfPagesHaveALimitOverAllQueues) {
  // 2^22 entries of 64 bytes: 65536 addresses, of 2^25 in all. The device does
  // not look at the pages, so they need not exist.
  auto in = d.EqInput(d.PrepareEq());
  VCX_SET(&in.fixed.eqc, VCX_EQC_LOG_SIZE, 22);
  in.list.assign(65536, 0x1000);
  const uint32_t eqn = d.Must(in);
  // The rest goes to CQs of 2^22 entries of 128 bytes.
  auto cq_in = d.CqInput(d.PrepareCq({.cqe128 = true}));
  VCX_SET(&cq_in.fixed.cqc, VCX_CQC_LOG_SIZE, 22);
  cq_in.list.assign(131072, 0x1000);
  const std::vector<uint8_t> bytes = cq_in.Bytes();
  Reply reply;
  uint32_t cqn = 0;
  int cqs = 0;
  while ((reply = d.Execute(bytes, 16)).ok()) {
    cqn = reply.As<vcx_number_out>().number.get();
    ++cqs;
  }
  EXPECT_EQ(reply.syndrome, VCX_REFUSED_PAGE_LISTS);
  EXPECT_EQ(reply.status, VCX_STATUS_LIMIT);
  EXPECT_EQ(cqs, 255);  // of 256: the EQ and the driver's queues have a part
  // What is given back can be taken again, by other objects too.
  d.MustNumber(VCX_CMD_DESTROY_CQ, cqn);
  d.MustNumber(VCX_CMD_DESTROY_EQ, eqn);
  EXPECT_TRUE(d.Execute(bytes, 16).ok());
}

}  // namespace
}  // namespace vcx
