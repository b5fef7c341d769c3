/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "timer.h"

#include "host.h"

namespace vcx {

void TimerQueue::Place(size_t at, Timer* timer) {
  heap_[at] = timer;
  timer->position = static_cast<uint32_t>(at);
}

void TimerQueue::SiftUp(size_t at) {
  Timer* timer = heap_[at];
  while (at != 0) {
    const size_t parent = (at - 1) / 2;
    if (heap_[parent]->deadline <= timer->deadline) break;
    Place(at, heap_[parent]);
    at = parent;
  }
  Place(at, timer);
}

void TimerQueue::SiftDown(size_t at) {
  Timer* timer = heap_[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() &&
        heap_[child + 1]->deadline < heap_[child]->deadline)
      ++child;
    if (heap_[child]->deadline >= timer->deadline) break;
    Place(at, heap_[child]);
    at = child;
  }
  Place(at, timer);
}

void TimerQueue::Remove(size_t at) {
  heap_[at]->position = Timer::kIdle;
  Timer* last = heap_.back();
  heap_.pop_back();
  if (at == heap_.size()) return;
  Place(at, last);
  SiftUp(at);
  SiftDown(last->position);
}

void TimerQueue::Arm(Timer& timer, uint64_t deadline_ns) {
  if (timer.armed()) Remove(timer.position);
  timer.deadline = deadline_ns;
  heap_.push_back(&timer);
  SiftUp(heap_.size() - 1);
}

void TimerQueue::Cancel(Timer& timer) {
  if (timer.armed()) Remove(timer.position);
}

Timer* TimerQueue::PopDue(uint64_t now_ns) {
  if (heap_.empty() || heap_.front()->deadline > now_ns) return nullptr;
  Timer* timer = heap_.front();
  Remove(0);
  return timer;
}

void TimerQueue::Publish() {
  const uint64_t next =
      heap_.empty() ? VCX_CORE_NO_DEADLINE : heap_.front()->deadline;
  // A timer that is too early does no harm; moving it later at every
  // acknowledgement would cost more than the odd early call.
  if (next >= published_ && published_ != VCX_CORE_NO_DEADLINE) return;
  if (next == published_) return;
  published_ = next;
  host_.SetTimer(next);
}

void TimerQueue::Expired() { published_ = VCX_CORE_NO_DEADLINE; }

void TimerQueue::Clear() {
  heap_.clear();
  published_ = VCX_CORE_NO_DEADLINE;
  host_.SetTimer(VCX_CORE_NO_DEADLINE);
}

}  // namespace vcx
