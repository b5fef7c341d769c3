/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Messages of every kind and length arrive whole, over the link and over
// loopback: requester, responder and completer together.
#include "testing/traffic_test.h"

namespace vcx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct MessageCase {
  uint8_t opcode;
  uint32_t bytes;
  uint8_t mtu_code;
  bool loopback;
};

class MessageTest : public TrafficTest,
                    public ::testing::WithParamInterface<MessageCase> {};

TEST_P(MessageTest, ArrivesWhole) {
  const MessageCase& c = GetParam();
  const Connection connection{.mtu_code = c.mtu_code,
                              .send_psn = 0xfffffe,  // wraps on the way
                              .recv_psn = 0xfffffe};
  if (c.loopback)
    ConnectLoopback(connection);
  else
    ConnectPair(connection);

  const bool read = c.opcode == VCX_WQE_RDMA_READ;
  const bool has_imm =
      c.opcode == VCX_WQE_SEND_IMM || c.opcode == VCX_WQE_RDMA_WRITE_IMM;
  const bool sends = c.opcode == VCX_WQE_SEND || c.opcode == VCX_WQE_SEND_IMM;
  const std::vector<uint8_t> data = Pattern(c.bytes);
  Side& source = read ? remote_ : local_;
  Side& target = read ? local_ : remote_;
  source.driver().Poke(source.mr, 0, data);
  if (sends || has_imm) PostRecv(c.bytes + 1);
  local_.driver().Send(local_.qp, Wr(c.opcode, c.bytes));
  pair_.Settle();

  EXPECT_EQ(target.driver().Peek(target.mr, 0, c.bytes), data);
  EXPECT_EQ(target.driver().Peek(target.mr, c.bytes, 1),
            std::vector<uint8_t>{0});
  EXPECT_THAT(Sent(), ElementsAre(SendIs(c.opcode)));
  const std::vector<WorkCompletion> received = Received();
  ASSERT_EQ(received.size(), sends || has_imm ? 1u : 0u);
  if (received.empty()) return;
  EXPECT_EQ(received[0].byte_count, c.bytes);
  EXPECT_EQ(received[0].opcode, !sends    ? VCX_CQE_RESP_WRITE_IMM
                                : has_imm ? VCX_CQE_RESP_SEND_IMM
                                          : VCX_CQE_RESP_SEND);
  if (has_imm) {
    EXPECT_EQ(received[0].imm, 0x1234'5678u);
  }
}

std::vector<MessageCase> AllMessages() {
  std::vector<MessageCase> cases;
  for (uint8_t opcode : {VCX_WQE_SEND, VCX_WQE_SEND_IMM, VCX_WQE_RDMA_WRITE,
                         VCX_WQE_RDMA_WRITE_IMM, VCX_WQE_RDMA_READ})
    for (uint32_t bytes : {0u, 1u, 255u, 256u, 257u, 4096u, 4097u, 200'003u})
      for (uint8_t mtu_code : {uint8_t{1}, uint8_t{5}})
        for (bool loopback : {false, true})
          cases.push_back({opcode, bytes, mtu_code, loopback});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, MessageTest, ::testing::ValuesIn(AllMessages()));

class RequesterTest : public TrafficTest {};

TEST_F(RequesterTest, GathersFromManySegments) {
  ConnectPair({.mtu_code = 1});
  const std::vector<uint8_t> data = Pattern(3000);
  local_.driver().Poke(local_.mr, 0, data);
  SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 0);
  wr.sges = {local_.mr.At(0, 1), local_.mr.At(1, 999), local_.mr.At(1000, 0),
             local_.mr.At(1000, 2000)};
  local_.driver().Send(local_.qp, wr);
  pair_.Settle();
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, 3000), data);
}

TEST_F(RequesterTest, SendsInlineData) {
  ConnectPair();
  SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 0);
  wr.inline_data = Pattern(200);
  local_.driver().Send(local_.qp, wr);
  pair_.Settle();
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, 200), wr.inline_data);
}

TEST_F(RequesterTest, UnsignalledIsSilent) {
  ConnectPair();
  SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 64);
  wr.signaled = false;
  local_.driver().Send(local_.qp, wr);
  pair_.Settle();
  EXPECT_THAT(Sent(), IsEmpty());
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  EXPECT_EQ(Sent().size(), 1u);
}

