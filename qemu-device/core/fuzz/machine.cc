/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "fuzz/machine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "vcx/regs.h"

namespace vcx::fuzz {
namespace {

// Small tables: a device is made for every input.
vcx_core_config Config(uint64_t guid) {
  vcx_core_config config = TwoDevices::WireConfig(guid);
  config.max_qp = 64;
  config.max_cq = 64;
  config.max_srq = 64;
  config.max_mr = 64;
  config.max_pd = 16;
  config.max_eq = 16;
  config.max_uar = 64;
  config.boot_pages = 3;
  config.init_pages = 9;
  return config;
}

// The smallest MTU: a message of many packets is still short.
constexpr Connection kConnection = {
    .mtu_code = 1, .retry_count = 2, .rnr_retry = 2};

void Demand(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "broken promise: %s\n", what);
  abort();
}

}  // namespace

Machine::Machine()
    : pair_(Config(TwoDevices::kGuidA), Config(TwoDevices::kGuidB)) {
  MakeProcess(pair_.a, &processes_[0], &secrets_[0]);
  MakeProcess(pair_.b, &processes_[1], &secrets_[1]);
  Connect(pair_.a.driver, processes_[0].qp, pair_.b.driver, processes_[1].qp,
          kConnection);
  for (int i : {0, 1}) {
    processes_[i].peer = kConnection;
    processes_[i].peer.remote_qpn = processes_[1 - i].qp.number;
    processes_[i].peer.dlid = processes_[1 - i].machine->driver.lid();
  }
}

void Machine::MakeProcess(TestMachine& machine, Process* process,
                          Secret* secret) {
  FakeDriver& driver = machine.driver;
  process->machine = &machine;
  process->send_cq = driver.NewCq({.log_size = 4});
  process->recv_cq = driver.NewCq({.log_size = 4, .cqe128 = true});
  process->mr = driver.NewMr({.bytes = kMrBytes});
  process->qp = driver.NewQp({.send_cqn = process->send_cq.number,
                              .recv_cqn = process->recv_cq.number,
                              .log_sq_size = 5,
                              .log_rq_size = 3,
                              .log_rq_stride = 6});
  const uint32_t other_pd = driver.MustNumber(VCX_CMD_ALLOC_PD);
  secret->mr = driver.NewMr({.bytes = 4096, .va = 0x1000, .pd = other_pd});
  secret->bytes = Pattern(4096, 99);
  driver.Poke(secret->mr, 0, secret->bytes);
}

Machine::~Machine() {
  for (const Process& process : processes_) {
    process.machine->host.wire_full = false;
    process.machine->device.WireReady();
  }
  Settle();
  CheckSecrets();
  for (const Process& process : processes_) CheckGone(*process.machine);
}

void Machine::CheckSecrets() {
  for (int i = 0; secret_kept_ && i < 2; ++i) {
    FakeDriver& driver = processes_[i].machine->driver;
    Demand(driver.Peek(secrets_[i].mr, 0, secrets_[i].bytes.size()) ==
               secrets_[i].bytes,
           "memory of another protection domain was written");
  }
}

// After a reset there is no object, no memory access, no interrupt, no timer.
void Machine::CheckGone(TestMachine& machine) {
  machine.host.HealDma();
  machine.device.Reset(VCX_RESET_FUNCTION);
  std::vector<vcx_core_counter> counters(
      machine.device.ReadCounters(nullptr, 0));
  machine.device.ReadCounters(counters.data(), counters.size());
  for (const vcx_core_counter& counter : counters) {
    if (std::string_view(counter.name).substr(0, 8) == "objects_")
      Demand(counter.value == 0, "an object is left after a reset");
  }
  FakeHost& host = machine.host;
  const uint64_t accesses = host.dma_reads + host.dma_writes;
  host.interrupts.clear();
  host.now += 3600'000'000'000;
  machine.device.Run(64);
  machine.device.TimerFired();
  Demand(host.dma_reads + host.dma_writes == accesses,
         "memory is accessed after a reset");
  Demand(host.interrupts.empty(), "an interrupt comes after a reset");
  Demand(host.deadline == VCX_CORE_NO_DEADLINE, "a timer runs after a reset");
  Demand(host.mapped == 0, "memory is mapped after a reset");
}

void Machine::Settle() { pair_.Settle(); }

void Machine::Time(Script& script) {
  // Up to a minute: longer than the longest chain of retries here.
  pair_.Advance(uint64_t{1} << script.Below(36));
}

void Machine::Life(Script& script) {
  Process& process = Pick(script);
  Device& device = process.machine->device;
  FakeHost& host = process.machine->host;
  switch (script.Below(6)) {
    case 0: device.Reset(VCX_RESET_FUNCTION); break;
    case 1: device.SetBusMaster(script.Flag()); break;
    case 2: device.SetLink(script.Flag()); break;
    case 3: host.set_map_works(script.Flag()); break;
    case 4: host.HealDma(); break;
    case 5: {
      const FakeBuffer* const buffers[] = {
          &process.qp.buffer, &process.send_cq.ring, &process.recv_cq.ring,
          &process.mr.buffer, &process.machine->driver.completion_eq().ring};
      const FakeBuffer& buffer = *buffers[script.Below(5)];
      host.FailDma(buffer.At(script.U16() % buffer.bytes), 64,
                   static_cast<FakeHost::FailKind>(1 + script.Below(3)));
      break;
    }
  }
}

void Machine::WireWeather(Script& script) {
  const uint8_t seed = script.U8();
  if ((seed & 1) != 0) {
    Process& process = processes_[seed >> 1 & 1];
    process.machine->host.wire_full = !process.machine->host.wire_full;
    if (!process.machine->host.wire_full) process.machine->device.WireReady();
    return;
  }
  if ((seed & 2) != 0) return pair_.ReleaseHeld();
  const std::vector<uint8_t> plan = script.Bytes();
  pair_.OnFrame([plan, n = size_t{0}](Frame& frame, bool) mutable {
    if (n >= plan.size()) return WireAction::kDeliver;
    const uint8_t act = plan[n++];
    if (act >= 128) frame[act * 7u % frame.size()] ^= act;
    return static_cast<WireAction>(act & 3);
  });
}

}  // namespace vcx::fuzz
