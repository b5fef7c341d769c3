/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "device.h"

#include "vcx/cap.h"
#include "vcx/eqe.h"

namespace vcx {
namespace {

constexpr uint8_t kPort = 1;

FaultPlan FaultsFromConfig(const vcx_core_config& config) {
  FaultPlan plan;
  ParseFaultPlan(config.fault, &plan, nullptr, 0);  // was checked
  return plan;
}

// Bounds the work of one call when timers fire as fast as they are armed.
constexpr uint32_t kMaxTimersPerCall = 4096;

}  // namespace

Device::Device(const vcx_core_config& config, Host& host)
    : config_(config),
      limits_(LimitsFromConfig(config)),
      host_(host),
      trace_(host),
      dma_(host),
      timers_(host),
      objects_(limits_),
      port_(config),
      faults_(FaultsFromConfig(config)),
      pipeline_(host, dma_, timers_, objects_, port_, counters_, trace_,
                config.has_wire, faults_),
      firmware_(config_, limits_, dma_, objects_, port_, pipeline_, counters_,
                trace_),
      commands_(firmware_, trace_),
      bar_(host, limits_, dma_, objects_, commands_, pipeline_, counters_,
           trace_) {}

uint64_t Device::BarRead(uint64_t offset, unsigned size) {
  return bar_.Read(offset, size);
}

void Device::BarWrite(uint64_t offset, uint64_t value, unsigned size) {
  bar_.Write(offset, value, size);
  timers_.Publish();
}

bool Device::Run(uint32_t budget) {
  if (!dma_.enabled()) return false;
  const bool more = pipeline_.Run(budget);
  timers_.Publish();
  return more;
}

void Device::TimerFired() {
  timers_.Expired();
  if (dma_.enabled()) {
    const uint64_t now = host_.NowNs();
    for (uint32_t i = 0; i < kMaxTimersPerCall; ++i) {
      Timer* timer = timers_.PopDue(now);
      if (timer == nullptr) break;
      pipeline_.TimerExpired(*timer);
    }
    timers_.Publish();
  }
}

void Device::Receive(const uint8_t* frame, size_t len) {
  if (!dma_.enabled()) {
    counters_.Add(Counter::kDropPortDown);
    return;
  }
  pipeline_.Receive(frame, len);
  timers_.Publish();
}

void Device::WireReady() {
  if (!dma_.enabled()) return;
  pipeline_.WireReady();
  timers_.Publish();
}

void Device::SetLink(bool up) {
  if (port_.active() == up) return;
  port_.set_link_up(up);
  // Without a driver there is nobody to tell.
  if (!dma_.enabled() || firmware_.state != HcaState::kInitialized) return;
  vcx_eqe_port event{};
  event.port = kPort << 4;
  pipeline_.RaiseEvent(VCX_EVENT_PORT_CHANGE,
                       up ? VCX_PORT_EVENT_ACTIVE : VCX_PORT_EVENT_DOWN, &event,
                       sizeof(event));
}

void Device::Reset(vcx_reset_reason reason) {
  trace_(VCX_TRACE_RESET, reason);
  dma_.set_enabled(false);
  pipeline_.Clear();
  timers_.Clear();
  objects_.Clear();
  firmware_.Reset();
  commands_.Reset();
  bar_.Reset();
}

void Device::SetBusMaster(bool enabled) {
  if (dma_.enabled() == enabled) return;
  dma_.set_enabled(enabled);
  if (!enabled) return;
  // What stood still goes on: timers that fired in between, a wire that was
  // full before (and says that it is not once, perhaps while nobody listened),
  // and the engines.
  TimerFired();
  WireReady();
  host_.Kick();
}

size_t Device::ReadCounters(vcx_core_counter* out, size_t max) const {
  const vcx_core_counter objects[] = {
      {"objects_pd", objects_.pds.count()},
      {"objects_uar", objects_.uars.count()},
      {"objects_counter_set", objects_.counter_sets.count()},
      {"objects_eq", objects_.eqs.count()},
      {"objects_cq", objects_.cqs.count()},
      {"objects_mkey", objects_.mkeys.count()},
      {"objects_qp", objects_.qps.count()},
      {"objects_page", firmware_.pages.held()},
  };
  size_t n = 0;
  for (const vcx_core_counter& counter : objects) {
    if (n < max) out[n] = counter;
    ++n;
  }
  for (size_t i = 0; i < kNumCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (n < max) out[n] = {CounterName(counter), counters_.Get(counter)};
    ++n;
  }
  return n;
}

}  // namespace vcx