TEST_F(RequesterTest, NopCompletesInOrder) {
  ConnectPair();
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  local_.driver().Send(local_.qp, {.opcode = VCX_WQE_NOP});
  pair_.Settle();
  EXPECT_THAT(Sent(),
              ElementsAre(SendIs(VCX_WQE_RDMA_WRITE), SendIs(VCX_WQE_NOP)));
}

// A fenced WQE is not begun before earlier reads have their data.
TEST_F(RequesterTest, FenceWaitsForReads) {
  ConnectPair();
  bool hold_responses = true;
  pair_.OnFrame([&](Frame&, bool from_a) {
    return !from_a && hold_responses ? WireAction::kHold : WireAction::kDeliver;
  });
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_READ, 64));
  SendWr fenced = Wr(VCX_WQE_RDMA_WRITE, 64, 8192);
  fenced.fence = VCX_WQE_FM_FENCE;
  local_.driver().Send(local_.qp, fenced);
  pair_.Settle();
  EXPECT_EQ(pair_.b.Counter("packets_received"), 1u);
  hold_responses = false;
  pair_.ReleaseHeld();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_READ),
                                  SendIs(VCX_WQE_RDMA_WRITE)));
}

TEST_F(RequesterTest, KeepsToItsReadDepth) {
  ConnectPair({.log_sra_max = 1, .log_rra_max = 1});
  pair_.OnFrame([](Frame&, bool from_a) {
    return from_a ? WireAction::kDeliver : WireAction::kHold;
  });
  for (int i = 0; i < 5; ++i)
    local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_READ, 64));
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  EXPECT_EQ(pair_.b.Counter("packets_received"), 2u);
}

// A local fault is reported after all that stands before it.
TEST_F(RequesterTest, LocalFaultComesInItsTurn) {
  ConnectPair();
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  SendWr bad = Wr(VCX_WQE_RDMA_WRITE, 64);
  bad.sges[0].lkey ^= 1;  // another variant of the key
  local_.driver().PostSend(local_.qp, bad);
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  const std::vector<WorkCompletion> sent = Sent();
  EXPECT_THAT(sent, ElementsAre(SendIs(VCX_WQE_RDMA_WRITE),
                                SendFailed(VCX_SYNDROME_LOCAL_PROTECTION),
                                SendFailed(VCX_SYNDROME_FLUSHED)));
  EXPECT_EQ(sent[1].vendor_syndrome, VCX_VENDOR_KEY_INVALID);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
}

TEST_F(RequesterTest, MessageBeyondItsLimitIsALengthError) {
  ConnectPair({.log_msg_max = 12});
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 4097));
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_LOCAL_LENGTH)));
}

TEST_F(RequesterTest, UnknownOpcodeIsAQpOperationError) {
  ConnectPair();
  local_.driver().Send(local_.qp, Wr(0x7f, 64));
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_LOCAL_QP_OP)));
}

// The ring is one page of the guest that the bus refuses from now on.
TEST_F(RequesterTest, UnreadableQueueEndsTheQp) {
  ConnectPair();
  pair_.a.host.FailDma(local_.qp.buffer.At(local_.qp.rq_bytes()), 64);
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
  EXPECT_GT(pair_.a.Counter("dma_errors"), 0u);
}

TEST_F(RequesterTest, FullWireDelaysAndLosesNothing) {
  ConnectPair();
  const std::vector<uint8_t> data = Pattern(100'000);
  local_.driver().Poke(local_.mr, 0, data);
  pair_.a.host.wire_capacity = 3;
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 100'000));
  for (int i = 0; i < 50; ++i) {
    pair_.Settle();
    pair_.a.device.WireReady();
  }
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE)));
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, 100'000), data);
  EXPECT_EQ(pair_.a.Counter("retries"), 0u);
}

// The host says once that the wire takes frames again, and a reset or a device
// that is off does not hear it.
TEST_F(RequesterTest, FullWireIsForgottenWhenTheDeviceStartsAgain) {
  ConnectPair();
  pair_.a.host.wire_full = true;
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  EXPECT_EQ(pair_.a.Counter("wire_busy"), 1u);
  pair_.a.device.SetBusMaster(false);
  pair_.a.host.wire_full = false;
  pair_.a.device.WireReady();
  pair_.a.device.SetBusMaster(true);
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE)));
}

}  // namespace
}  // namespace vcx
