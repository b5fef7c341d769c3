/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "device.h"

#include "testing/command_test.h"
#include "testing/two_devices.h"

namespace vcx {
namespace {

constexpr const char* kObjectCounters[] = {
    "objects_pd", "objects_uar",  "objects_counter_set", "objects_eq",
    "objects_cq", "objects_mkey", "objects_qp",          "objects_page"};

class DeviceTest : public CommandTest {
 protected:
  // Something of everything, and work that waits for a timer.
  void MakeObjects() {
    cq = d.NewCq();
    mr = d.NewMr();
    d.MustNumber(VCX_CMD_ALLOC_Q_COUNTER);
    a = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
    b = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
    Connect(d, a, d, b);
    d.Send(a, {.opcode = VCX_WQE_SEND, .sges = {mr.At(0, 64)}});
    m.Settle();  // b has no receive: a waits
    ASSERT_NE(m.host.deadline, VCX_CORE_NO_DEADLINE);
  }

  FakeCq cq;
  FakeMr mr;
  FakeQp a, b;
};

TEST_F(DeviceTest, ResetForgetsEverything) {
  MakeObjects();
  m.device.SetTrace(1ull << VCX_TRACE_RESET);
  m.device.Reset(VCX_RESET_FUNCTION);
  for (const char* name : kObjectCounters) EXPECT_EQ(m.Counter(name), 0u);
  EXPECT_EQ(m.host.deadline, VCX_CORE_NO_DEADLINE);
  ASSERT_EQ(m.host.traces.size(), 1u);
  EXPECT_EQ(m.host.traces[0].args[0], VCX_RESET_FUNCTION);
  EXPECT_EQ(d.port().ReadRegister(0x010), 0u);
  EXPECT_EQ(d.port().ReadRegister(0x014) >> 12, 0u);

  // The command queue is gone too, and nothing moves.
  const uint64_t reads = m.host.dma_reads;
  const uint64_t writes = m.host.dma_writes;
  m.device.SetBusMaster(true);
  d.port().Ring(0xffffffff);
  m.Settle();
  m.device.TimerFired();
  EXPECT_EQ(m.host.dma_reads, reads);
  EXPECT_EQ(m.host.dma_writes, writes);
}

TEST_F(DeviceTest, StartsAnewAfterAReset) {
  MakeObjects();
  for (const vcx_reset_reason reason :
       {VCX_RESET_SYSTEM, VCX_RESET_FUNCTION, VCX_RESET_UNPLUG}) {
    m.device.Reset(reason);
    FakeDriver again(m.host, m.device);
    again.Start();
    again.Stop();
  }
}

TEST_F(DeviceTest, DoesNothingWhileBusMasteringIsOff) {
  MakeObjects();
  d.Send(a, {.opcode = VCX_WQE_SEND, .sges = {mr.At(0, 64)}});
  m.device.SetBusMaster(false);
  const uint64_t reads = m.host.dma_reads;
  const uint64_t writes = m.host.dma_writes;
  const auto interrupts = m.host.interrupts;
  EXPECT_FALSE(m.device.Run(1000));
  m.host.now += 10'000'000'000;
  m.device.TimerFired();
  m.device.WireReady();
  m.device.SetLink(false);
  m.device.SetLink(true);
  const Frame frame(100);
  m.device.Receive(frame.data(), frame.size());
  EXPECT_EQ(m.host.dma_reads, reads);
  EXPECT_EQ(m.host.dma_writes, writes);
  EXPECT_EQ(m.host.interrupts, interrupts);
  EXPECT_EQ(m.Counter("drop_port_down"), 1u);
}

TEST_F(DeviceTest, GoesOnWhenBusMasteringComesBack) {
  MakeObjects();
  m.device.SetBusMaster(false);
  m.host.now += 1'000'000;
  m.device.SetBusMaster(true);
  EXPECT_TRUE(m.host.kicked);
  d.PostRecv(b, {mr.At(1024, 64)});
  m.Settle();
  m.Advance(1'000'000'000);
  EXPECT_EQ(d.PollAll(cq).size(), 2u);
}

TEST_F(DeviceTest, TellsTheDriverOnceWhenTheLinkChanges) {
  m.device.SetLink(true);  // it is up already
  EXPECT_FALSE(d.NextEvent(d.async_eq()).has_value());
  m.device.SetLink(false);
  m.device.SetLink(false);
  std::optional<vcx_eqe> event = d.NextEvent(d.async_eq());
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, VCX_EVENT_PORT_CHANGE);
  EXPECT_EQ(event->sub_type, VCX_PORT_EVENT_DOWN);
  EXPECT_EQ(event->data.port.port, 1 << 4);
  EXPECT_FALSE(d.NextEvent(d.async_eq()).has_value());
  m.device.SetLink(true);
  event = d.NextEvent(d.async_eq());
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->sub_type, VCX_PORT_EVENT_ACTIVE);
}

TEST(DeviceLinkTest, TellsNobodyBeforeInit) {
  TestMachine m;
  m.device.SetBusMaster(true);
  m.device.SetLink(false);
  EXPECT_EQ(m.Counter("events_lost"), 0u);
  m.device.SetLink(true);
}

TEST_F(DeviceTest, ReadsAsManyCountersAsFit) {
  const size_t num = m.device.ReadCounters(nullptr, 0);
  EXPECT_EQ(num, std::size(kObjectCounters) + kNumCounters);
  std::vector<vcx_core_counter> some(3);
  EXPECT_EQ(m.device.ReadCounters(some.data(), some.size()), num);
  EXPECT_STREQ(some[0].name, "objects_pd");
  std::set<std::string> names;
  std::vector<vcx_core_counter> all(num);
  m.device.ReadCounters(all.data(), all.size());
  for (const vcx_core_counter& c : all) names.insert(c.name);
  EXPECT_EQ(names.size(), num);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(DeviceTwoTest, TwoInOneProcessKnowNothingOfEachOther) {
  TestMachine one(TestConfig(0x1111'0000'0000'0001));
  TestMachine two(TestConfig(0x2222'0000'0000'0002));
  one.driver.Start();
  two.driver.Start();
  const FakeCq cq = one.driver.NewCq();
  EXPECT_EQ(one.Counter("objects_cq"), 1u);
  EXPECT_EQ(two.Counter("objects_cq"), 0u);
  EXPECT_NE(one.driver.lid(), two.driver.lid());
  one.device.Reset(VCX_RESET_SYSTEM);
  EXPECT_EQ(two.Counter("objects_eq"), 3u);
  EXPECT_EQ(two.driver.RefusalOf(VCX_CMD_DESTROY_CQ, cq.number),
            VCX_REFUSED_CQ_NUMBER);
  two.driver.Stop();
}

}  // namespace
}  // namespace vcx
