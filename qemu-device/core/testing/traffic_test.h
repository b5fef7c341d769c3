/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// traffic_test.h - fixture of the data path's tests: two devices, a connected
// RC QP on each, memory and completion queues. `local` posts, `remote` is the
// peer; Loopback puts both QPs on one device instead.
#ifndef VCX_CORE_TESTING_TRAFFIC_TEST_H_
#define VCX_CORE_TESTING_TRAFFIC_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "testing/two_devices.h"

namespace vcx {

struct Side {
  TestMachine* machine = nullptr;
  FakeCq send_cq, recv_cq;
  FakeMr mr;
  FakeQp qp;

  FakeDriver& driver() const { return machine->driver; }
};

class TrafficTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kMrBytes = 256 * 1024;
  static constexpr uint64_t kMs = 1'000'000;

  TrafficTest() = default;
  // The wires of the devices have these fault plans.
  TrafficTest(const char* faults_a, const char* faults_b)
      : pair_(TwoDevices::WireConfig(TwoDevices::kGuidA, faults_a),
              TwoDevices::WireConfig(TwoDevices::kGuidB, faults_b)) {}

  void SetUp() override {
    MakeSide(pair_.a, local_);
    MakeSide(pair_.b, remote_);
  }

  static void MakeSide(TestMachine& machine, Side& side,
                       QpOptions options = {}) {
    side.machine = &machine;
    side.send_cq = machine.driver.NewCq();
    side.recv_cq = machine.driver.NewCq();
    side.mr = machine.driver.NewMr({.bytes = kMrBytes});
    options.send_cqn = side.send_cq.number;
    options.recv_cqn = side.recv_cq.number;
    side.qp = machine.driver.NewQp(options);
  }

  void ConnectPair(Connection connection = {}) {
    Connect(local_.driver(), local_.qp, remote_.driver(), remote_.qp,
            connection);
  }

  // Both QPs on device a.
  void ConnectLoopback(Connection connection = {}) {
    MakeSide(pair_.a, remote_);
    ConnectPair(connection);
  }

  // A send WQE of this kind from local offset 0 to remote offset `to`.
  SendWr Wr(uint8_t opcode, uint32_t bytes, uint64_t to = 0) {
    SendWr wr{.opcode = opcode, .imm = 0x1234'5678};
    if (bytes != 0) wr.sges = {local_.mr.At(0, bytes)};
    wr.remote_va = remote_.mr.options.va + to;
    wr.rkey = remote_.mr.key();
    return wr;
  }

  void PostRecv(uint32_t bytes, uint64_t at = 0) {
    remote_.driver().PostRecv(remote_.qp, {remote_.mr.At(at, bytes)});
  }

  std::vector<WorkCompletion> Sent() {
    return local_.driver().PollAll(local_.send_cq);
  }
  std::vector<WorkCompletion> Received() {
    return remote_.driver().PollAll(remote_.recv_cq);
  }
  vcx_qp_state LocalState() { return local_.driver().State(local_.qp); }
  vcx_qp_state RemoteState() { return remote_.driver().State(remote_.qp); }

  TwoDevices pair_;
  Side local_, remote_;
};

MATCHER_P(SendIs, opcode, "") {
  return arg.opcode == VCX_CQE_REQ && arg.send_opcode == opcode;
}
MATCHER_P(SendFailed, syndrome, "") {
  return arg.opcode == VCX_CQE_REQ_ERR && arg.syndrome == syndrome;
}
MATCHER_P(ReceiveFailed, syndrome, "") {
  return arg.opcode == VCX_CQE_RESP_ERR && arg.syndrome == syndrome;
}

}  // namespace vcx

#endif  // VCX_CORE_TESTING_TRAFFIC_TEST_H_
