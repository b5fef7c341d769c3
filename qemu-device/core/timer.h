/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// timer.h - any number of timers on the host's single one: a binary heap with
// positions, so that arming and cancelling cost O(log n) and no allocation
// beyond the heap's growth.
#ifndef VCX_CORE_TIMER_H_
#define VCX_CORE_TIMER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vcx_core.h"

namespace vcx {

class Host;

enum class TimerKind : uint8_t {
  kRetry,       // owner: Qp, no acknowledgement in time
  kRnr,         // owner: Qp, the receiver-not-ready pause is over
  kErrorPoll,   // owner: Qp in error, look for posted receive WQEs
  kModeration,  // owner: Cq, the moderation period is over
  kFault,       // owner: FaultWire, a packet that was held back goes on
};

struct Timer {
  Timer(TimerKind k, void* o) : owner(o), kind(k) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  static constexpr uint32_t kIdle = UINT32_MAX;

  uint64_t deadline = VCX_CORE_NO_DEADLINE;
  void* const owner;
  uint32_t position = kIdle;  // in the heap
  const TimerKind kind;

  bool armed() const { return position != kIdle; }
};

// The timers of one device. A timer must be cancelled before its owner goes.
class TimerQueue {
 public:
  explicit TimerQueue(Host& host) : host_(host) {}

  // Arms the timer, or moves it when it is armed.
  void Arm(Timer& timer, uint64_t deadline_ns);
  void Cancel(Timer& timer);

  // The earliest timer that is due, disarmed; null when none is.
  Timer* PopDue(uint64_t now_ns);

  // Tells the host the next deadline when it is earlier than what the host
  // was told.
  void Publish();

  // The host's timer has gone off: what it was told is used up.
  void Expired();

  // Forgets all timers without touching them: their owners are gone already.
  void Clear();

 private:
  void Place(size_t at, Timer* timer);
  void SiftUp(size_t at);
  void SiftDown(size_t at);
  void Remove(size_t at);

  Host& host_;
  std::vector<Timer*> heap_;
  uint64_t published_ = VCX_CORE_NO_DEADLINE;
};

}  // namespace vcx

#endif  // VCX_CORE_TIMER_H_
