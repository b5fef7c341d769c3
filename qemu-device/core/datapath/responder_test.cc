/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// What the responder refuses, what the requester then reports, and that
// nothing was touched.
#include "testing/traffic_test.h"
#include "wire/crc.h"
#include "wire/headers.h"

namespace vcx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ResponderTest : public TrafficTest {
 protected:
  // The write (or read) must end so, and the peer be in error with an event.
  void ExpectRefused(const SendWr& wr, uint8_t syndrome, uint8_t event) {
    local_.driver().Send(local_.qp, wr);
    pair_.Settle();
    EXPECT_THAT(Sent(), ElementsAre(SendFailed(syndrome)));
    EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
    EXPECT_EQ(RemoteState(), VCX_QP_STATE_ERR);
    bool seen = false;
    while (auto eqe = remote_.driver().NextEvent(remote_.driver().async_eq()))
      seen |= eqe->type == event;
    EXPECT_TRUE(seen);
  }

  // A write of 61 bytes whose packet says that it is something else.
  void Tell(uint8_t truth, uint8_t lie) {
    pair_.OnFrame([=](Frame& frame, bool) {
      uint8_t* lrh = &frame[14];
      if (lrh[kLrhBytes] != truth) return WireAction::kDeliver;
      lrh[kLrhBytes] = lie;
      const size_t bytes = frame.size() - 14 - kVcrcBytes;
      const uint32_t icrc = InvariantCrc(lrh, bytes - kIcrcBytes, false);
      for (size_t i = 0; i < kIcrcBytes; ++i)
        lrh[bytes - kIcrcBytes + i] = static_cast<uint8_t>(icrc >> (8 * i));
      const uint16_t vcrc = VariantCrc(lrh, bytes);
      lrh[bytes] = static_cast<uint8_t>(vcrc);
      lrh[bytes + 1] = static_cast<uint8_t>(vcrc >> 8);
      return WireAction::kDeliver;
    });
    local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 61));
    pair_.Settle();
    EXPECT_THAT(Sent(),
                ElementsAre(SendFailed(VCX_SYNDROME_REMOTE_INVALID_REQ)));
  }
  void ExpectFlushedFor(uint8_t vendor) {
    const std::vector<WorkCompletion> received = Received();
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].syndrome, VCX_SYNDROME_FLUSHED);
    EXPECT_EQ(int{received[0].vendor_syndrome}, int{vendor});
  }
};

TEST_F(ResponderTest, RefusesAStaleKey) {
  ConnectPair();
  SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 64);
  wr.rkey ^= 0x80;
  ExpectRefused(wr, VCX_SYNDROME_REMOTE_ACCESS, VCX_EVENT_WQ_ACCESS_ERROR);
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, 64), std::vector<uint8_t>(64));
}

TEST_F(ResponderTest, RefusesBytesBeyondTheKey) {
  ConnectPair();
  ExpectRefused(Wr(VCX_WQE_RDMA_WRITE, 2, kMrBytes - 1),
                VCX_SYNDROME_REMOTE_ACCESS, VCX_EVENT_WQ_ACCESS_ERROR);
}

TEST_F(ResponderTest, RefusesAnAddressThatWraps) {
  ConnectPair();
  SendWr wr = Wr(VCX_WQE_RDMA_READ, 64);
  wr.remote_va = UINT64_MAX - 8;
  ExpectRefused(wr, VCX_SYNDROME_REMOTE_ACCESS, VCX_EVENT_WQ_ACCESS_ERROR);
}

TEST_F(ResponderTest, RefusesAKeyWithoutTheRight) {
  ConnectPair();
  remote_.mr = remote_.driver().NewMr({.remote_write = false});
  ExpectRefused(Wr(VCX_WQE_RDMA_WRITE, 64), VCX_SYNDROME_REMOTE_ACCESS,
                VCX_EVENT_WQ_ACCESS_ERROR);
}

TEST_F(ResponderTest, RefusesAKeyOfAnotherDomain) {
  ConnectPair();
  const uint32_t other = remote_.driver().MustNumber(VCX_CMD_ALLOC_PD);
  remote_.mr = remote_.driver().NewMr({.pd = other});
  ExpectRefused(Wr(VCX_WQE_RDMA_READ, 64), VCX_SYNDROME_REMOTE_ACCESS,
                VCX_EVENT_WQ_ACCESS_ERROR);
}

