/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// fake_driver.h - a driver for tests, built on include/vcx alone.
//
//   TestMachine m;                        // host, device, driver
//   m.driver.Start();                     // ENABLE_HCA ... EQs, as a driver
//   does FakeCq cq = m.driver.NewCq(); FakeMr mr = m.driver.NewMr({.bytes =
//   8192}); FakeQp a = m.driver.NewQp({.send_cqn = cq.number, .recv_cqn =
//   cq.number}); FakeQp b = m.driver.NewQp({.send_cqn = cq.number, .recv_cqn =
//   cq.number}); Connect(m.driver, a, m.driver, b);    // both to RTS
//   m.driver.PostRecv(b, {mr.At(4096, 100)});
//   m.driver.Send(a, {.opcode = VCX_WQE_SEND, .sges = {mr.At(0, 100)}});
//   m.Settle();                           // until the device has nothing to do
//   std::optional<WorkCompletion> done = m.driver.Poll(cq);
//
// New*() makes an object and fails the test when the device refuses. To see a
// refusal, take the input that New*() would send, spoil it, and execute it:
//
//   FakeCq cq = m.driver.PrepareCq();
//   Input<vcx_create_cq_in> in = m.driver.CqInput(cq);
//   VCX_SET(&in.fixed.cqc, VCX_CQC_EQN, 77);
//   EXPECT_EQ(m.driver.Refusal(in), VCX_REFUSED_EQ_NUMBER);
//
// Objects are plain values that remember numbers, memory and counters; nothing
// is undone when they go. Time passes only in Advance().
#ifndef VCX_CORE_TESTING_FAKE_DRIVER_H_
#define VCX_CORE_TESTING_FAKE_DRIVER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "device.h"
#include "testing/command_port.h"
#include "testing/fake_host.h"
#include "vcx/cqe.h"
#include "vcx/eqe.h"
#include "vcx/regs.h"
#include "vcx/wqe.h"

