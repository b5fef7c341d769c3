/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Every kind of packet at every place of a message lost, damaged, doubled, late
// and overtaken; and the nanosecond at which the message is complete all the
// same. Time passes only where a test lets it.
#include <string>

#include "datapath/retry.h"
#include "testing/traffic_test.h"
#include "wire/fault.h"

namespace vcx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kMtu = 256;
constexpr uint8_t kAckTimeout = 10;
const uint64_t kTimeoutNs = Retry::AckTimeoutNs(kAckTimeout);
constexpr uint64_t kDelayNs = 100'000;     // below the timeout
constexpr uint64_t kLateNs = 100'000'000;  // above it

struct RecoveryCase {
  std::string name;
  uint8_t opcode;
  uint32_t packets;  // of the message: requests, or responses of a read
  std::string faults_a, faults_b;
  uint64_t done_ns;  // when the send completes
};

std::ostream& operator<<(std::ostream& out, const RecoveryCase& c) {
  return out << c.name;
}

const struct {
  const char* name;
  uint8_t opcode;
} kOperations[] = {
    {"Send", VCX_WQE_SEND},         {"SendImm", VCX_WQE_SEND_IMM},
    {"Write", VCX_WQE_RDMA_WRITE},  {"WriteImm", VCX_WQE_RDMA_WRITE_IMM},
    {"Read", VCX_WQE_RDMA_READ},
};

// What happens to a packet, and when the message is then complete: at once when
// a later packet shows the gap, else by a timer.
const struct {
  const char* name;
  const char* kind;
  const char* amount;
  uint64_t seen_ns;    // a later packet of the same direction follows
  uint64_t unseen_ns;  // it is the last one
} kFaults[] = {
    {"Lost", "drop", "", 0, kTimeoutNs},
    {"Damaged", "corrupt", "", 0, kTimeoutNs},
    {"Doubled", "duplicate", "", 0, 0},
    {"Delayed", "delay", ":100us", 0, kDelayNs},
    {"VeryLate", "delay", ":100ms", 0, kTimeoutNs},
    {"Overtaken", "reorder", "", 0, FaultWire::kOvertakeNs},
};

std::vector<RecoveryCase> AllCases() {
  std::vector<RecoveryCase> cases;
  for (const auto& operation : kOperations) {
    const bool read = operation.opcode == VCX_WQE_RDMA_READ;
    for (uint32_t packets : {1u, 2u, 4u}) {
      const uint32_t requests = read ? 1 : packets;
      const uint32_t answers = read ? packets : 1;
      for (uint32_t i = 0; i < requests + answers; ++i) {
        const bool from_a = i < requests;
        const uint32_t place = from_a ? i : i - requests;
        const bool last = place + 1 == (from_a ? requests : answers);
        for (const auto& fault : kFaults) {
          const std::string plan = std::string(fault.kind) +
                                   (from_a ? "@request#" : "@answer#") +
                                   std::to_string(place + 1) + fault.amount;
          cases.push_back(
              {std::string(operation.name) + std::to_string(packets) +
                   (from_a ? "Request" : "Answer") + std::to_string(place + 1) +
                   fault.name,
               operation.opcode, packets, from_a ? plan : "",
               from_a ? "" : plan, last ? fault.unseen_ns : fault.seen_ns});
        }
      }
    }
  }
  return cases;
}

class RecoveryTest : public TrafficTest,
                     public ::testing::WithParamInterface<RecoveryCase> {
 protected:
  RecoveryTest()
      : TrafficTest(GetParam().faults_a.c_str(), GetParam().faults_b.c_str()) {}

  uint64_t Faults() const {
    uint64_t n = 0;
    for (const char* name :
         {"fault_dropped", "fault_corrupted", "fault_duplicated",
          "fault_delayed", "fault_reordered"})
      n += pair_.a.Counter(name) + pair_.b.Counter(name);
    return n;
  }
};

TEST_P(RecoveryTest, CompletesAtThisVeryTime) {
  const RecoveryCase& c = GetParam();
  // The sequence numbers wrap on the way.
  ConnectPair({.mtu_code = 1,
               .send_psn = 0xfffffe,
               .recv_psn = 0xffffff,
               .retry_count = 1,
               .ack_timeout = kAckTimeout});
  const bool read = c.opcode == VCX_WQE_RDMA_READ;
  const uint32_t bytes = c.packets * kMtu - 3;
  const std::vector<uint8_t> data = Pattern(bytes);
  Side& source = read ? remote_ : local_;
  Side& target = read ? local_ : remote_;
  source.driver().Poke(source.mr, 0, data);
  PostRecv(bytes);
  local_.driver().Send(local_.qp, Wr(c.opcode, bytes));
  pair_.Settle();
  if (c.done_ns != 0) {
    pair_.Advance(c.done_ns - 1);
    EXPECT_THAT(Sent(), IsEmpty());
    pair_.Advance(1);
  }
  EXPECT_THAT(Sent(), ElementsAre(SendIs(c.opcode)));
  EXPECT_EQ(target.driver().Peek(target.mr, 0, bytes), data);
  EXPECT_EQ(pair_.a.Counter("timeouts"), c.done_ns == kTimeoutNs ? 1u : 0u);
  EXPECT_EQ(Faults(), 1u);

  // What is still on its way changes nothing any more.
  target.driver().Poke(target.mr, 0, std::vector<uint8_t>(bytes));
  pair_.Advance(2 * kLateNs);
  EXPECT_EQ(target.driver().Peek(target.mr, 0, bytes),
            std::vector<uint8_t>(bytes));
  EXPECT_THAT(Sent(), IsEmpty());
  const bool receives = !read && c.opcode != VCX_WQE_RDMA_WRITE;
  EXPECT_EQ(Received().size(), receives ? 1u : 0u);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
  EXPECT_EQ(RemoteState(), VCX_QP_STATE_RTS);
  // Nor is there a gap: the next message needs no timer.
  PostRecv(8);
  local_.driver().Send(local_.qp, Wr(c.opcode, 8));
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(c.opcode)));
}