// No bytes, no key. (IBA vol. 1, 9.7.4.1.5)
TEST_F(ResponderTest, EmptyWriteNeedsNoKey) {
  ConnectPair();
  SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 0);
  wr.rkey = 0xdeadbeef;
  local_.driver().Send(local_.qp, wr);
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE)));
}

TEST_F(ResponderTest, ReceiveThatIsTooShortEndsBothSides) {
  ConnectPair();
  PostRecv(63);
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 64));
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_REMOTE_INVALID_REQ)));
  EXPECT_THAT(Received(),
              ElementsAre(ReceiveFailed(VCX_SYNDROME_LOCAL_LENGTH)));
}

TEST_F(ResponderTest, ReceiveIntoAForeignKeyEndsBothSides) {
  ConnectPair();
  remote_.driver().PostRecv(remote_.qp, {{0x00ffff00, 0, 64}});
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, 64));
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_REMOTE_OP)));
  EXPECT_THAT(Received(),
              ElementsAre(ReceiveFailed(VCX_SYNDROME_LOCAL_PROTECTION)));
}

TEST_F(ResponderTest, ReadIntoAReadOnlyKeyIsALocalError) {
  ConnectPair();
  const FakeMr mr =
      local_.driver().NewMr({.remote_write = false, .local_write = false});
  SendWr wr = Wr(VCX_WQE_RDMA_READ, 64);
  wr.sges = {mr.At(0, 64)};
  local_.driver().Send(local_.qp, wr);
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_LOCAL_PROTECTION)));
}

// The requester keeps more reads in flight than the responder has room for.
TEST_F(ResponderTest, RefusesMoreReadsThanAgreed) {
  ConnectPair({.log_sra_max = 2, .log_rra_max = 0});
  PostRecv(64);
  pair_.b.host.wire_full = true;  // the first read stays owed
  for (int i = 0; i < 2; ++i)
    local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_READ, 64));
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  pair_.b.host.wire_full = false;
  pair_.b.device.WireReady();
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_READ),
                                  SendFailed(VCX_SYNDROME_REMOTE_INVALID_REQ)));
  ExpectFlushedFor(VCX_VENDOR_READ_DEPTH);
}

// What the requester hears is "invalid request"; the responder's receives are
// flushed with the reason.
TEST_F(ResponderTest, FlushedReceivesNameThePacketOutOfTurn) {
  ConnectPair({.mtu_code = 1});
  PostRecv(64);
  Tell(kRcWriteOnly, kRcSendMiddle);
  ExpectFlushedFor(VCX_VENDOR_OPCODE_SEQUENCE);
}

TEST_F(ResponderTest, FlushedReceivesNameTheLengthThatLied) {
  ConnectPair({.mtu_code = 1});
  PostRecv(64);
  Tell(kRcWriteOnly, kRcSendFirst);  // not full
  ExpectFlushedFor(VCX_VENDOR_PACKET_LENGTH);
}

// What was answered before is answered again beside the reads that are new: it
// does not take their room.
TEST_F(ResponderTest, RepeatedReadsLeaveRoomForNewOnes) {
  ConnectPair({.log_sra_max = 1, .log_rra_max = 1});
  Frame first;
  pair_.OnFrame([&](Frame& frame, bool from_a) {
    if (from_a && first.empty()) first = frame;
    return WireAction::kDeliver;
  });
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_READ, 64));
  pair_.Settle();
  EXPECT_EQ(Sent().size(), 1u);
  // The wire brings it again and again, and keeps the answers back.
  pair_.b.host.wire_full = true;
  for (int i = 0; i < 5; ++i)
    pair_.b.device.Receive(first.data(), first.size());
  for (int i = 0; i < 2; ++i)
    local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_READ, 64));
  local_.driver().RingSend(local_.qp);
  pair_.Settle();
  EXPECT_EQ(RemoteState(), VCX_QP_STATE_RTS);
  pair_.b.host.wire_full = false;
  pair_.b.device.WireReady();
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_READ),
                                  SendIs(VCX_WQE_RDMA_READ)));
  EXPECT_EQ(pair_.b.Counter("duplicate_requests"), 5u);
}

