/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Send WQEs that are read together and CQEs that are written together: nothing
// but the number of accesses tells that they were.
#include "testing/traffic_test.h"
#include "vcx/regs.h"

namespace vcx {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

class BatchTest : public TrafficTest {
 protected:
  // Without payload in guest memory, so that all reads are of queues.
  SendWr InlineWrite(uint32_t bytes, uint8_t seed, uint64_t to) {
    SendWr wr = Wr(VCX_WQE_RDMA_WRITE, 0, to);
    wr.inline_data = Pattern(bytes, seed);
    return wr;
  }
  void Post(const SendWr& wr) { local_.driver().PostSend(local_.qp, wr); }
  void Ring() {
    local_.driver().RingSend(local_.qp);
    pair_.Settle();
  }
  // Moves the producer to this block of the ring.
  void MoveTo(uint16_t block) {
    while (local_.qp.sq_pi != block) {
      Post({.opcode = VCX_WQE_NOP, .signaled = false});
      Ring();
    }
  }
  void UseQp(QpOptions options, CqOptions cq = {}) {
    local_.send_cq = local_.driver().NewCq(cq);
    options.send_cqn = local_.send_cq.number;
    options.recv_cqn = local_.recv_cq.number;
    local_.qp = local_.driver().NewQp(options);
  }
  uint64_t SqAddress(uint32_t block) {
    return local_.qp.buffer.At(local_.qp.rq_bytes() +
                               uint64_t{block} * VCX_WQE_BB_BYTES);
  }

  FakeHost& host() { return pair_.a.host; }
};

TEST_F(BatchTest, WqesOfADoorbellAreReadTogetherAndOnce) {
  ConnectLoopback();
  for (uint8_t i = 0; i < 12; ++i) Post(InlineWrite(4, i, i * 4));
  const uint64_t reads = host().dma_reads;
  local_.driver().RingSend(local_.qp);
  // The doorbell record, and all twelve.
  EXPECT_EQ(host().dma_reads - reads, 2u);
  pair_.Settle();
  EXPECT_THAT(Sent(), SizeIs(12));
  for (uint8_t i = 0; i < 12; ++i)
    EXPECT_EQ(remote_.driver().Peek(remote_.mr, i * 4, 4), Pattern(4, i));
}

TEST_F(BatchTest, ARunOfWqesGoesOnAtTheStartOfTheRing) {
  ConnectPair();
  MoveTo(59);  // of 64
  for (uint8_t i = 0; i < 14; ++i) Post(InlineWrite(4, i, i * 4));
  Ring();
  EXPECT_THAT(Sent(), SizeIs(14));
  for (uint8_t i = 0; i < 14; ++i)
    EXPECT_EQ(remote_.driver().Peek(remote_.mr, i * 4, 4), Pattern(4, i));
}

// Fifteen blocks are read, and the one WQE in the last of them is as long as
// they all; then one that begins where the window ended.
TEST_F(BatchTest, ALongWqeEndsBehindWhatWasRead) {
  for (uint16_t start : {uint16_t{0}, uint16_t{40}}) {
    UseQp({});
    MakeSide(pair_.b, remote_);
    ConnectPair();
    MoveTo(start);
    for (uint8_t i = 0; i < 15; ++i) Post(InlineWrite(4, i, i * 4));
    for (uint8_t i = 0; i < 2; ++i)
      Post(InlineWrite(940, static_cast<uint8_t>(50 + i), 1000 + i * 1000));
    Post(InlineWrite(4, 60, 3000));
    Ring();
    EXPECT_THAT(Sent(), SizeIs(18));
    for (uint8_t i = 0; i < 2; ++i)
      EXPECT_EQ(remote_.driver().Peek(remote_.mr, 1000 + i * 1000, 940),
                Pattern(940, static_cast<uint8_t>(50 + i)));
    EXPECT_EQ(remote_.driver().Peek(remote_.mr, 3000, 4), Pattern(4, 60));
    EXPECT_EQ(LocalState(), VCX_QP_STATE_RTS);
  }
}

// What was read ahead in one turn is not used in another: a driver may write
// blocks anew as soon as they are done, and the ring comes round.
TEST_F(BatchTest, BlocksAreReadAnewWhenTheRingComesRound) {
  UseQp({.log_sq_size = 3});
  ConnectPair();
  for (uint8_t lap = 0; lap < 5; ++lap) {
    for (uint8_t i = 0; i < 8; ++i)
      Post(InlineWrite(4, static_cast<uint8_t>(lap * 8 + i), i * 4));
    Ring();
    EXPECT_THAT(Sent(), SizeIs(8));
    for (uint8_t i = 0; i < 8; ++i)
      EXPECT_EQ(remote_.driver().Peek(remote_.mr, i * 4, 4),
                Pattern(4, static_cast<uint8_t>(lap * 8 + i)));
  }
}

// A turn that the wire ends forgets what it has read ahead: the next one reads
// what is there then.
TEST_F(BatchTest, AnotherTurnReadsAnew) {
  ConnectPair();
  host().wire_capacity = 1;
  for (uint8_t i = 0; i < 4; ++i) Post(InlineWrite(4, i, i * 4));
  local_.driver().RingSend(local_.qp);
  ASSERT_EQ(host().frames.size(), 1u);
  local_.qp.sq_pi = 3;
  Post(InlineWrite(4, 9, 12));
  host().wire_capacity = SIZE_MAX;
  pair_.a.device.WireReady();
  pair_.Settle();
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 8, 4), Pattern(4, 2));
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 12, 4), Pattern(4, 9));
}

