/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// core_bench.cc - how fast the device core is by itself, on one CPU, without
// QEMU and without a guest: writes over loopback, from doorbell to CQE.
//
//   core-bench [--smoke] [options of Google Benchmark]
//
// Prints what was measured beside what is aimed at. --smoke runs everything
// once, with few QPs, to see that it runs.
#include <benchmark/benchmark.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "flat_host.h"
#include "live_bytes.h"
#include "testing/fake_driver.h"
#include "vcx/regs.h"

namespace vcx {
namespace {

constexpr uint32_t kMessage = 8;
constexpr uint32_t kMib = 1u << 20;
constexpr uint64_t kWorkingSet = 32;  // MiB on each side
constexpr uint32_t kRunUnits = 64;
bool smoke = false;

vcx_core_config BenchConfig() {
  vcx_core_config config = TestConfig();
  config.max_qp = 1u << 18;
  return config;
}

// A device with QPs that are each connected to themselves.
class Bench {
 public:
  Bench(uint32_t qps, uint8_t log_sq_size)
      : flat_(fake_),
        device_(BenchConfig(), flat_),
        driver_(fake_, device_),
        blocks_(1u << log_sq_size) {
    driver_.Start();
    cq_ = driver_.NewCq({.log_size = 10});
    mr_ = driver_.NewMr({.bytes = 8192});
    const QpOptions options{.send_cqn = cq_.number,
                            .recv_cqn = cq_.number,
                            .log_sq_size = log_sq_size,
                            .log_rq_size = 2};
    for (uint32_t i = 0; i < qps; ++i) {
      FakeQp qp = driver_.PrepareQp(options);
      Connection connection{.dlid = driver_.lid()};
      LiveBytes::counting = true;
      qp.number = driver_.Must(driver_.QpInput(qp));
      connection.remote_qpn = qp.number;
      driver_.ToInit(qp);
      driver_.ToRtr(qp, connection);
      driver_.ToRts(qp, connection);
      LiveBytes::counting = false;
      qps_.push_back({qp.number, qp.options.uar, 0, qp.doorbell_record});
      fake_qps_.push_back(qp);
    }
  }

  // These writes in turn in the blocks of each send queue; then each QP writes
  // once, so that all memory has been touched.
  void Fill(const std::vector<SendWr>& wrs) {
    for (FakeQp& qp : fake_qps_)
      for (uint32_t i = 0; i < blocks_; ++i)
        driver_.PostSend(qp, wrs[i % wrs.size()]);
    fake_qps_ = {};
    flat_.Freeze();
    for (uint32_t i = 0; i < qps(); ++i) Write(i, 1);
  }
  SendWr SmallWrite() const {
    return {.opcode = VCX_WQE_RDMA_WRITE,
            .sges = {mr_.At(0, kMessage)},
            .remote_va = mr_.options.va + 4096,
            .rkey = mr_.key()};
  }

  // Rings for `count` more writes of QP i, and takes what completes.
  void Write(uint32_t i, uint16_t count) {
    Queue& queue = qps_[i];
    queue.producer = static_cast<uint16_t>(queue.producer + count);
    Store(queue.doorbell_record + VCX_DBR_SQ * sizeof(vcx_be32),
          queue.producer);
    driver_.WriteUar64(queue.uar, VCX_UAR_SQ, uint64_t{queue.number} << 8);
    while (device_.Run(kRunUnits)) {
    }
    consumer_ += count;
    Store(cq_.doorbell_record + VCX_DBR_CQ_CI * sizeof(vcx_be32), consumer_);
  }

  // All writes have completed, none in error.
  bool Done() const {
    std::vector<vcx_core_counter> counters(device_.ReadCounters(nullptr, 0));
    device_.ReadCounters(counters.data(), counters.size());
    uint64_t done = 0;
    for (const vcx_core_counter& counter : counters) {
      const std::string name = counter.name;
      if (name == "completions") done = counter.value;
      if (name == "qp_errors" && counter.value != 0) return false;
    }
    return done == consumer_;
  }

