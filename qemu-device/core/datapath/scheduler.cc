/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/scheduler.h"

namespace vcx {

void Scheduler::Push(Line& line, Qp& qp) {
  qp.scheduled = true;
  qp.scheduled_next = nullptr;
  if (line.tail != nullptr)
    line.tail->scheduled_next = &qp;
  else
    line.head = &qp;
  line.tail = &qp;
  ++line.count;
}

// Linear, but only the destruction of a QP that has work comes here.
bool Scheduler::Unlink(Line& line, Qp& qp) {
  Qp* before = nullptr;
  for (Qp* at = line.head; at != nullptr;
       before = at, at = at->scheduled_next) {
    if (at != &qp) continue;
    (before != nullptr ? before->scheduled_next : line.head) =
        qp.scheduled_next;
    if (line.tail == &qp) line.tail = before;
    --line.count;
    return true;
  }
  return false;
}

void Scheduler::Schedule(Qp& qp) {
  if (!qp.scheduled) Push(ready_, qp);
}

void Scheduler::Block(Qp& qp) {
  if (!qp.scheduled) Push(blocked_, qp);
}

void Scheduler::Unblock() {
  if (blocked_.head == nullptr) return;
  if (ready_.tail != nullptr)
    ready_.tail->scheduled_next = blocked_.head;
  else
    ready_.head = blocked_.head;
  ready_.tail = blocked_.tail;
  ready_.count += blocked_.count;
  blocked_ = {};
}

void Scheduler::Remove(Qp& qp) {
  if (!qp.scheduled) return;
  if (!Unlink(ready_, qp)) Unlink(blocked_, qp);
  qp.scheduled = false;
  qp.scheduled_next = nullptr;
}

Qp* Scheduler::Pop() {
  Qp* qp = ready_.head;
  if (qp == nullptr) return nullptr;
  ready_.head = qp->scheduled_next;
  if (ready_.head == nullptr)
    ready_.tail = nullptr;
  else
    ready_.head->Prefetch();
  --ready_.count;
  qp->scheduled = false;
  qp->scheduled_next = nullptr;
  return qp;
}

void Scheduler::Clear() {
  ready_ = {};
  blocked_ = {};
}

}  // namespace vcx
