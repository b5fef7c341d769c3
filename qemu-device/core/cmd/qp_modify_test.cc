/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The transitions of an RC QP.
#include "testing/command_test.h"

namespace vcx {
namespace {

constexpr vcx_qp_state kStates[] = {VCX_QP_STATE_RST, VCX_QP_STATE_INIT,
                                    VCX_QP_STATE_RTR, VCX_QP_STATE_RTS,
                                    VCX_QP_STATE_SQD, VCX_QP_STATE_ERR};

class QpModifyTest : public CommandTest {
 protected:
  QpModifyTest() : cq(d.NewCq()) { connection.dlid = d.lid(); }

  FakeQp NewQp() {
    return d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  }
  FakeQp QpIn(vcx_qp_state state) {
    FakeQp qp = NewQp();
    if (state == VCX_QP_STATE_ERR) d.ToErr(qp);
    if (state == VCX_QP_STATE_RST || state == VCX_QP_STATE_ERR) return qp;
    d.ToInit(qp);
    if (state == VCX_QP_STATE_INIT) return qp;
    connection.remote_qpn = qp.number;
    d.ToRtr(qp, connection);
    if (state == VCX_QP_STATE_RTR) return qp;
    d.ToRts(qp, connection);
    if (state == VCX_QP_STATE_RTS) return qp;
    d.MustNumber(VCX_CMD_RTS2SQD_QP, qp.number);
    return qp;
  }
  // An input that is right for the opcode.
  Input<vcx_qp_in> RightInput(uint16_t opcode, const FakeQp& qp) {
    Input<vcx_qp_in> in;
    if (opcode == VCX_CMD_RST2INIT_QP)
      in = d.InitInput(qp);
    else if (opcode == VCX_CMD_INIT2RTR_QP)
      in = d.RtrInput(qp, connection);
    else
      in = d.RtsInput(qp, connection);
    in.fixed.hdr.opcode = opcode;
    return in;
  }
  vcx_ads* Path(Input<vcx_qp_in>& in) {
    return reinterpret_cast<vcx_ads*>(
        &in.fixed.qpc.dw[VCX_QPC_PRIMARY_PATH_DW]);
  }
  vcx_ads PathOf(const FakeQp& qp) {
    const vcx_qpc qpc = d.Query(qp);
    vcx_ads ads;
    std::copy_n(&qpc.dw[VCX_QPC_PRIMARY_PATH_DW], 11, ads.dw);
    return ads;
  }
  // The refusal of a changed INIT2RTR, after which the QP is still in INIT.
  template <class Spoil>
  uint32_t RtrRefusalAfter(Spoil spoil) {
    FakeQp qp = QpIn(VCX_QP_STATE_INIT);
    auto in = d.RtrInput(qp, connection);
    spoil(in);
    const uint32_t refusal = d.Refusal(in);
    EXPECT_EQ(d.State(qp), VCX_QP_STATE_INIT);
    return refusal;
  }