  FakeDriver& driver() { return driver_; }
  FakeHost& fake() { return fake_; }
  FlatHost& flat() { return flat_; }
  uint32_t qps() const { return static_cast<uint32_t>(qps_.size()); }

 private:
  struct Queue {
    uint32_t number;
    uint32_t uar;
    uint16_t producer;
    uint64_t doorbell_record;
  };

  void Store(uint64_t addr, uint32_t value) {
    const vcx_be32 word(value);
    std::memcpy(flat_.At(addr), &word, sizeof(word));
  }

  FakeHost fake_;
  FlatHost flat_;
  Device device_;
  FakeDriver driver_;
  const uint32_t blocks_;
  FakeCq cq_;
  FakeMr mr_;
  std::vector<FakeQp> fake_qps_;
  std::vector<Queue> qps_;
  uint32_t consumer_ = 0;
};

void Finish(benchmark::State& state, const Bench& bench) {
  if (!bench.Done()) state.SkipWithError("a write has not completed");
}

// range: writes for each doorbell.
void SmallWrites(benchmark::State& state) {
  Bench bench(1, 7);
  bench.Fill({bench.SmallWrite()});
  const auto batch = static_cast<uint16_t>(state.range(0));
  for (auto _ : state) bench.Write(0, batch);
  state.SetItemsProcessed(state.iterations() * batch);
  Finish(state, bench);
}

// range: connected QPs, of which each writes once in its turn.
void ManyQps(benchmark::State& state) {
  Bench bench(static_cast<uint32_t>(state.range(0)), 2);
  bench.Fill({bench.SmallWrite()});
  uint32_t next = 0;
  for (auto _ : state) {
    bench.Write(next, 1);
    if (++next == bench.qps()) next = 0;
  }
  state.SetItemsProcessed(state.iterations());
  Finish(state, bench);
}

// Both go through a working set that no cache holds. The memory of the writes
// is as a guest has it: pages of 4 KiB in any order.
void LargeWrites(benchmark::State& state) {
  Bench bench(1, 6);
  const FakeMr from = bench.driver().NewMr({.bytes = kWorkingSet * kMib});
  const FakeMr to = bench.driver().NewMr({.bytes = kWorkingSet * kMib});
  std::vector<SendWr> wrs;
  for (uint64_t i = 0; i < kWorkingSet; ++i)
    wrs.push_back({.opcode = VCX_WQE_RDMA_WRITE,
                   .sges = {from.At(i * kMib, kMib)},
                   .remote_va = to.options.va + i * kMib,
                   .rkey = to.key()});
  bench.Fill(wrs);
  for (uint32_t i = 0; i < kWorkingSet; ++i) bench.Write(0, 1);
  for (auto _ : state) bench.Write(0, 1);
  state.SetBytesProcessed(state.iterations() * int64_t{kMib});
  Finish(state, bench);
}

void Memcpy(benchmark::State& state) {
  std::vector<uint8_t> from(kWorkingSet * kMib, 1), to(kWorkingSet * kMib, 2);
  size_t at = 0;
  for (auto _ : state) {
    std::memcpy(&to[at], &from[at], kMib);
    benchmark::ClobberMemory();
    at = (at + kMib) % from.size();
  }
  state.SetBytesProcessed(state.iterations() * int64_t{kMib});
}

// Keeps the rates; the table is printed at the end.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      // Without the number of iterations behind it.
      const std::string whole = run.benchmark_name();
      const std::string name = whole.substr(0, whole.find("/iterations"));
      fprintf(stderr, "core-bench: %s\n", name.c_str());
      if (run.error_occurred) {
        failed = true;
        fprintf(stderr, "core-bench: %s: %s\n", name.c_str(),
                run.error_message.c_str());
      }
      for (const char* rate : {"items_per_second", "bytes_per_second"}) {
        const auto found = run.counters.find(rate);
        if (found != run.counters.end()) rates[name] = found->second;
      }
    }
  }

  std::map<std::string, double> rates;
  bool failed = false;
};

