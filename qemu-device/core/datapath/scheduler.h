/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// scheduler.h - stage 2: which QP next. Round robin over those that have work;
// QPs that wait for the wire stand aside until it is ready.
#ifndef VCX_CORE_DATAPATH_SCHEDULER_H_
#define VCX_CORE_DATAPATH_SCHEDULER_H_

#include <cstdint>

#include "resource/qp.h"

namespace vcx {

// What a QP's turn ended with.
enum class StepResult : uint8_t {
  kIdle,     // nothing to do until something happens
  kMore,     // could go on, the budget is used up
  kBlocked,  // waits for the wire
};

class Scheduler {
 public:
  // Puts the QP at the end of the line unless it stands in one.
  void Schedule(Qp& qp);
  // Lets it wait for the wire.
  void Block(Qp& qp);
  // All that waited for the wire may go on.
  void Unblock();
  // Takes it out wherever it stands.
  void Remove(Qp& qp);
  // The next QP, out of the line; null when none waits.
  Qp* Pop();

  bool empty() const { return ready_.head == nullptr; }
  uint32_t waiting() const { return ready_.count; }
  void Clear();

 private:
  struct Line {
    Qp* head = nullptr;
    Qp* tail = nullptr;
    uint32_t count = 0;
  };

  static void Push(Line& line, Qp& qp);
  static bool Unlink(Line& line, Qp& qp);

  Line ready_;
  Line blocked_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_SCHEDULER_H_