  FakeCq cq;
  Connection connection;
};

// ---- Which transitions exist
// -------------------------------------------------

struct Row {
  uint16_t opcode;
  std::set<vcx_qp_state> from;
  vcx_qp_state to;
};

// The table of the specification, transposed.
const Row kRows[] = {
    {VCX_CMD_RST2INIT_QP, {VCX_QP_STATE_RST}, VCX_QP_STATE_INIT},
    {VCX_CMD_INIT2INIT_QP, {VCX_QP_STATE_INIT}, VCX_QP_STATE_INIT},
    {VCX_CMD_INIT2RTR_QP, {VCX_QP_STATE_INIT}, VCX_QP_STATE_RTR},
    {VCX_CMD_RTR2RTS_QP, {VCX_QP_STATE_RTR}, VCX_QP_STATE_RTS},
    {VCX_CMD_RTS2RTS_QP, {VCX_QP_STATE_RTS}, VCX_QP_STATE_RTS},
    {VCX_CMD_SQD2RTS_QP, {VCX_QP_STATE_SQD}, VCX_QP_STATE_RTS},
    {VCX_CMD_SQERR2RTS_QP, {}, VCX_QP_STATE_RTS},  // RC is never there
};

TEST_F(QpModifyTest, EachBeginsInItsStateAndInNoOther) {
  for (const Row& row : kRows) {
    for (const vcx_qp_state from : kStates) {
      FakeQp qp = QpIn(from);
      const Reply reply = d.Execute(RightInput(row.opcode, qp), 16);
      if (row.from.contains(from)) {
        EXPECT_TRUE(reply.ok()) << std::hex << row.opcode << " from " << from;
        EXPECT_EQ(d.State(qp), row.to);
      } else {
        EXPECT_EQ(reply.syndrome, VCX_REFUSED_QP_STATE)
            << std::hex << row.opcode << " from " << from;
        EXPECT_EQ(reply.status, VCX_STATUS_BAD_QP_STATE);
        EXPECT_EQ(d.State(qp), from);
      }
    }
  }
}

TEST_F(QpModifyTest, IsTracedWithItsReason) {
  FakeQp qp = NewQp();
  m.device.SetTrace(1ull << VCX_TRACE_QP_STATE);
  d.ToInit(qp);
  d.ToErr(qp);
  ASSERT_EQ(m.host.traces.size(), 2u);
  EXPECT_THAT(m.host.traces[0].args,
              ::testing::ElementsAre(qp.number, VCX_QP_STATE_RST,
                                     VCX_QP_STATE_INIT, VCX_CMD_RST2INIT_QP));
  EXPECT_THAT(m.host.traces[1].args,
              ::testing::ElementsAre(qp.number, VCX_QP_STATE_INIT,
                                     VCX_QP_STATE_ERR, VCX_CMD_2ERR_QP));
}

TEST_F(QpModifyTest, ErrorAndResetCanBeReachedFromEverywhere) {
  for (const vcx_qp_state from : kStates) {
    FakeQp qp = QpIn(from);
    d.ToErr(qp);
    EXPECT_EQ(d.State(qp), VCX_QP_STATE_ERR);
    d.ToRst(qp);
    EXPECT_EQ(d.State(qp), VCX_QP_STATE_RST);
    FakeQp other = QpIn(from);
    d.ToRst(other);
    EXPECT_EQ(d.State(other), VCX_QP_STATE_RST);
  }
}

TEST_F(QpModifyTest, SendQueueDrainedBeginsInRtsOnly) {
  for (const vcx_qp_state from : kStates) {
    FakeQp qp = QpIn(from);
    const uint32_t refusal = d.RefusalOf(VCX_CMD_RTS2SQD_QP, qp.number);
    EXPECT_EQ(refusal, from == VCX_QP_STATE_RTS
                           ? uint32_t{VCX_CMD_ACCEPTED}
                           : uint32_t{VCX_REFUSED_QP_STATE});
  }
  FakeQp qp = QpIn(VCX_QP_STATE_RTS);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_RTS2SQD_QP, qp.number, 2), VCX_REFUSED_OP_MOD);
}

TEST_F(QpModifyTest, TellsWhenTheSendQueueIsDrained) {
  FakeQp quiet = QpIn(VCX_QP_STATE_RTS);
  d.MustNumber(VCX_CMD_RTS2SQD_QP, quiet.number);
  m.Settle();
  EXPECT_FALSE(d.NextEvent(d.async_eq()).has_value());
  FakeQp told = QpIn(VCX_QP_STATE_RTS);
  d.MustNumber(VCX_CMD_RTS2SQD_QP, told.number, VCX_RTS2SQD_EVENT);
  m.Settle();
  const std::optional<vcx_eqe> event = d.NextEvent(d.async_eq());
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, VCX_EVENT_SQ_DRAINED);
  EXPECT_EQ(event->data.qp.number.get(), told.number);
}

// ---- Attributes
// ------------------------------------------------------------------

TEST_F(QpModifyTest, TakesTheRequiredOnesWhateverTheMaskSays) {
  FakeQp qp = QpIn(VCX_QP_STATE_INIT);
  Connection c = connection;
  c.remote_qpn = 0xabcdef;
  c.recv_psn = 0x654321;
  c.mtu_code = 3;
  c.log_msg_max = 20;
  c.log_rra_max = 4;
  c.min_rnr_nak = 31;
  auto in = d.RtrInput(qp, c);
  vcx_ads* path = Path(in);
  VCX_SET(path, VCX_ADS_GRH, 1);
  VCX_SET(path, VCX_ADS_SL, 9);
  VCX_SET(path, VCX_ADS_MLID, 0x55);
  VCX_SET(path, VCX_ADS_HOP_LIMIT, 64);
  VCX_SET(path, VCX_ADS_TCLASS, 0x77);
  VCX_SET(path, VCX_ADS_FLOW_LABEL, 0xabcde);
  path->dw[VCX_ADS_RGID_DW] = 0xfe800000u;
  d.Must(in);
  const vcx_qpc qpc = d.Query(qp);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_REMOTE_QPN), 0xabcdefu);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_NEXT_RCV_PSN), 0x654321u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_MTU), 3u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_LOG_MSG_MAX), 20u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_LOG_RRA_MAX), 4u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_MIN_RNR_NAK), 31u);
  const vcx_ads ads = PathOf(qp);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_RLID), connection.dlid);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_GRH), 1u);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_SL), 9u);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_MLID), 0x55u);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_HOP_LIMIT), 64u);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_TCLASS), 0x77u);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_FLOW_LABEL), 0xabcdeu);
  EXPECT_EQ(ads.dw[VCX_ADS_RGID_DW].get(), 0xfe800000u);
}