double BytesPerIdleQp() {
  constexpr uint32_t kQps = 4096;
  LiveBytes::bytes = 0;
  const Bench bench(smoke ? 64 : kQps, 2);
  return static_cast<double>(LiveBytes::bytes) / bench.qps();
}

void Row(const char* what, double value, const char* unit, const char* aim,
         bool reached) {
  printf("%-44s %9.2f %-8s %-10s %s\n", what, value, unit, aim,
         reached ? "reached" : "not yet");
}

void PrintTable(std::map<std::string, double>& rates, uint32_t many) {
  constexpr double kMega = 1e6;
  constexpr double kAimRate = 10;
  constexpr double kAimShare = 0.9;
  constexpr double kAimBytes = 1024;
  constexpr double kAimFlat = 2.0 / 3;
  const std::string most = "ManyQps/" + std::to_string(many);
  const double one = rates["ManyQps/1"];
  printf("%-44s %9s %-8s %-10s\n", "the core alone, one CPU", "measured", "",
         "aim");
  const double rate = rates["SmallWrites/64"] / kMega;
  Row("8-byte writes, 64 for each doorbell", rate, "M/s", ">= 10",
      rate >= kAimRate);
  const double single = rates["SmallWrites/1"] / kMega;
  Row("8-byte writes, a doorbell for each", single, "M/s", ">= 10",
      single >= kAimRate);
  printf("%-44s %9.2f %-8s\n", "memcpy of 1 MiB", rates["Memcpy"] / kMega / 1e3,
         "GB/s");
  const double share = rates["LargeWrites"] / rates["Memcpy"];
  Row("1 MiB writes, as a share of that", share, "", ">= 0.90",
      share >= kAimShare);
  const double bytes = BytesPerIdleQp();
  Row("memory of an idle QP", bytes, "bytes", "<= 1024", bytes <= kAimBytes);
  printf("%-44s %9.2f %-8s\n", "8-byte writes, 1 QP", one / kMega, "M/s");
  for (const std::string& name : {std::string("ManyQps/1000"), most}) {
    if (rates.find(name) == rates.end()) continue;
    const double part = rates[name] / one;
    const std::string what = "with " + name.substr(8) + " QPs, as a share";
    Row(what.c_str(), part, "", ">= 0.67", part >= kAimFlat);
  }
}

int Main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--smoke") != 0) continue;
    smoke = true;
    std::copy(argv + i + 1, argv + argc, argv + i);
    --argc;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const uint32_t many = smoke ? 1000 : 100'000;
  std::vector<benchmark::internal::Benchmark*> all = {
      benchmark::RegisterBenchmark("SmallWrites", SmallWrites)->Arg(64)->Arg(1),
      benchmark::RegisterBenchmark("Memcpy", Memcpy),
      benchmark::RegisterBenchmark("LargeWrites", LargeWrites),
      benchmark::RegisterBenchmark("ManyQps", ManyQps)->Arg(1)->Arg(1000)};
  if (!smoke) all.back()->Arg(many);
  // Counted and not timed: making 100,000 QPs anew for each trial takes longer
  // than the trial.
  constexpr int64_t kIterations[] = {100'000, 5000, 5000, 500'000};
  for (size_t i = 0; i < all.size(); ++i)
    all[i]->Iterations(smoke ? 10 : kIterations[i]);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  PrintTable(collector.rates, many);
  const bool failed = collector.failed || ::testing::Test::HasFailure();
  printf("core-bench: %s\n", failed ? "FAILED" : "done");
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace vcx

int main(int argc, char** argv) { return vcx::Main(argc, argv); }