INSTANTIATE_TEST_SUITE_P(All, RecoveryTest, ::testing::ValuesIn(AllCases()),
                         [](const auto& info) { return info.param.name; });

// ---- NAKs -------------------------------------------------------------------

struct NakCase {
  const char* name;
  const char* fault;     // what happens to the NAK
  uint64_t done_ns;      // sequence NAK
  uint64_t rnr_done_ns;  // RNR NAK with a pause of kPauseNs
  uint64_t retries;      // times that the requester goes back for the former
};

constexpr uint8_t kPauseCode = 16;
constexpr uint64_t kPauseNs = 2'560'000;

// A NAK is not repeated: when it is lost, the requester's timer must find out.
const NakCase kNakCases[] = {
    {"Arrives", "drop@nak#9", 0, kPauseNs, 1},
    {"Lost", "drop", kTimeoutNs, kTimeoutNs, 1},
    {"Damaged", "corrupt", kTimeoutNs, kTimeoutNs, 1},
    {"Doubled", "duplicate", 0, kPauseNs, 1},
    {"Delayed", "delay:100us", kDelayNs, kDelayNs + kPauseNs, 1},
    {"VeryLate", "delay:100ms", kTimeoutNs, kTimeoutNs, 1},
    {"Overtaken", "reorder", FaultWire::kOvertakeNs,
     FaultWire::kOvertakeNs + kPauseNs, 1},
};

std::string NakPlan(const char* fault, const char* packet) {
  const std::string text = fault;
  if (text.find('@') != std::string::npos) return text;
  const size_t colon = text.find(':');
  std::string plan = text.substr(0, colon) + "@" + packet + "#1";
  if (colon != std::string::npos) plan += text.substr(colon);
  return plan;
}

class NakTest : public TrafficTest,
                public ::testing::WithParamInterface<NakCase> {
 protected:
  explicit NakTest(const char* faults_a, const char* packet)
      : TrafficTest(faults_a, NakPlan(GetParam().fault, packet).c_str()) {}

  void SendAndExpectAt(uint8_t opcode, uint32_t bytes, uint64_t done_ns) {
    local_.driver().Send(local_.qp, Wr(opcode, bytes));
    pair_.Settle();
    if (opcode == VCX_WQE_SEND) PostRecv(bytes);  // too late
    if (done_ns != 0) {
      pair_.Advance(done_ns - 1);
      EXPECT_THAT(Sent(), IsEmpty());
      pair_.Advance(1);
    }
    EXPECT_THAT(Sent(), ElementsAre(SendIs(opcode)));
    pair_.Advance(2 * kLateNs);
    EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
    EXPECT_EQ(RemoteState(), VCX_QP_STATE_RTS);
  }
};

class SequenceNakTest : public NakTest {
 protected:
  SequenceNakTest() : NakTest("drop@write-middle#1", "nak") {}
};

TEST_P(SequenceNakTest, BringsTheRequesterBack) {
  ConnectPair({.mtu_code = 1, .retry_count = 1, .ack_timeout = kAckTimeout});
  SendAndExpectAt(VCX_WQE_RDMA_WRITE, 4 * kMtu, GetParam().done_ns);
  EXPECT_EQ(pair_.a.Counter("retries"), GetParam().retries);
  EXPECT_EQ(pair_.b.Counter("naks_sent"), 1u);
}
INSTANTIATE_TEST_SUITE_P(All, SequenceNakTest, ::testing::ValuesIn(kNakCases),
                         [](const auto& info) { return info.param.name; });

class RnrNakTest : public NakTest {
 protected:
  RnrNakTest() : NakTest(nullptr, "rnr-nak") {}
};

TEST_P(RnrNakTest, PausesTheRequester) {
  ConnectPair({.mtu_code = 1,
               .retry_count = 1,
               .rnr_retry = 1,
               .ack_timeout = kAckTimeout,
               .min_rnr_nak = kPauseCode});
  SendAndExpectAt(VCX_WQE_SEND, 4 * kMtu, GetParam().rnr_done_ns);
}
INSTANTIATE_TEST_SUITE_P(All, RnrNakTest, ::testing::ValuesIn(kNakCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace vcx