TEST_F(QpModifyTest, TakesTheRequiredOnesOfRts) {
  FakeQp qp = QpIn(VCX_QP_STATE_RTR);
  Connection c = connection;
  c.send_psn = 0x123456;
  c.log_sra_max = 3;
  c.retry_count = 6;
  c.rnr_retry = 7;
  c.ack_timeout = 17;
  d.ToRts(qp, c);
  const vcx_qpc qpc = d.Query(qp);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_NEXT_SEND_PSN), 0x123456u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_LOG_SRA_MAX), 3u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_RETRY_COUNT), 6u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_RNR_RETRY), 7u);
  // The address vector shares its structure with the timeout: only that came.
  const vcx_ads ads = PathOf(qp);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_ACK_TIMEOUT), 17u);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_RLID), connection.dlid);
}

TEST_F(QpModifyTest, TakesOptionalOnesByTheMaskOnly) {
  FakeQp qp = QpIn(VCX_QP_STATE_INIT);  // which allows read and write
  auto in = d.RtrInput(qp, connection);
  VCX_SET(Path(in), VCX_ADS_PKEY_INDEX, 5);
  VCX_SET(&in.fixed.qpc, VCX_QPC_RRE, 0);
  VCX_SET(&in.fixed.qpc, VCX_QPC_RWE, 0);
  in.fixed.opt_param_mask = VCX_QP_OPT_RWE;
  d.Must(in);
  const vcx_qpc qpc = d.Query(qp);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_RRE), 1u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_RWE), 0u);
  const vcx_ads ads = PathOf(qp);
  EXPECT_EQ(VCX_GET(&ads, VCX_ADS_PKEY_INDEX), 0u);
}

TEST_F(QpModifyTest, ChangesAccessAndRnrTimerInRts) {
  FakeQp qp = QpIn(VCX_QP_STATE_RTS);
  auto in = RightInput(VCX_CMD_RTS2RTS_QP, qp);
  VCX_SET(&in.fixed.qpc, VCX_QPC_MIN_RNR_NAK, 3);
  VCX_SET(&in.fixed.qpc, VCX_QPC_RETRY_COUNT, 1);
  in.fixed.opt_param_mask =
      VCX_QP_OPT_MIN_RNR_NAK | VCX_QP_OPT_RRE | VCX_QP_OPT_RWE;
  d.Must(in);
  const vcx_qpc qpc = d.Query(qp);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_MIN_RNR_NAK), 3u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_RRE), 0u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_RWE), 0u);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_RETRY_COUNT), connection.retry_count);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_NEXT_SEND_PSN), 0u);
}

TEST_F(QpModifyTest, RefusesOptionalOnesThatDoNotBelongHere) {
  const struct {
    uint16_t opcode;
    vcx_qp_state from;
    uint32_t mask;
  } cases[] = {
      {VCX_CMD_RST2INIT_QP, VCX_QP_STATE_RST, VCX_QP_OPT_MIN_RNR_NAK},
      {VCX_CMD_INIT2INIT_QP, VCX_QP_STATE_INIT, VCX_QP_OPT_RRA_MAX},
      {VCX_CMD_INIT2RTR_QP, VCX_QP_STATE_INIT, VCX_QP_OPT_ALT_PATH},
      {VCX_CMD_RTR2RTS_QP, VCX_QP_STATE_RTR, VCX_QP_OPT_PKEY_INDEX},
      {VCX_CMD_RTS2RTS_QP, VCX_QP_STATE_RTS, VCX_QP_OPT_PRIMARY_PATH},
      {VCX_CMD_RTS2RTS_QP, VCX_QP_STATE_RTS, VCX_QP_OPT_RETRY_COUNT},
      {VCX_CMD_SQD2RTS_QP, VCX_QP_STATE_SQD, VCX_QP_OPT_SRQN},
      {VCX_CMD_RTS2RTS_QP, VCX_QP_STATE_RTS, 0x80000000u},
  };
  for (const auto& c : cases) {
    FakeQp qp = QpIn(c.from);
    auto in = RightInput(c.opcode, qp);
    in.fixed.opt_param_mask = c.mask;
    EXPECT_EQ(d.Refusal(in), VCX_REFUSED_QP_OPT_PARAM)
        << std::hex << c.opcode << " " << c.mask;
    EXPECT_EQ(d.State(qp), c.from);
  }
}

