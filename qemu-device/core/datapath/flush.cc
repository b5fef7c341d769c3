/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/flush.h"

#include <algorithm>

#include "datapath/pipeline.h"

namespace vcx {
namespace {

constexpr uint32_t kFirstPollMs = 1;
constexpr uint32_t kLastPollMs = 64;
constexpr uint64_t kMs = 1'000'000;

// Says why the QP is in error, where no other completion can.
Fault Flushed(const Qp& qp) {
  return {VCX_SYNDROME_FLUSHED,
          static_cast<vcx_vendor_syndrome>(qp.flush_reason)};
}

}  // namespace

StepResult Flush::Step(Qp& qp, uint32_t* budget) {
  while (qp.has_sq && qp.requester.consumer != qp.requester.producer) {
    if (*budget == 0) return StepResult::kMore;
    --*budget;
    if (!FlushSend(qp)) break;
  }
  uint16_t index;
  while (NextReceive(qp, &index)) {
    FlushReceive(qp, index);
    qp.error_poll_ms = 0;
    if (*budget == 0) return StepResult::kMore;
    --*budget;
  }
  StartPolling(qp);
  return StepResult::kIdle;
}

// False: the WQE cannot be read, and with it where the next one begins.
bool Flush::FlushSend(Qp& qp) {
  RequesterState& r = qp.requester;
  if (!r.inflight.empty()) {
    const InflightWqe wqe = r.inflight.front();
    r.inflight.PopFront();
    r.consumer = static_cast<uint16_t>(wqe.index + wqe.blocks);
    r.next = r.consumer;
    p_.completion.SendError(qp, wqe.counter, wqe.opcode, Flushed(qp));
    return true;
  }
  const WqeHead head = p_.send_queue.Peek(qp, r.consumer);
  if (!head.readable) {
    r.consumer = r.next = r.producer;
    p_.QpEvent(qp, VCX_EVENT_WQ_CATASTROPHIC, VCX_EQE_QUEUE_SQ);
    return false;
  }
  const auto ahead = static_cast<uint16_t>(r.producer - r.consumer);
  r.consumer = static_cast<uint16_t>(r.consumer +
                                     std::min<uint32_t>(head.blocks, ahead));
  r.next = r.consumer;
  p_.completion.SendError(qp, head.counter, head.opcode, Flushed(qp));
  return true;
}

bool Flush::NextReceive(Qp& qp, uint16_t* index) {
  ResponderState& r = qp.responder;
  if (r.rq_taken) {
    // It was taken for a message that did not end.
    r.rq_taken = false;
    *index = r.rq_current;
    return true;
  }
  if (!qp.has_rq) return false;
  if (r.rq_next == r.rq_producer && !p_.receive_queue.ReadRecord(qp))
    return false;
  if (r.rq_next == r.rq_producer) return false;
  *index = r.rq_next++;
  return true;
}

void Flush::FlushReceive(Qp& qp, uint16_t index) {
  p_.completion.ReceiveError(qp, index, Flushed(qp));
}

// Software that drains a queue posts a receive WQE on a QP in error and waits
// for its completion. The pause doubles while nothing comes.
void Flush::StartPolling(Qp& qp) {
  if (!qp.has_rq || qp.error_poll_timer.armed()) return;
  qp.error_poll_ms = qp.error_poll_ms == 0
                         ? kFirstPollMs
                         : std::min(2 * qp.error_poll_ms, kLastPollMs);
  p_.timers.Arm(qp.error_poll_timer, p_.Now() + qp.error_poll_ms * kMs);
}

void Flush::PollExpired(Qp& qp) { p_.scheduler.Schedule(qp); }

}  // namespace vcx