// One that is asked for again before it was answered is answered once.
TEST_F(ResponderTest, RepeatedReadThatIsOwedStillIsAnsweredOnce) {
  ConnectPair({.mtu_code = 1, .log_sra_max = 0, .log_rra_max = 0});
  Frame request;
  pair_.OnFrame([&](Frame& frame, bool from_a) {
    if (from_a) request = frame;
    return WireAction::kDeliver;
  });
  pair_.b.host.wire_full = true;
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_READ, 600));
  pair_.Settle();
  for (int i = 0; i < 3; ++i)
    pair_.b.device.Receive(request.data(), request.size());
  pair_.b.host.wire_full = false;
  pair_.b.device.WireReady();
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_READ)));
  EXPECT_EQ(pair_.b.Counter("packets_sent"), 3u);
}

// What is owed grows with the answers that cannot be sent, and keeps its order.
TEST_F(ResponderTest, AllReadsThatWereAgreedWaitForTheWire) {
  constexpr uint32_t kReads = 16;
  ConnectPair({.log_sra_max = 4, .log_rra_max = 4});
  remote_.driver().Poke(remote_.mr, 0, Pattern(kReads * 8));
  for (uint32_t i = 0; i < kReads; ++i) {
    SendWr wr = Wr(VCX_WQE_RDMA_READ, 8, i * 8);
    wr.sges = {local_.mr.At(i * 8, 8)};
    local_.driver().Send(local_.qp, wr);
  }
  pair_.b.host.wire_full = true;
  pair_.Settle();
  EXPECT_THAT(Sent(), IsEmpty());
  pair_.b.host.wire_full = false;
  pair_.b.device.WireReady();
  pair_.Settle();
  EXPECT_EQ(Sent().size(), kReads);
  EXPECT_EQ(local_.driver().Peek(local_.mr, 0, kReads * 8),
            Pattern(kReads * 8));
}

TEST_F(ResponderTest, KeyThatGoesDuringAReadIsAnAccessError) {
  ConnectPair();
  pair_.b.host.wire_full = true;
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_READ, 64));
  pair_.Settle();
  remote_.driver().MustNumber(VCX_CMD_DESTROY_MKEY, remote_.mr.index);
  pair_.b.host.wire_full = false;
  pair_.b.device.WireReady();
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(VCX_SYNDROME_REMOTE_ACCESS)));
}

// The third acknowledgement of a QP to itself overflows its send CQ.
TEST_F(ResponderTest, QpThatFailsByItsOwnAnswerOwesNothing) {
  FakeDriver& d = pair_.a.driver;
  const FakeCq cq = d.NewCq({.log_size = 1});
  FakeQp qp = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  const Connection itself = {.remote_qpn = qp.number, .dlid = d.lid()};
  d.ToInit(qp);
  d.ToRtr(qp, itself);
  d.ToRts(qp, itself);
  for (int i = 0; i < 3; ++i) {
    SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 16);
    wr.remote_va = local_.mr.options.va + 4096;
    wr.rkey = local_.mr.key();
    d.Send(qp, wr);
    pair_.Settle();
  }
  EXPECT_EQ(d.State(qp), VCX_QP_STATE_ERR);
  EXPECT_EQ(pair_.a.Counter("acks_sent"), 3u);
}

TEST_F(ResponderTest, FirstPacketInRtrIsAnEvent) {
  local_.driver().ToInit(local_.qp);
  remote_.driver().ToInit(remote_.qp);
  Connection to_remote{.remote_qpn = remote_.qp.number,
                       .dlid = remote_.driver().lid()};
  Connection to_local{.remote_qpn = local_.qp.number,
                      .dlid = local_.driver().lid()};
  local_.driver().ToRtr(local_.qp, to_remote);
  local_.driver().ToRts(local_.qp, to_remote);
  remote_.driver().ToRtr(remote_.qp, to_local);
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  const auto eqe = remote_.driver().NextEvent(remote_.driver().async_eq());
  ASSERT_TRUE(eqe.has_value());
  EXPECT_EQ(eqe->type, VCX_EVENT_COMM_ESTABLISHED);
  EXPECT_EQ(eqe->data.qp.number.get(), remote_.qp.number);
}

}  // namespace
}  // namespace vcx