TEST_F(QpModifyTest, RequiredOnesMayAlsoBeInTheMask) {
  FakeQp qp = QpIn(VCX_QP_STATE_RTR);
  auto in = d.RtsInput(qp, connection);
  in.fixed.opt_param_mask = VCX_QP_OPT_RETRY_COUNT | VCX_QP_OPT_ACK_TIMEOUT |
                            VCX_QP_OPT_SRA_MAX | VCX_QP_OPT_RNR_RETRY;
  d.Must(in);
}

TEST_F(QpModifyTest, RefusesValuesThatCannotBe) {
  EXPECT_EQ(
      RtrRefusalAfter([this](auto& in) { VCX_SET(Path(in), VCX_ADS_PORT, 2); }),
      VCX_REFUSED_QP_PORT);
  EXPECT_EQ(RtrRefusalAfter([this](auto& in) {
              VCX_SET(Path(in), VCX_ADS_PKEY_INDEX, 128);
              in.fixed.opt_param_mask = VCX_QP_OPT_PKEY_INDEX;
            }),
            VCX_REFUSED_QP_PKEY_INDEX);
  EXPECT_EQ(RtrRefusalAfter([this](auto& in) {
              VCX_SET(Path(in), VCX_ADS_GRH, 1);
              VCX_SET(Path(in), VCX_ADS_SRC_ADDR_INDEX, 8);
            }),
            VCX_REFUSED_QP_GID_INDEX);
  for (const uint32_t lid : {0u, 0xc000u, 0xffffu})
    EXPECT_EQ(RtrRefusalAfter([this, lid](auto& in) {
                VCX_SET(Path(in), VCX_ADS_RLID, lid);
              }),
              VCX_REFUSED_QP_LID);
  for (const uint32_t mtu : {0u, 6u, 7u})
    EXPECT_EQ(RtrRefusalAfter([mtu](auto& in) {
                VCX_SET(&in.fixed.qpc, VCX_QPC_MTU, mtu);
              }),
              VCX_REFUSED_QP_MTU);
  EXPECT_EQ(RtrRefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.qpc, VCX_QPC_LOG_MSG_MAX, 31);
            }),
            VCX_REFUSED_QP_LOG_MSG_MAX);
  EXPECT_EQ(RtrRefusalAfter([](auto& in) {
              VCX_SET(&in.fixed.qpc, VCX_QPC_LOG_RRA_MAX, 5);
            }),
            VCX_REFUSED_QP_LOG_RRA_MAX);
}

TEST_F(QpModifyTest, RefusesValuesOfRtsThatCannotBe) {
  FakeQp qp = QpIn(VCX_QP_STATE_RTR);
  auto depth = d.RtsInput(qp, connection);
  VCX_SET(&depth.fixed.qpc, VCX_QPC_LOG_SRA_MAX, 5);
  EXPECT_EQ(d.Refusal(depth), VCX_REFUSED_QP_LOG_SRA_MAX);
  auto migration = d.RtsInput(qp, connection);
  VCX_SET(&migration.fixed.qpc, VCX_QPC_PM_STATE, 0);
  migration.fixed.opt_param_mask = VCX_QP_OPT_PM_STATE;
  EXPECT_EQ(d.Refusal(migration), VCX_REFUSED_QP_PM_STATE);
  EXPECT_EQ(d.State(qp), VCX_QP_STATE_RTR);
}

TEST_F(QpModifyTest, NeedsNoLidWhenForcedToLoopback) {
  FakeQp qp = QpIn(VCX_QP_STATE_INIT);
  auto in = d.RtrInput(qp, connection);
  VCX_SET(Path(in), VCX_ADS_RLID, 0);
  VCX_SET(Path(in), VCX_ADS_FL, 1);
  d.Must(in);
}

TEST(QpModifyMtuTest, PathMtuMayNotExceedThatOfThePort) {
  vcx_core_config config = TestConfig();
  config.mtu_bytes = 1024;
  TestMachine m(config);
  m.driver.Start();
  const FakeCq cq = m.driver.NewCq();
  FakeQp qp = m.driver.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  m.driver.ToInit(qp);
  Connection c;
  c.dlid = m.driver.lid();
  c.mtu_code = 4;
  EXPECT_EQ(m.driver.Refusal(m.driver.RtrInput(qp, c)), VCX_REFUSED_QP_MTU);
  c.mtu_code = 3;
  m.driver.ToRtr(qp, c);
}

