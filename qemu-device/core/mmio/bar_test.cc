/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "mmio/bar.h"

#include "testing/command_test.h"
#include "version.h"

namespace vcx {
namespace {

class BarTest : public CommandTest {
 protected:
  uint32_t Read(uint64_t offset) { return d.port().ReadRegister(offset); }
  void Write(uint64_t offset, uint32_t value) {
    d.port().WriteRegister(offset, value);
  }
};

TEST_F(BarTest, ShowsVersionAndInterfaceRevision) {
  EXPECT_EQ(Read(0x000), uint32_t{kFirmwareMinor} << 16 | kFirmwareMajor);
  EXPECT_EQ(Read(0x004) >> 16, 5u);
  EXPECT_EQ(Read(0x230), kFirmwareVersion);
  EXPECT_NE(kFirmwareVersion, 0xffffffffu);
}

TEST_F(BarTest, KeepsShowingTheSizesOfTheCommandQueue) {
  Write(0x010, 0x12345678);
  Write(0x014, 0x9abcd000);
  EXPECT_EQ(Read(0x010), 0x12345678u);
  const uint32_t low = Read(0x014);
  EXPECT_EQ(low & 0xfffff000, 0x9abcd000u);
  EXPECT_EQ(VCX_CMDQ_LOG_SLOTS(low), 5u);
  EXPECT_EQ(VCX_CMDQ_LOG_STRIDE(low), 6u);
  EXPECT_EQ(VCX_CMDQ_NIC_STATE(low), VCX_NIC_STATE_FULL);
}

TEST_F(BarTest, CountsARequestForAnotherNicState) {
  Write(0x014, VCX_NIC_STATE_DISABLED << 8);
  EXPECT_EQ(m.Counter("mmio_unknown"), 1u);
  EXPECT_EQ(VCX_CMDQ_NIC_STATE(Read(0x014)), VCX_NIC_STATE_FULL);
}

TEST_F(BarTest, IsReadyAndHealthy) {
  EXPECT_EQ(Read(0x1fc), 0u);
  EXPECT_EQ(Read(0xff8), 0u);
  EXPECT_EQ(Read(0xffc), 0u);
  for (uint64_t offset = 0x200; offset < 0x240; offset += 4) {
    if (offset == 0x230) continue;
    EXPECT_EQ(Read(offset), 0u) << offset;
  }
}

TEST_F(BarTest, HealthCounterMovesWithTheClock) {
  const uint32_t first = Read(0x1010);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(Read(0x1010), first);
  m.host.now += 50'000'000;
  EXPECT_GT(Read(0x1010), first);
}

TEST_F(BarTest, TimerIsTheClock) {
  m.host.now = 0x1234'5678'9abc;
  EXPECT_EQ(Read(0x1000), 0x1234u);
  EXPECT_EQ(Read(0x1004), 0x56789abcu);
  // As one access of 64 bits, big-endian like everything else.
  EXPECT_EQ(__builtin_bswap64(m.device.BarRead(0x1000, 8)), 0x123456789abcu);
}

TEST_F(BarTest, ReadsPartsOfRegisters) {
  // fw_ver is 01 00 00 00 in memory order.
  EXPECT_EQ(m.device.BarRead(0x230, 1), kFirmwareVersion >> 24);
  EXPECT_EQ(m.device.BarRead(0x233, 1), kFirmwareVersion & 0xff);
  EXPECT_EQ(m.device.BarRead(0x004, 2), 0x0500u);  // 00 05 in memory
  EXPECT_EQ(m.device.BarRead(0x23d, 1), 0u);       // the syndrome, a byte
  EXPECT_EQ(m.Counter("mmio_unknown"), 0u);
}

TEST_F(BarTest, CountsAccessesThatMakeNoSense) {
  m.device.SetTrace(1ull << VCX_TRACE_MMIO_UNKNOWN);
  const uint64_t end = m.device.bar_bytes();
  uint64_t expected = 0;
  const auto expect_one_more = [&] {
    EXPECT_EQ(m.Counter("mmio_unknown"), ++expected);
    EXPECT_EQ(m.host.traces.size(), expected);
  };
  EXPECT_EQ(m.device.BarRead(end, 4), 0u);
  expect_one_more();
  EXPECT_EQ(m.device.BarRead(UINT64_MAX - 3, 4), 0u);
  expect_one_more();
  EXPECT_EQ(m.device.BarRead(2, 4), 0u);  // misaligned
  expect_one_more();
  EXPECT_EQ(m.device.BarRead(0, 3), 0u);
  expect_one_more();
  EXPECT_EQ(m.device.BarRead(0x2010, 4), 0u);  // behind the segment
  expect_one_more();
  EXPECT_EQ(m.device.BarRead(uint64_t{d.uar()} * 4096, 4), 0u);  // write-only
  expect_one_more();
  m.device.BarWrite(end, 1, 4);
  expect_one_more();
  m.device.BarWrite(0x010, 1, 2);
  expect_one_more();
  m.device.BarWrite(0x000, 1, 4);  // read-only
  expect_one_more();
  m.device.BarWrite(0x3ff8, 1, 8);
  expect_one_more();
}

TEST_F(BarTest, TakesTheQueueAddressAsOneAccess) {
  m.device.BarWrite(0x010, __builtin_bswap64(0x1'2345'6000), 8);
  EXPECT_EQ(Read(0x010), 1u);
  EXPECT_EQ(Read(0x014) & ~0xfffu, 0x23456000u);
}

// ---- UAR pages
// ------------------------------------------------------------------

TEST_F(BarTest, RefusesDoorbellsOnPagesThatNobodyHas) {
  m.device.SetTrace(1ull << VCX_TRACE_DOORBELL_REFUSED);
  const uint64_t doorbells = m.Counter("doorbells");
  d.WriteUar64(d.uar() + 1, VCX_UAR_SQ, 0x1234500);
  EXPECT_EQ(m.Counter("doorbells_refused"), 1u);
  EXPECT_EQ(m.Counter("doorbells"), doorbells);  // the data path saw nothing
  EXPECT_TRUE(m.host.Traced(VCX_TRACE_DOORBELL_REFUSED));
  const uint32_t uar = d.MustNumber(VCX_CMD_ALLOC_UAR);
  d.MustNumber(VCX_CMD_DEALLOC_UAR, uar);
  d.WriteUar32(uar, VCX_UAR_EQ_ARM, 0x01000000);
  EXPECT_EQ(m.Counter("doorbells_refused"), 2u);
}

TEST_F(BarTest, RefusesDoorbellsOnAnotherPageThanTheObjects) {
  const uint32_t other = d.MustNumber(VCX_CMD_ALLOC_UAR);
  FakeCq cq = d.NewCq();
  FakeQp qp = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  d.WriteUar64(other, VCX_UAR_SQ, uint64_t{qp.number} << 8);
  d.WriteUar64(other, VCX_UAR_CQ_ARM, cq.number);
  d.WriteUar32(other, VCX_UAR_EQ_ARM, d.completion_eq().number << 24);
  EXPECT_EQ(m.Counter("doorbells_refused"), 3u);
}

class BarHalvesTest : public BarTest {
 protected:
  BarHalvesTest() : cq(d.NewCq()) {}

