/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "testing/fake_driver.h"

#include <gtest/gtest.h>

#include <string_view>

namespace vcx {
namespace {

constexpr uint64_t kAsyncEvents =
    1ull << VCX_EVENT_PATH_MIGRATED | 1ull << VCX_EVENT_COMM_ESTABLISHED |
    1ull << VCX_EVENT_SQ_DRAINED | 1ull << VCX_EVENT_CQ_ERROR |
    1ull << VCX_EVENT_WQ_CATASTROPHIC | 1ull << VCX_EVENT_PORT_CHANGE |
    1ull << VCX_EVENT_WQ_INVALID_REQUEST | 1ull << VCX_EVENT_WQ_ACCESS_ERROR |
    1ull << VCX_EVENT_LAST_WQE_REACHED;

constexpr uint32_t kRunBudget = 64;
constexpr uint32_t kMaxRuns = 1u << 20;  // then the device never settles

void SetPort(vcx_qpc& qpc, uint32_t port, uint32_t pkey_index) {
  auto* ads = reinterpret_cast<vcx_ads*>(&qpc.dw[VCX_QPC_PRIMARY_PATH_DW]);
  VCX_SET(ads, VCX_ADS_PORT, port);
  VCX_SET(ads, VCX_ADS_PKEY_INDEX, pkey_index);
}

}  // namespace

vcx_core_config TestConfig(uint64_t guid) {
  vcx_core_config config;
  vcx_core_config_init(&config);
  config.guid = guid;
  config.num_vectors = 4;
  // One MTU in a packet; tests of large packets say otherwise.
  config.max_payload_bytes = config.mtu_bytes;
  return config;
}

uint32_t FakeDriver::SyndromeOf(const Reply& reply) {
  EXPECT_TRUE(reply.completed);
  EXPECT_EQ(reply.delivery, VCX_DELIVERY_OK);
  EXPECT_EQ(reply.status, VCX_REFUSAL_STATUS(reply.syndrome));
  return reply.syndrome;
}

uint32_t FakeDriver::MustSucceed(const Reply& reply) {
  EXPECT_TRUE(reply.ok()) << "delivery " << int{reply.delivery} << ", syndrome "
                          << std::hex << reply.syndrome;
  return reply.As<vcx_number_out>().number.get();
}

Reply FakeDriver::Execute(const std::vector<uint8_t>& in, size_t out_bytes) {
  const bool had_events = command_eq_.number != 0;
  Reply reply = port_.Execute(in, out_bytes);
  if (!had_events || command_eq_.number == 0) return reply;
  const std::optional<vcx_eqe> event = NextEvent(command_eq_);
  if (!event) {
    ADD_FAILURE() << "no event for a command";
    return reply;
  }
  EXPECT_EQ(event->type, VCX_EVENT_COMMAND);
  EXPECT_EQ(event->data.command.slots.get(), 1u);
  ArmEq(command_eq_);
  return reply;
}

Reply FakeDriver::ExecuteNumber(uint16_t opcode, uint32_t number,
                                uint16_t op_mod, size_t out_bytes) {
  auto in = MakeInput<vcx_number_in>(opcode, op_mod);
  in.fixed.number = number;
  return Execute(in, out_bytes);
}

uint32_t FakeDriver::MustNumber(uint16_t opcode, uint32_t number,
                                uint16_t op_mod) {
  return MustSucceed(ExecuteNumber(opcode, number, op_mod));
}

uint32_t FakeDriver::RefusalOf(uint16_t opcode, uint32_t number,
                               uint16_t op_mod, size_t out_bytes) {
  return SyndromeOf(ExecuteNumber(opcode, number, op_mod, out_bytes));
}

void FakeDriver::GivePages(uint16_t op_mod) {
  const Reply query = ExecuteNumber(VCX_CMD_QUERY_PAGES, 0, op_mod);
  EXPECT_TRUE(query.ok());
  auto give = MakeInput<vcx_manage_pages_in>(VCX_CMD_MANAGE_PAGES,
                                             VCX_MANAGE_PAGES_GIVE);
  give.fixed.num_pages = query.As<vcx_query_pages_out>().num_pages.get();
  for (uint32_t i = 0; i < give.fixed.num_pages.get(); ++i) {
    give.list.push_back(host_.Alloc(VCX_PAGE_BYTES));
    given_pages_.insert(give.list.back());
  }
  Must(give);
}

void FakeDriver::TakePages() {
  constexpr uint32_t kPagesPerCommand = 7;  // so that it takes several
  while (!given_pages_.empty()) {
    auto take = MakeInput<vcx_manage_pages_in>(VCX_CMD_MANAGE_PAGES,
                                               VCX_MANAGE_PAGES_TAKE);
    take.fixed.num_pages = kPagesPerCommand;
    const Reply reply = Execute(take, sizeof(vcx_manage_pages_out) +
                                          kPagesPerCommand * sizeof(vcx_be64));
    const uint32_t num = reply.As<vcx_manage_pages_out>().num_pages.get();
    if (!reply.ok() || num == 0 || num > kPagesPerCommand) {
      ADD_FAILURE() << given_pages_.size() << " pages did not come back";
      return;
    }
    for (uint32_t i = 0; i < num; ++i)
      EXPECT_EQ(
          given_pages_.erase(reply.ListAt(sizeof(vcx_manage_pages_out), i)),
          1u);
  }
}

void FakeDriver::Enable() {
  device_.SetBusMaster(true);
  port_.Attach();
  MustNumber(VCX_CMD_ENABLE_HCA);
  auto issi = MakeInput<vcx_set_issi_in>(VCX_CMD_SET_ISSI);
  issi.fixed.current_issi = 1u;
  Must(issi);
  GivePages(VCX_QUERY_PAGES_BOOT);
  GivePages(VCX_QUERY_PAGES_INIT);
  MustNumber(VCX_CMD_INIT_HCA);
}

void FakeDriver::StartEqs(StartOptions options) {
  if (options.command_events) {
    command_eq_ = NewEq({.events = 1ull << VCX_EVENT_COMMAND});
    ArmEq(command_eq_);
  }
  async_eq_ = NewEq({.vector = 1, .events = kAsyncEvents});
  ArmEq(async_eq_);
  completion_eq_ = NewEq({.log_size = 10, .vector = 2});
  ArmEq(completion_eq_);
}

void FakeDriver::Start(StartOptions options) {
  Enable();
  uar_ = MustNumber(VCX_CMD_ALLOC_UAR);
  StartEqs(options);
  pd_ = MustNumber(VCX_CMD_ALLOC_PD);
}

void FakeDriver::Stop() {
  MustNumber(VCX_CMD_DEALLOC_PD, pd_);
  MustNumber(VCX_CMD_DESTROY_EQ, completion_eq_.number);
  MustNumber(VCX_CMD_DESTROY_EQ, async_eq_.number);
  if (command_eq_.number != 0) {
    const uint32_t number = command_eq_.number;
    command_eq_ = {};  // back to polling, before the command
    MustNumber(VCX_CMD_DESTROY_EQ, number);
  }
  MustNumber(VCX_CMD_DEALLOC_UAR, uar_);
  MustNumber(VCX_CMD_TEARDOWN_HCA);
  TakePages();
  MustNumber(VCX_CMD_DISABLE_HCA);
}

uint16_t FakeDriver::lid() {
  const auto in =
      MakeInput<vcx_query_vport_in>(VCX_CMD_QUERY_HCA_VPORT_CONTEXT);
  const auto out = Execute(in, sizeof(vcx_query_vport_context_out))
                       .As<vcx_query_vport_context_out>();
  return static_cast<uint16_t>(VCX_GET(&out.context, VCX_VPORT_LID));
}

Input<vcx_qp_in> FakeDriver::TransitionInput(uint16_t opcode,
                                             const FakeQp& qp) {
  auto in = MakeInput<vcx_qp_in>(opcode);
  in.fixed.qpn = qp.number;
  return in;
}

Input<vcx_qp_in> FakeDriver::InitInput(const FakeQp& qp) {
  auto in = TransitionInput(VCX_CMD_RST2INIT_QP, qp);
  vcx_qpc* qpc = &in.fixed.qpc;
  VCX_SET(qpc, VCX_QPC_PM_STATE, VCX_QP_PM_MIGRATED);
  VCX_SET(qpc, VCX_QPC_RRE, 1);
  VCX_SET(qpc, VCX_QPC_RWE, 1);
  SetPort(*qpc, 1, 0);
  return in;
}

Input<vcx_qp_in> FakeDriver::RtrInput(const FakeQp& qp,
                                      const Connection& connection) {
  auto in = TransitionInput(VCX_CMD_INIT2RTR_QP, qp);
  vcx_qpc* qpc = &in.fixed.qpc;
  VCX_SET(qpc, VCX_QPC_MTU, connection.mtu_code);
  VCX_SET(qpc, VCX_QPC_LOG_MSG_MAX, connection.log_msg_max);
  VCX_SET(qpc, VCX_QPC_REMOTE_QPN, connection.remote_qpn);
  VCX_SET(qpc, VCX_QPC_NEXT_RCV_PSN, connection.recv_psn);
  VCX_SET(qpc, VCX_QPC_LOG_RRA_MAX, connection.log_rra_max);
  VCX_SET(qpc, VCX_QPC_MIN_RNR_NAK, connection.min_rnr_nak);
  SetPort(*qpc, 1, 0);
  auto* ads = reinterpret_cast<vcx_ads*>(&qpc->dw[VCX_QPC_PRIMARY_PATH_DW]);
  VCX_SET(ads, VCX_ADS_RLID, connection.dlid);
  VCX_SET(ads, VCX_ADS_FL, connection.force_loopback);
  if (connection.dgid_guid != 0) {
    VCX_SET(ads, VCX_ADS_GRH, 1);
    VCX_SET(ads, VCX_ADS_HOP_LIMIT, 64);
    ads->dw[VCX_ADS_RGID_DW] = 0xfe800000u;
    ads->dw[VCX_ADS_RGID_DW + 2] =
        static_cast<uint32_t>(connection.dgid_guid >> 32);
    ads->dw[VCX_ADS_RGID_DW + 3] =
        static_cast<uint32_t>(connection.dgid_guid);
  }
  return in;
}

Input<vcx_qp_in> FakeDriver::RtsInput(const FakeQp& qp,
                                      const Connection& connection) {
  auto in = TransitionInput(VCX_CMD_RTR2RTS_QP, qp);
  vcx_qpc* qpc = &in.fixed.qpc;
  VCX_SET(qpc, VCX_QPC_NEXT_SEND_PSN, connection.send_psn);
  VCX_SET(qpc, VCX_QPC_LOG_SRA_MAX, connection.log_sra_max);
  VCX_SET(qpc, VCX_QPC_RETRY_COUNT, connection.retry_count);
  VCX_SET(qpc, VCX_QPC_RNR_RETRY, connection.rnr_retry);
  auto* ads = reinterpret_cast<vcx_ads*>(&qpc->dw[VCX_QPC_PRIMARY_PATH_DW]);
  VCX_SET(ads, VCX_ADS_ACK_TIMEOUT, connection.ack_timeout);
  return in;
}

void FakeDriver::ToInit(const FakeQp& qp) { Must(InitInput(qp)); }

void FakeDriver::ToRtr(const FakeQp& qp, const Connection& connection) {
  Must(RtrInput(qp, connection));
}

void FakeDriver::ToRts(const FakeQp& qp, const Connection& connection) {
  Must(RtsInput(qp, connection));
}

void FakeDriver::ToRst(FakeQp& qp) {
  MustNumber(VCX_CMD_2RST_QP, qp.number);
  qp.sq_pi = 0;
  qp.rq_pi = 0;
  host_.Put(qp.doorbell_record, uint64_t{0});
}

vcx_qpc FakeDriver::Query(const FakeQp& qp) {
  const Reply reply =
      ExecuteNumber(VCX_CMD_QUERY_QP, qp.number, 0, sizeof(vcx_query_qp_out));
  EXPECT_TRUE(reply.ok());
  return reply.As<vcx_query_qp_out>().qpc;
}

vcx_qp_state FakeDriver::State(const FakeQp& qp) {
  const vcx_qpc qpc = Query(qp);
  return static_cast<vcx_qp_state>(VCX_GET(&qpc, VCX_QPC_STATE));
}

void Connect(FakeDriver& driver_a, FakeQp& a, FakeDriver& driver_b, FakeQp& b,
             Connection connection) {
  // Different sequence numbers in each direction, one of them about to wrap.
  Connection of_a = connection;
  of_a.remote_qpn = b.number;
  of_a.dlid = driver_b.lid();
  of_a.send_psn = 0xfffffe;
  of_a.recv_psn = 0x123456;
  Connection of_b = connection;
  of_b.remote_qpn = a.number;
  of_b.dlid = driver_a.lid();
  of_b.send_psn = of_a.recv_psn;
  of_b.recv_psn = of_a.send_psn;
  driver_a.ToInit(a);
  driver_b.ToInit(b);
  driver_a.ToRtr(a, of_a);
  driver_b.ToRtr(b, of_b);
  driver_a.ToRts(a, of_a);
  driver_b.ToRts(b, of_b);
}

TestMachine::~TestMachine() {
  EXPECT_EQ(host.mapped, 0) << "guest memory was mapped and not unmapped";
}

void TestMachine::Settle() {
  for (uint32_t i = 0; i < kMaxRuns; ++i) {
    host.kicked = false;
    if (!device.Run(kRunBudget) && !host.kicked) return;
  }
  ADD_FAILURE() << "the device always has something to do";
}

void TestMachine::Advance(uint64_t ns) {
  const uint64_t end = host.now + ns;
  while (host.deadline <= end) {
    host.now = std::max(host.now, host.deadline);
    host.deadline = VCX_CORE_NO_DEADLINE;
    device.TimerFired();
    Settle();
  }
  host.now = end;
}

uint64_t TestMachine::Counter(const char* name) const {
  std::vector<vcx_core_counter> counters(device.ReadCounters(nullptr, 0));
  device.ReadCounters(counters.data(), counters.size());
  for (const vcx_core_counter& counter : counters)
    if (std::string_view(counter.name) == name) return counter.value;
  ADD_FAILURE() << "there is no counter " << name;
  return 0;
}

}  // namespace vcx
