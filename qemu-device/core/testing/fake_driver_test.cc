/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The test library itself, end to end: what every other test stands on.
#include "testing/fake_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/two_devices.h"

namespace vcx {
namespace {

TEST(FakeDriverTest, StartsAndStopsWithoutLeavingObjects) {
  TestMachine m;
  m.driver.Start();
  EXPECT_EQ(m.Counter("objects_eq"), 3u);
  m.driver.Stop();
  for (const char* name : {"objects_pd", "objects_uar", "objects_eq",
                           "objects_cq", "objects_mkey", "objects_qp"})
    EXPECT_EQ(m.Counter(name), 0u) << name;
}

TEST(FakeDriverTest, SendsToItselfOverLoopback) {
  TestMachine m;
  m.driver.Start();
  FakeCq cq = m.driver.NewCq();
  FakeMr mr = m.driver.NewMr({.bytes = 16384});
  const QpOptions options{.send_cqn = cq.number, .recv_cqn = cq.number};
  FakeQp a = m.driver.NewQp(options);
  FakeQp b = m.driver.NewQp(options);
  Connect(m.driver, a, m.driver, b);

  const std::vector<uint8_t> data = Pattern(5000);
  m.driver.Poke(mr, 0, data);
  m.driver.PostRecv(b, {mr.At(8192, 6000)});
  m.driver.Send(a, {.opcode = VCX_WQE_SEND, .sges = {mr.At(0, 5000)}});
  m.Settle();

  EXPECT_EQ(m.driver.Peek(mr, 8192, data.size()), data);
  const std::vector<WorkCompletion> done = m.driver.PollAll(cq);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].opcode, VCX_CQE_RESP_SEND);
  EXPECT_EQ(done[0].byte_count, data.size());
  EXPECT_EQ(done[1].opcode, VCX_CQE_REQ);
}

TEST(FakeDriverTest, TwoDevicesTalkOverTheWire) {
  TwoDevices pair;
  FakeCq cq_a = pair.a.driver.NewCq();
  FakeCq cq_b = pair.b.driver.NewCq();
  FakeMr mr_a = pair.a.driver.NewMr();
  FakeMr mr_b = pair.b.driver.NewMr();
  FakeQp qp_a =
      pair.a.driver.NewQp({.send_cqn = cq_a.number, .recv_cqn = cq_a.number});
  FakeQp qp_b =
      pair.b.driver.NewQp({.send_cqn = cq_b.number, .recv_cqn = cq_b.number});
  Connect(pair.a.driver, qp_a, pair.b.driver, qp_b);

  const std::vector<uint8_t> data = Pattern(1000, 7);
  pair.a.driver.Poke(mr_a, 0, data);
  pair.a.driver.Send(qp_a, {.opcode = VCX_WQE_RDMA_WRITE,
                            .sges = {mr_a.At(0, 1000)},
                            .remote_va = mr_b.options.va + 100,
                            .rkey = mr_b.key()});
  pair.Settle();

  EXPECT_EQ(pair.b.driver.Peek(mr_b, 100, data.size()), data);
  EXPECT_EQ(pair.a.driver.PollAll(cq_a).size(), 1u);
  EXPECT_GE(pair.carried(), 2u);
}

}  // namespace
}  // namespace vcx