  uint32_t ArmState() {
    const auto out = d.ExecuteNumber(VCX_CMD_QUERY_CQ, cq.number, 0, 0x110)
                         .As<vcx_query_cq_out>();
    return VCX_GET(&out.cqc, VCX_CQC_ST);
  }

  FakeCq cq;
};

TEST_F(BarHalvesTest, PutsTheHalvesOfADoorbellTogether) {
  d.WriteUar32(d.uar(), VCX_UAR_CQ_ARM, 0);
  EXPECT_EQ(ArmState(), VCX_CQ_ST_FIRED);
  d.WriteUar32(d.uar(), VCX_UAR_CQ_ARM + 4, cq.number);
  EXPECT_EQ(ArmState(), VCX_CQ_ST_ARMED);
  EXPECT_EQ(m.Counter("doorbells_refused"), 0u);
}

TEST_F(BarHalvesTest, KeepsHalvesOfDifferentRegistersApart) {
  FakeQp a = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  FakeQp b = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  FakeMr mr = d.NewMr();
  Connect(d, a, d, b);
  d.PostSend(a, {.opcode = VCX_WQE_RDMA_WRITE,
                 .sges = {mr.At(0, 8)},
                 .remote_va = mr.options.va + 64,
                 .rkey = mr.key()});
  m.host.Put(a.doorbell_record + 4, vcx_be32(a.sq_pi));
  d.WriteUar32(d.uar(), VCX_UAR_SQ + 0x300, 0);
  d.WriteUar32(d.uar(), VCX_UAR_CQ_ARM, VCX_CQ_ARM_SOLICITED);
  d.WriteUar32(d.uar(), VCX_UAR_SQ + 0x304, a.number << 8);
  d.WriteUar32(d.uar(), VCX_UAR_CQ_ARM + 4, cq.number);
  m.Settle();
  EXPECT_EQ(d.PollAll(cq).size(), 1u);
  EXPECT_EQ(ArmState(), VCX_CQ_ST_SOLICITED_ARMED);
}

TEST_F(BarHalvesTest, RefusesASecondHalfAlone) {
  d.WriteUar32(d.uar(), VCX_UAR_CQ_ARM + 4, cq.number);
  EXPECT_EQ(m.Counter("doorbells_refused"), 1u);
  EXPECT_EQ(ArmState(), VCX_CQ_ST_FIRED);
  // A first half serves one second half.
  d.WriteUar32(d.uar(), VCX_UAR_CQ_ARM, 0);
  d.WriteUar32(d.uar(), VCX_UAR_CQ_ARM + 4, cq.number);
  d.WriteUar32(d.uar(), VCX_UAR_CQ_ARM + 4, cq.number);
  EXPECT_EQ(m.Counter("doorbells_refused"), 2u);
}

TEST_F(BarHalvesTest, RefusesWritesBesideTheRegisters) {
  for (const uint32_t at : {0u, 0x10u, 0x28u, 0x44u, 0x100u, 0x7f8u, 0x808u})
    d.WriteUar32(d.uar(), at, 1);
  EXPECT_EQ(m.Counter("doorbells_refused"), 7u);
  d.WriteUar64(d.uar(), 0x30, 1);
  EXPECT_EQ(m.Counter("doorbells_refused"), 8u);
}

TEST_F(BarTest, RefusesDoorbellsWhileBusMasteringIsOff) {
  m.device.SetBusMaster(false);
  d.ArmEq(d.completion_eq());
  EXPECT_EQ(m.Counter("doorbells_refused"), 1u);
}

TEST(BarSizeTest, HoldsTheSegmentAndAllUars) {
  for (const uint32_t max_uar : {1u, 4u, 1000u, 65536u}) {
    vcx_core_config config = TestConfig();
    config.max_uar = max_uar;
    TestMachine m(config);
    const uint64_t bytes = m.device.bar_bytes();
    EXPECT_TRUE(std::has_single_bit(bytes));
    EXPECT_GE(bytes, (uint64_t{VCX_UAR_FIRST_PAGE} + max_uar) * 4096);
  }
}

}  // namespace
}  // namespace vcx
