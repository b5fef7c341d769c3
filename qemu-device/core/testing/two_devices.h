/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// two_devices.h - two machines and the wire between their devices.
//
//   TwoDevices pair;                       // both started, a driver each
//   FakeQp qa = ..., qb = ...;
//   Connect(pair.a.driver, qa, pair.b.driver, qb);
//   pair.OnFrame([n = 0](const Frame&, bool from_a) mutable {
//     return from_a && n++ == 2 ? WireAction::kDrop : WireAction::kDeliver;
//   });
//   pair.Settle();                         // until both and the wire are quiet
//   pair.Advance(100'000'000);             // time for both, step by step
//
// A held frame arrives with ReleaseHeld(), after everything that was sent in
// the meantime.
#ifndef VCX_CORE_TESTING_TWO_DEVICES_H_
#define VCX_CORE_TESTING_TWO_DEVICES_H_

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "testing/fake_driver.h"

namespace vcx {

enum class WireAction : uint8_t { kDeliver, kDrop, kDuplicate, kHold };

class TwoDevices {
 public:
  // May change the frame before it decides.
  using Hook = std::function<WireAction(Frame& frame, bool from_a)>;

  static constexpr uint64_t kGuidA = 0x0002c90300aa'0001;
  static constexpr uint64_t kGuidB = 0x0002c90300bb'0002;

  TwoDevices() : TwoDevices(WireConfig(kGuidA), WireConfig(kGuidB)) {}
  TwoDevices(const vcx_core_config& config_a, const vcx_core_config& config_b)
      : a(config_a), b(config_b) {
    a.driver.Start();
    b.driver.Start();
  }

  static vcx_core_config WireConfig(uint64_t guid,
                                    const char* faults = nullptr) {
    vcx_core_config config = TestConfig(guid);
    config.has_wire = true;
    config.fault = faults;
    return config;
  }

  void OnFrame(Hook hook) { hook_ = std::move(hook); }

  // Runs both devices and carries frames until nothing moves any more.
  void Settle() {
    do {
      a.Settle();
      b.Settle();
    } while (Carry());
  }

  // Lets time pass for both, from deadline to deadline.
  void Advance(uint64_t ns) {
    const uint64_t end = a.host.now + ns;
    for (;;) {
      const uint64_t next = std::min(a.host.deadline, b.host.deadline);
      if (next > end) break;
      PassTo(std::max(next, a.host.now));
    }
    PassTo(end);
  }

  void ReleaseHeld() {
    for (auto& [frame, from_a] : std::exchange(held_, {}))
      (from_a ? b : a).device.Receive(frame.data(), frame.size());
    Settle();
  }

  size_t held() const { return held_.size(); }
  uint64_t carried() const { return carried_; }

  TestMachine a;
  TestMachine b;

 private:
  bool Carry() {
    std::deque<Frame> from_a = std::exchange(a.host.frames, {});
    std::deque<Frame> from_b = std::exchange(b.host.frames, {});
    for (Frame& frame : from_a) CarryOne(frame, true);
    for (Frame& frame : from_b) CarryOne(frame, false);
    return !from_a.empty() || !from_b.empty();
  }

  void CarryOne(Frame& frame, bool from_a) {
    ++carried_;
    Device& to = (from_a ? b : a).device;
    switch (hook_ ? hook_(frame, from_a) : WireAction::kDeliver) {
      case WireAction::kDrop: return;
      case WireAction::kHold: held_.emplace_back(frame, from_a); return;
      case WireAction::kDuplicate:
        to.Receive(frame.data(), frame.size());
        [[fallthrough]];
      case WireAction::kDeliver: to.Receive(frame.data(), frame.size()); return;
    }
  }

  void PassTo(uint64_t now) {
    for (TestMachine* machine : {&a, &b}) {
      machine->host.now = now;
      if (machine->host.deadline > now) continue;
      machine->host.deadline = VCX_CORE_NO_DEADLINE;
      machine->device.TimerFired();
    }
    Settle();
  }

  Hook hook_;
  std::vector<std::pair<Frame, bool>> held_;
  uint64_t carried_ = 0;
};

}  // namespace vcx

#endif  // VCX_CORE_TESTING_TWO_DEVICES_H_