namespace vcx {

// A configuration for tests: a GUID, four vectors, everything else as shipped.
vcx_core_config TestConfig(uint64_t guid = 0x0002c9030012'3456);

struct StartOptions {
  bool command_events = true;  // a command EQ; without it commands are polled
};

struct EqOptions {
  uint8_t log_size = 6;
  uint32_t vector = 0;
  uint64_t events = 0;  // bit n: event type n
  uint8_t log_page = 12;
  uint32_t uar = 0;  // 0: the driver's own
};

struct FakeEq {
  EqOptions options;
  FakeBuffer ring;
  uint32_t number = 0;
  uint32_t ci = 0;
};

struct CqOptions {
  uint8_t log_size = 6;
  bool cqe128 = false;
  bool ignore_overrun = false;
  uint32_t eqn = 0;  // 0: the driver's completion EQ
  uint32_t uar = 0;
  uint8_t log_page = 12;
  uint16_t period_us = 0;
  uint16_t max_count = 0;
  bool period_from_entry = false;
};

struct FakeCq {
  CqOptions options;
  FakeBuffer ring;
  uint64_t doorbell_record = 0;
  uint32_t number = 0;
  uint32_t ci = 0;
  uint32_t arm_sn = 0;
};

struct Sge {
  uint32_t lkey;
  uint64_t va;
  uint32_t bytes;
};

struct MrOptions {
  uint64_t bytes = 4096;
  uint64_t va = 0x7f12'3456'7000;  // its low bits are the offset in a page
  uint8_t log_page = 12;
  uint32_t pd = 0;  // 0: the driver's own
  uint8_t variant = 0x5a;
  bool remote_read = true;
  bool remote_write = true;
  bool local_write = true;
};

struct FakeMr {
  MrOptions options;
  FakeBuffer buffer;
  uint32_t index = 0;

  uint32_t key() const { return index << 8 | options.variant; }
  Sge At(uint64_t at, uint32_t bytes) const {
    return {key(), options.va + at, bytes};
  }
};

struct QpOptions {
  uint32_t send_cqn = 0;
  uint32_t recv_cqn = 0;
  uint8_t log_sq_size = 6;    // blocks of 64 bytes
  uint8_t log_rq_size = 5;    // receive WQEs
  uint8_t log_rq_stride = 6;  // bytes of one
  bool has_sq = true;
  bool has_rq = true;
  uint32_t pd = 0;
  uint32_t uar = 0;
  uint32_t user_index = VCX_QP_NO_USER_INDEX;
  uint32_t counter_set = 0;
};

struct FakeQp {
  QpOptions options;
  FakeBuffer buffer;
  uint64_t doorbell_record = 0;
  uint32_t number = 0;
  uint16_t sq_pi = 0;  // blocks
  uint16_t rq_pi = 0;
  uint32_t rq_bytes() const;
};

// What two connected QPs agree on; Connect() fills in numbers and addresses.
struct Connection {
  uint32_t remote_qpn = 0;
  uint16_t dlid = 0;
  uint8_t mtu_code = 5;  // 1: 256 ... 5: 4096
  uint32_t send_psn = 0;
  uint32_t recv_psn = 0;
  uint8_t log_sra_max = 2;
  uint8_t log_rra_max = 2;
  uint8_t log_msg_max = 30;
  uint8_t retry_count = 3;
  uint8_t rnr_retry = 3;
  uint8_t ack_timeout = 14;  // 67 ms
  uint8_t min_rnr_nak = 12;  // 0.64 ms
  bool force_loopback = false;
};

struct SendWr {
  uint8_t opcode = VCX_WQE_SEND;
  std::vector<Sge> sges{};
  std::vector<uint8_t> inline_data{};  // instead of sges
  uint64_t remote_va = 0;
  uint32_t rkey = 0;
  uint32_t imm = 0;
  bool signaled = true;
  bool solicited = false;
  uint8_t fence = VCX_WQE_FM_NONE;
};

struct WorkCompletion {
  uint8_t opcode;  // enum vcx_cqe_opcode
  bool solicited;
  uint8_t syndrome;         // error entries, else 0
  uint8_t vendor_syndrome;  // error entries, else 0
  uint32_t qpn;
  uint8_t send_opcode;
  uint16_t wqe_counter;
  uint32_t byte_count;
  uint32_t imm;
  uint32_t user_index;
};

class FakeDriver {
 public:
  FakeDriver(FakeHost& host, Device& device)
      : host_(host), device_(device), port_(host, device) {}

  // ---- Life
  // -------------------------------------------------------------------

  void Start(StartOptions options = {});
  void Enable();  // bus master, command queue, ENABLE_HCA ... INIT_HCA
  // Destroys what Start() made, gives the HCA back, and checks that exactly the
  // pages that were given return.
  void Stop();

  uint32_t uar() const { return uar_; }
  uint32_t pd() const { return pd_; }
  FakeEq& completion_eq() { return completion_eq_; }
  FakeEq& async_eq() { return async_eq_; }
  FakeEq& command_eq() { return command_eq_; }
  uint16_t lid();
  FakeHost& host() { return host_; }
  Device& device() { return device_; }
  CommandPort& port() { return port_; }

  // ---- Commands
  // -----------------------------------------------------------------

  // Through slot 0; the command event, if there is to be one, is consumed.
  Reply Execute(const std::vector<uint8_t>& in, size_t out_bytes);
  template <class T>
  Reply Execute(const Input<T>& in, size_t out_bytes = 16) {
    return Execute(in.Bytes(), out_bytes);
  }
  // The syndrome; the test fails when the command was not even delivered.
  template <class T>
  uint32_t Refusal(const Input<T>& in, size_t out_bytes = 16) {
    return SyndromeOf(Execute(in, out_bytes));
  }
  // Must succeed; the object number in the output.
  template <class T>
  uint32_t Must(const Input<T>& in, size_t out_bytes = 16) {
    return MustSucceed(Execute(in, out_bytes));
  }
  // A command that consists of an opcode and at most a number.
  Reply ExecuteNumber(uint16_t opcode, uint32_t number = 0, uint16_t op_mod = 0,
                      size_t out_bytes = 16);
  uint32_t MustNumber(uint16_t opcode, uint32_t number = 0,
                      uint16_t op_mod = 0);
  uint32_t RefusalOf(uint16_t opcode, uint32_t number = 0, uint16_t op_mod = 0,
                     size_t out_bytes = 16);

  // ---- Objects
  // --------------------------------------------------------------------

  FakeEq PrepareEq(EqOptions options = {});
  Input<vcx_create_eq_in> EqInput(const FakeEq& eq);
  FakeEq NewEq(EqOptions options = {});

  FakeCq PrepareCq(CqOptions options = {});
  Input<vcx_create_cq_in> CqInput(const FakeCq& cq);
  FakeCq NewCq(CqOptions options = {});

  // Memory and a key for it; NewMr() fills the memory with zeros.
  FakeMr PrepareMr(MrOptions options = {});
  Input<vcx_create_mkey_in> MrInput(const FakeMr& mr);
  FakeMr NewMr(MrOptions options = {});
  // A key for all DMA addresses.
  Input<vcx_create_mkey_in> PhysicalInput();

  FakeQp PrepareQp(QpOptions options);
  Input<vcx_qp_in> QpInput(const FakeQp& qp);
  FakeQp NewQp(QpOptions options);

  // ---- QP states
  // --------------------------------------------------------------------

  Input<vcx_qp_in> InitInput(const FakeQp& qp);
  Input<vcx_qp_in> RtrInput(const FakeQp& qp, const Connection& connection);
  Input<vcx_qp_in> RtsInput(const FakeQp& qp, const Connection& connection);
  void ToInit(const FakeQp& qp);
  void ToRtr(const FakeQp& qp, const Connection& connection);
  void ToRts(const FakeQp& qp, const Connection& connection);
  void ToErr(const FakeQp& qp) { MustNumber(VCX_CMD_2ERR_QP, qp.number); }
  // The driver's counters start again too.
  void ToRst(FakeQp& qp);
  vcx_qpc Query(const FakeQp& qp);
  vcx_qp_state State(const FakeQp& qp);

  // ---- Queues (fake_queues.cc)
  // ---------------------------------------------------------

  // Writes a WQE; the device does not look before Ring*(). PostSend() returns
  // the index that the completion will carry.
  uint16_t PostSend(FakeQp& qp, const SendWr& wr);
  void RingSend(const FakeQp& qp);
  uint16_t Send(FakeQp& qp, const SendWr& wr);
  void PostRecv(FakeQp& qp, const std::vector<Sge>& sges);

  std::optional<WorkCompletion> Poll(FakeCq& cq);
  std::vector<WorkCompletion> PollAll(FakeCq& cq);
  void Arm(FakeCq& cq, bool solicited_only = false);
  std::optional<vcx_eqe> NextEvent(FakeEq& eq);
  void ArmEq(const FakeEq& eq, bool arm = true);
  void WriteUar32(uint32_t page, uint32_t at, uint32_t value);
  void WriteUar64(uint32_t page, uint32_t at, uint64_t value);

  // Bytes of a memory region.
  void Poke(const FakeMr& mr, uint64_t at, const std::vector<uint8_t>& bytes);
  std::vector<uint8_t> Peek(const FakeMr& mr, uint64_t at, size_t bytes);

 private:
  static uint32_t SyndromeOf(const Reply& reply);
  static uint32_t MustSucceed(const Reply& reply);
  void GivePages(uint16_t op_mod);
  void TakePages();
  void StartEqs(StartOptions options);
  Input<vcx_qp_in> TransitionInput(uint16_t opcode, const FakeQp& qp);

  FakeHost& host_;
  Device& device_;
  CommandPort port_;
  std::set<uint64_t> given_pages_;
  uint32_t uar_ = 0;
  uint32_t pd_ = 0;
  FakeEq command_eq_;  // number 0: none
  FakeEq async_eq_;
  FakeEq completion_eq_;
};

// Brings both QPs to RTS, talking to each other.
void Connect(FakeDriver& driver_a, FakeQp& a, FakeDriver& driver_b, FakeQp& b,
             Connection connection = {});

// Bytes that depend on their place and the seed.
std::vector<uint8_t> Pattern(size_t bytes, uint8_t seed = 1);

// One machine with one device.
struct TestMachine {
  explicit TestMachine(const vcx_core_config& config = TestConfig())
      : device(config, host), driver(host, device) {}
  ~TestMachine();

  // Runs the device until it has nothing more to do now.
  void Settle();
  // Lets time pass; timers that become due fire, then the device settles.
  void Advance(uint64_t ns);
  uint64_t Counter(const char* name) const;

  FakeHost host;
  Device device;
  FakeDriver driver;
};

}  // namespace vcx

#endif  // VCX_CORE_TESTING_FAKE_DRIVER_H_