// ---- INIT, and back to RESET
// -----------------------------------------------------

TEST_F(QpModifyTest, InitMayBringCounterSetAndDoorbellRecord) {
  const uint32_t set = d.MustNumber(VCX_CMD_ALLOC_Q_COUNTER);
  const uint32_t other = d.MustNumber(VCX_CMD_ALLOC_Q_COUNTER);
  FakeQp qp = d.NewQp(
      {.send_cqn = cq.number, .recv_cqn = cq.number, .counter_set = set});
  const uint64_t record = m.host.Alloc(8);
  auto in = d.InitInput(qp);
  VCX_SET(&in.fixed.qpc, VCX_QPC_COUNTER_SET_ID, other);
  VCX_SET64(&in.fixed.qpc, VCX_QPC_DBR_ADDR, record);
  d.Must(in);
  const vcx_qpc qpc = d.Query(qp);
  EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_COUNTER_SET_ID), other);
  EXPECT_EQ(VCX_GET64(&qpc, VCX_QPC_DBR_ADDR), record);
  d.MustNumber(VCX_CMD_DEALLOC_Q_COUNTER, set);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DEALLOC_Q_COUNTER, other),
            VCX_REFUSED_COUNTER_IN_USE);
}

TEST_F(QpModifyTest, InitRefusesWhatItCannotTake) {
  FakeQp qp = NewQp();
  auto record = d.InitInput(qp);
  VCX_SET64(&record.fixed.qpc, VCX_QPC_DBR_ADDR, 0x1001);
  EXPECT_EQ(d.Refusal(record), VCX_REFUSED_DOORBELL_RECORD);
  auto set = d.InitInput(qp);
  VCX_SET(&set.fixed.qpc, VCX_QPC_COUNTER_SET_ID, 50);
  EXPECT_EQ(d.Refusal(set), VCX_REFUSED_QP_COUNTER_SET);
  auto pkey = d.InitInput(qp);
  VCX_SET(Path(pkey), VCX_ADS_PKEY_INDEX, 0xffff);
  EXPECT_EQ(d.Refusal(pkey), VCX_REFUSED_QP_PKEY_INDEX);
  EXPECT_EQ(d.State(qp), VCX_QP_STATE_RST);
}

TEST_F(QpModifyTest, RtsMayMoveToAnotherCounterSet) {
  const uint32_t set = d.MustNumber(VCX_CMD_ALLOC_Q_COUNTER);
  FakeQp qp = QpIn(VCX_QP_STATE_RTS);
  auto in = RightInput(VCX_CMD_RTS2RTS_QP, qp);
  VCX_SET(&in.fixed.qpc, VCX_QPC_COUNTER_SET_ID, set);
  in.fixed.opt_param_mask = VCX_QP_OPT_COUNTER_SET;
  d.Must(in);
  EXPECT_EQ(d.RefusalOf(VCX_CMD_DEALLOC_Q_COUNTER, set),
            VCX_REFUSED_COUNTER_IN_USE);
  VCX_SET(&in.fixed.qpc, VCX_QPC_COUNTER_SET_ID, 0);
  d.Must(in);
  d.MustNumber(VCX_CMD_DEALLOC_Q_COUNTER, set);
}

TEST_F(QpModifyTest, ResetForgetsTheConnectionAndTheCounters) {
  FakeMr mr = d.NewMr();
  FakeQp a = NewQp();
  FakeQp b = NewQp();
  for (int round = 0; round < 3; ++round) {
    Connect(d, a, d, b);
    for (int i = 0; i < 3; ++i)
      d.Send(a, {.opcode = VCX_WQE_RDMA_WRITE,
                 .sges = {mr.At(0, 8)},
                 .remote_va = mr.options.va + 64,
                 .rkey = mr.key()});
    m.Settle();
    const std::vector<WorkCompletion> done = d.PollAll(cq);
    ASSERT_EQ(done.size(), 3u);
    EXPECT_EQ(done[2].wqe_counter, 2);
    d.ToRst(a);
    d.ToRst(b);
    const vcx_qpc qpc = d.Query(a);
    EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_REMOTE_QPN), 0u);
    EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_RWE), 0u);
    EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_HW_SQ_COUNTER), 0u);
    EXPECT_EQ(VCX_GET(&qpc, VCX_QPC_LOG_SQ_SIZE), a.options.log_sq_size);
    EXPECT_EQ(VCX_GET64(&qpc, VCX_QPC_DBR_ADDR), a.doorbell_record);
  }
}

}  // namespace
}  // namespace vcx