TEST_F(BatchTest, AnUnreadableBlockDoesNotConcernThoseBeforeIt) {
  ConnectPair();
  for (uint8_t i = 0; i < 6; ++i) Post(InlineWrite(4, i, i * 4));
  host().FailDma(SqAddress(4), VCX_WQE_BB_BYTES, FakeHost::kFailRead);
  Ring();
  const std::vector<WorkCompletion> sent = Sent();
  ASSERT_THAT(sent, SizeIs(6));
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_THAT(sent[i], SendIs(VCX_WQE_RDMA_WRITE));
  EXPECT_THAT(sent[4], SendFailed(VCX_SYNDROME_LOCAL_QP_OP));
  EXPECT_EQ(sent[4].vendor_syndrome, VCX_VENDOR_WQE_UNREADABLE);
  EXPECT_THAT(sent[5], SendFailed(VCX_SYNDROME_FLUSHED));
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 12, 4), Pattern(4, 3));
}

TEST_F(BatchTest, EntriesOfATurnAreWrittenTogether) {
  ConnectLoopback();
  for (uint8_t i = 0; i < 12; ++i) Post(InlineWrite(4, i, i * 4));
  const uint64_t writes = host().entry_writes;
  Ring();
  EXPECT_THAT(Sent(), SizeIs(12));
  EXPECT_LE(host().entry_writes - writes, 3u);
}

TEST_F(BatchTest, EntriesGoOnAtTheStartOfTheRing) {
  for (bool cqe128 : {false, true}) {
    UseQp({}, {.log_size = 3, .cqe128 = cqe128});
    ConnectLoopback();
    uint16_t number = 0;
    for (int lap = 0; lap < 5; ++lap) {
      for (uint8_t i = 0; i < 6; ++i) Post(InlineWrite(4, i, i * 4));
      Ring();
      const std::vector<WorkCompletion> sent = Sent();
      ASSERT_THAT(sent, SizeIs(6));
      for (const WorkCompletion& done : sent)
        EXPECT_EQ(done.wqe_counter, number++);
    }
  }
}

// What had room is there when the event of the overflow tells of it.
TEST_F(BatchTest, EntriesBeforeAnOverflowAreWritten) {
  UseQp({}, {.log_size = 2});
  ConnectLoopback();
  for (uint8_t i = 0; i < 7; ++i) Post(InlineWrite(4, i, i * 4));
  Ring();
  EXPECT_THAT(Sent(), SizeIs(4));
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
  EXPECT_EQ(pair_.a.Counter("cq_overflows"), 1u);
}

// The bus refuses a run of entries: each of them is lost, the CQ and the QPs
// behind them are in error, and each of these says so once.
TEST_F(BatchTest, ARunThatTheBusRefusesFailsItsQps) {
  ConnectLoopback();
  host().FailDma(local_.send_cq.ring.At(0), 64 * 8, FakeHost::kFailWrite);
  const uint64_t before = pair_.a.Counter("completions");
  for (uint8_t i = 0; i < 3; ++i) Post(InlineWrite(4, i, i * 4));
  Ring();
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
  EXPECT_EQ(RemoteState(), VCX_QP_STATE_RTS);
  EXPECT_EQ(pair_.a.Counter("completions"), before);
  EXPECT_GE(pair_.a.Counter("completions_lost"), 3u);
  EXPECT_EQ(pair_.a.Counter("qp_errors"), 1u);
  int cq_errors = 0;
  while (const auto event =
             local_.driver().NextEvent(local_.driver().async_eq()))
    cq_errors += event->type == VCX_EVENT_CQ_ERROR;
  EXPECT_EQ(cq_errors, 1);
}

