/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// vcx_xfer - moves pseudo-random data over RC queue pairs, in one process or
// between two, and checks every byte. See --help (xfer/options.cc) and, for how
// it is done, xfer/endpoint.h.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>

#include "xfer/channel.h"
#include "xfer/endpoint.h"
#include "xfer/error.h"
#include "xfer/options.h"
#include "xfer/verbs.h"

namespace xfer {
namespace {

using Clock = std::chrono::steady_clock;

// Queue pairs that share a pair of completion queues.
constexpr size_t kQpsPerCq = 64;
constexpr int kPollBatch = 32;
// Longer than a queue pair tries again.
constexpr auto kPeerGone = std::chrono::seconds(8);

class Run {
 public:
  Run(const Options& options, const Traffic& traffic, Channel* channel)
      : options_(options),
        traffic_(traffic),
        channel_(channel),
        device_(options) {}

  void Go();

 private:
  bool Initiates(uint32_t qp) const;
  void MakeEndpoints();
  void ConnectAll();
  void MoveData();
  bool Step();
  Endpoint& Owner(const ibv_wc& completion) const;
  [[noreturn]] void ReportFlush(ibv_wc* completions, int at, int count);
  [[noreturn]] void ReportStuck() const;
  void Compare() const;
  void PrintResult(double seconds) const;
  Totals Sum(size_t first, size_t step) const;