// Destroying a QP right after its last entry leaves nothing behind.
TEST_F(BatchTest, AQpGoesWithAllItsEntriesWritten) {
  ConnectLoopback();
  for (uint8_t i = 0; i < 3; ++i) Post(InlineWrite(4, i, i * 4));
  local_.driver().RingSend(local_.qp);
  local_.driver().MustNumber(VCX_CMD_2RST_QP, local_.qp.number);
  local_.driver().MustNumber(VCX_CMD_DESTROY_QP, local_.qp.number);
  EXPECT_THAT(Sent(), SizeIs(3));
}

// ---- Keys that go or change in the middle of a message ---------------------

class KeyRaceTest : public BatchTest {
 protected:
  static constexpr uint32_t kBytes = 100'000;

  // A large write of which the first packets have arrived and the rest waits.
  void BeginLargeWrite() {
    ConnectPair();
    local_.driver().Poke(local_.mr, 0, Pattern(kBytes));
    host().wire_capacity = 2;
    local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, kBytes));
    host().wire_capacity = SIZE_MAX;
  }
  void GoOn() {
    pair_.a.device.WireReady();
    pair_.Settle();
  }
  std::vector<uint8_t> RemoteTail() {
    return remote_.driver().Peek(remote_.mr, kBytes / 2, kBytes / 2);
  }
};

TEST_F(KeyRaceTest, ADestroyedLocalKeyIsNotReadFromAgain) {
  BeginLargeWrite();
  local_.driver().MustNumber(VCX_CMD_DESTROY_MKEY, local_.mr.index);
  GoOn();
  EXPECT_THAT(Sent(), Each(SendFailed(VCX_SYNDROME_LOCAL_PROTECTION)));
  EXPECT_THAT(RemoteTail(), Each(0));
}

TEST_F(KeyRaceTest, ADestroyedRemoteKeyIsNotWrittenToAgain) {
  BeginLargeWrite();
  pair_.a.Settle();
  remote_.driver().MustNumber(VCX_CMD_DESTROY_MKEY, remote_.mr.index);
  GoOn();
  EXPECT_THAT(Sent(), Each(SendFailed(VCX_SYNDROME_REMOTE_ACCESS)));
  EXPECT_THAT(RemoteTail(), Each(0));
}

// The same number and variant over other memory: what comes now goes there, and
// the old memory is left alone.
TEST_F(KeyRaceTest, AKeyThatIsMadeAnewMeansItsNewMemory) {
  ConnectPair();
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  FakeDriver& d = remote_.driver();
  const FakeMr old = remote_.mr;
  d.MustNumber(VCX_CMD_DESTROY_MKEY, old.index);
  // Numbers come again late: until ours does.
  do {
    remote_.mr = d.NewMr(old.options);
    if (remote_.mr.index != old.index)
      d.MustNumber(VCX_CMD_DESTROY_MKEY, remote_.mr.index);
  } while (remote_.mr.index != old.index);
  Sent();
  local_.driver().Poke(local_.mr, 0, Pattern(64, 9));
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 64));
  pair_.Settle();
  EXPECT_THAT(Sent(), Each(SendIs(VCX_WQE_RDMA_WRITE)));
  EXPECT_EQ(d.Peek(remote_.mr, 0, 64), Pattern(64, 9));
  EXPECT_EQ(d.Peek(old, 0, 64), std::vector<uint8_t>(64));
}

TEST_F(KeyRaceTest, NothingMovesWhileBusMasteringIsOff) {
  BeginLargeWrite();
  pair_.a.device.SetBusMaster(false);
  const uint64_t reads = host().dma_reads;
  GoOn();
  EXPECT_EQ(host().dma_reads, reads);
  EXPECT_THAT(RemoteTail(), Each(0));
  pair_.a.device.SetBusMaster(true);
  pair_.Settle();
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, kBytes), Pattern(kBytes));
}

}  // namespace
}  // namespace vcx