  const Options& options_;
  const Traffic& traffic_;
  Channel* channel_;  // null: both ends are here
  Device device_;
  // With both ends here, the ends of pair i are 2 i and 2 i + 1.
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  size_t finished_ = 0;
};

bool Run::Initiates(uint32_t qp) const {
  const bool clients = traffic_.both == 0 || qp % 2 == 0;
  return clients == (options_.role == Role::kClient);
}

void Run::MakeEndpoints() {
  const size_t count = size_t{traffic_.qps} * (channel_ == nullptr ? 2 : 1);
  ibv_cq *send_cq = nullptr, *recv_cq = nullptr;
  for (size_t i = 0; i < count; i++) {
    if (i % kQpsPerCq == 0) {
      const auto sharing =
          static_cast<uint32_t>(std::min(kQpsPerCq, count - i));
      send_cq =
          device_.MakeCq(sharing * Endpoint::SendEntries(traffic_), false);
      recv_cq = device_.MakeCq(sharing * Endpoint::RecvEntries(), true);
    }
    const auto slot = static_cast<uint32_t>(i);
    const uint32_t pair = channel_ == nullptr ? slot / 2 : slot;
    const bool initiator =
        channel_ == nullptr ? slot % 2 == 0 : Initiates(pair);
    endpoints_.push_back(std::make_unique<Endpoint>(
        device_, traffic_, slot, pair, initiator, send_cq, recv_cq));
  }
}

void Run::ConnectAll() {
  if (channel_ == nullptr) {
    for (size_t i = 0; i < endpoints_.size(); i++)
      endpoints_[i]->Connect(endpoints_[i ^ 1]->address());
    return;
  }
  std::string addresses;
  for (const auto& endpoint : endpoints_)
    addresses += ToText(endpoint->address()) + "\n";
  channel_->Send(addresses);
  std::istringstream peers(channel_->Receive());
  for (const auto& endpoint : endpoints_) {
    std::string line;
    std::getline(peers, line);
    endpoint->Connect(AddressFromText(line));
  }
  // Nobody sends before the other side can receive.
  channel_->Send("connected");
  channel_->Receive();
}

Endpoint& Run::Owner(const ibv_wc& completion) const {
  const size_t slot = completion.wr_id >> 32;
  if (slot >= endpoints_.size())
    Fail("{}: a completion has the unknown work request ID {:#x}",
         device_.name(), completion.wr_id);
  return *endpoints_[slot];
}

// Handles what has completed; false when nothing had.
bool Run::Step() {
  ibv_wc completions[kPollBatch];
  const int n = device_.Poll(completions, kPollBatch);
  for (int i = 0; i < n; i++) {
    if (completions[i].status == IBV_WC_WR_FLUSH_ERR)
      ReportFlush(completions, i, n);
    Endpoint& endpoint = Owner(completions[i]);
    const bool before = endpoint.finished();
    endpoint.OnCompletion(completions[i]);
    if (!before && endpoint.finished()) finished_++;
  }
  return n > 0;
}

// A flushed work request only says that the queue pair has failed: looks a
// while for the completion that says why, in another queue or at the other end.
void Run::ReportFlush(ibv_wc* completions, int at, int count) {
  const ibv_wc flushed = completions[at];
  const auto end = Clock::now() + std::chrono::seconds(1);
  do {
    for (; at < count; at++)
      if (completions[at].status != IBV_WC_SUCCESS &&
          completions[at].status != IBV_WC_WR_FLUSH_ERR)
        Owner(completions[at]).OnCompletion(completions[at]);
    count = device_.Poll(completions, kPollBatch);
    at = 0;
  } while (Clock::now() < end);
  Owner(flushed).OnCompletion(flushed);
  Fail("{}: a flushed work request was taken for a good one", device_.name());
}

void Run::MoveData() {
  for (const auto& endpoint : endpoints_) endpoint->Start();
  const auto limit = std::chrono::seconds(options_.timeout);
  auto last = Clock::now();
  while (finished_ < endpoints_.size()) {
    if (Step()) {
      last = Clock::now();
      continue;
    }
    const auto idle = Clock::now() - last;
    if (idle > limit) ReportStuck();
    // A failed queue pair says more, and is given the time for it.
    if (idle > kPeerGone && channel_ != nullptr && channel_->Closed())
      Fail("the peer has ended; see what it says");
    device_.Wait();
  }
}

void Run::ReportStuck() const {
  constexpr size_t kMostLines = 5;
  size_t lines = 0;
  for (const auto& endpoint : endpoints_)
    if (!endpoint->finished() && lines++ < kMostLines)
      std::fprintf(stderr, "vcx_xfer: %s\n", endpoint->State().c_str());
  Fail("nothing has completed for {} s; {} of {} ends are not finished{}",
       options_.timeout, endpoints_.size() - finished_, endpoints_.size(),
       options_.events ? " (with --events; was an event lost?)" : "");
}

Totals Run::Sum(size_t first, size_t step) const {
  Totals sum;
  for (size_t i = first; i < endpoints_.size(); i += step) {
    const Totals& one = endpoints_[i]->totals();
    sum.operations += one.operations;
    sum.bytes += one.bytes;
    sum.checksum = Mix(sum.checksum, one.checksum);
  }
  return sum;
}

// Each side has summed what lies in its own memory.
void Run::Compare() const {
  const auto text = [](const Totals& totals) {
    return std::format("{} operations, {} bytes, checksum {:016x}",
                       totals.operations, totals.bytes, totals.checksum);
  };
  const std::string here = text(Sum(0, channel_ == nullptr ? 2 : 1));
  std::string there;
  if (channel_ == nullptr) {
    there = text(Sum(1, 2));
  } else {
    channel_->Send(here);
    there = channel_->Receive();
  }
  if (here != there) Fail("the two sides disagree: {} and {}", here, there);
}

void Run::PrintResult(double seconds) const {
  const Totals sum = Sum(0, channel_ == nullptr ? 2 : 1);
  std::string ops;
  for (const Op op : traffic_.ops)
    ops += (ops.empty() ? "" : ",") + std::string(OpName(op));
  std::printf("vcx_xfer: %s, %u QPs: %" PRIu64 " operations, %" PRIu64
              " bytes in %.2f s, %.1f MB/s, checksum %016" PRIx64
              ", all equal\n",
              ops.c_str(), traffic_.qps, sum.operations, sum.bytes, seconds,
              static_cast<double>(sum.bytes) / 1e6 / seconds, sum.checksum);
}

void Run::Go() {
  MakeEndpoints();
  ConnectAll();
  const auto began = Clock::now();
  MoveData();
  const std::chrono::duration<double> took = Clock::now() - began;
  // Also keeps both queue pairs alive until the last acknowledgement is there.
  Compare();
  const std::string events = device_.AsyncEvents();
  if (!events.empty()) Fail("{}: unexpected: {}", device_.name(), events);
  PrintResult(took.count());
  for (const auto& endpoint : endpoints_) endpoint->Close();
  device_.Close();
}

int Main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  Traffic traffic = options.traffic;
  std::optional<Channel> channel;
  if (options.role == Role::kServe) {
    channel.emplace(Channel::Serve(options.tcp_port));
    traffic = TrafficFromText(channel->Receive());
  } else if (options.role == Role::kClient) {
    channel.emplace(
        Channel::Connect(options.peer, options.tcp_port, options.timeout));
    channel->Send(ToText(traffic));
  }
  Run(options, traffic, channel ? &*channel : nullptr).Go();
  return 0;
}

}  // namespace
}  // namespace xfer

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    return xfer::Main(argc, argv);
  } catch (const xfer::UsageError& error) {
    std::fprintf(stderr, "vcx_xfer: %s; see --help\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vcx_xfer: %s\n", error.what());
    return 1;
  }
}
