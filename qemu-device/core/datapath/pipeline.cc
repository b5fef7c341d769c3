/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/pipeline.h"

#include <algorithm>
#include <utility>

namespace vcx {
namespace {

// What a doorbell, a frame or a timer may do before it returns: a few small
// messages, never a long transfer. The rest is for the device thread.
constexpr uint32_t kInlineBudget = 16;
// How long a QP keeps the engine while others wait.
constexpr uint32_t kTurn = 16;

}  // namespace

Pipeline::Pipeline(Host& h, Dma& d, TimerQueue& t, Objects& o, Port& po,
                   Counters& c, Trace& tr, const vcx_core_config& config,
                   const FaultPlan& faults)
    : host(h),
      dma(d),
      timers(t),
      objects(o),
      port(po),
      counters(c),
      trace(tr),
      translator(o.mkeys),
      doorbell(*this),
      send_queue(*this),
      requester(*this),
      retry(*this),
      ib_link(h, d, po, c, tr, ingress, config),
      router(po, ingress, c, ib_link, faults, {h, d, t, c, tr}),
      ingress(*this),
      responder(*this),
      receive_queue(*this),
      responses(*this),
      completer(*this),
      completion(*this),
      event(*this),
      flush(*this) {}

// ---- Running
// -------------------------------------------------------------------

bool Pipeline::Run(uint32_t budget) {
  // A loopback packet or a DMA that hits our own BAR must not start a second
  // engine inside the first.
  if (running_ || !dma.enabled()) return false;
  running_ = true;
  while (budget != 0) {
    Qp* qp = scheduler.Pop();
    if (qp == nullptr) break;
    trace(VCX_TRACE_SCHEDULER, qp->number, scheduler.waiting());
    turn_ns_ = kNotRead;
    budget -= Step(*qp, std::min(budget, kTurn));
    completion.Flush();
  }
  running_ = false;
  timers.Publish();
  return !scheduler.empty();
}

// One turn; the units it used, at least 1.
uint32_t Pipeline::Step(Qp& qp, uint32_t budget) {
  uint32_t left = budget;
  StepResult result = StepResult::kIdle;
  if (qp.state != VCX_QP_STATE_ERR) result = responses.Step(qp, &left);
  if (result == StepResult::kIdle && qp.state != VCX_QP_STATE_ERR)
    result = requester.Step(qp, &left);
  if (qp.state == VCX_QP_STATE_ERR) result = flush.Step(qp, &left);
  if (result == StepResult::kMore) scheduler.Schedule(qp);
  if (result == StepResult::kBlocked) scheduler.Block(qp);
  return std::max(1u, budget - left);
}

void Pipeline::Settle(uint32_t budget) {
  if (running_) return;
  completion.Flush();
  if (Run(budget)) host.Kick();
}

void Pipeline::TimerExpired(Timer& timer) {
  switch (timer.kind) {
    case TimerKind::kRetry:
      retry.AckTimerExpired(*static_cast<Qp*>(timer.owner));
      break;
    case TimerKind::kRnr:
      retry.RnrTimerExpired(*static_cast<Qp*>(timer.owner));
      break;
    case TimerKind::kErrorPoll:
      flush.PollExpired(*static_cast<Qp*>(timer.owner));
      break;
    case TimerKind::kModeration:
      completion.ModerationExpired(*static_cast<Cq*>(timer.owner));
      break;
    case TimerKind::kFault:
      static_cast<FaultWire*>(timer.owner)->TimerExpired();
      break;
  }
  Settle(kInlineBudget);
}

void Pipeline::Receive(const uint8_t* frame, size_t len, bool more) {
  ib_link.Receive(frame, len);
  if (more)
    completion.Flush();
  else
    Settle(kInlineBudget);
}

void Pipeline::WireReady() {
  ib_link.Ready();
  router.Ready();
  scheduler.Unblock();
  Settle(kInlineBudget);
}

void Pipeline::Clear() {
  completion.Clear();
  scheduler.Clear();
  router.Clear();
  timers.Clear();
}

// ---- Control
// ---------------------------------------------------------------------

void Pipeline::UarWrite(uint32_t page, uint32_t at, uint64_t value,
                        unsigned size) {
  doorbell.UarWrite(page, at, value, size);
  Settle(kInlineBudget);
}

void Pipeline::QpEnteredInit(Qp&) {}

void Pipeline::QpEnteredRtr(Qp& qp) {
  ResponseQueue::Prepare(qp);
  qp.responder.message = ResponderState::Message::kNone;
  qp.responder.nak_sent = false;
  qp.responder.dead = false;
  qp.established = false;
  qp.flush_reason = VCX_VENDOR_NONE;
  qp.peer_payload = 0;
}

void Pipeline::QpEnteredRts(Qp& qp) {
  RequesterState& r = qp.requester;
  if (r.inflight.empty() && !r.mid_message) {
    // From RTR, or from SQD with nothing outstanding.
    r.max_psn = r.unacked = r.next_psn;
  }
  r.drained = false;
  r.retries_left = qp.retry_count;
  r.rnr_retries_left = qp.rnr_retry;
  doorbell.ReadSendRecord(qp);
  Settle(kInlineBudget);
}

void Pipeline::QpEnteredSqd(Qp& qp, bool wants_event) {
  qp.requester.drained_event = wants_event;
  qp.requester.drained = false;
  scheduler.Schedule(qp);
  CheckDrained(qp);
  Settle(kInlineBudget);
}

void Pipeline::QpEnteredError(Qp& qp) {
  retry.Stop(qp);
  qp.responder.count = qp.responder.reads = qp.responder.repeated_reads = 0;
  qp.responder.dead = true;
  qp.error_poll_ms = 0;
  doorbell.ReadSendRecord(qp);
  scheduler.Schedule(qp);
  Settle(kInlineBudget);
}

void Pipeline::QpForget(Qp& qp) {
  completion.Flush();
  retry.Stop(qp);
  scheduler.Remove(qp);
  qp.requester.inflight.Clear();
  qp.requester = {};
  qp.responder = {};
  qp.established = false;
}

// Longer or shorter timeouts and counters count from now on.
void Pipeline::QpModified(Qp& qp) {
  if (qp.state == VCX_QP_STATE_RTS) retry.Progress(qp);
  timers.Publish();
}

void Pipeline::QpSaveContext(Qp& qp) {
  const RequesterState& r = qp.requester;
  vcx_qpc* qpc = &qp.context;
  const bool draining = qp.state == VCX_QP_STATE_SQD && !r.drained;
  VCX_SET(qpc, VCX_QPC_STATE, draining ? VCX_QP_STATE_SQ_DRAINING : qp.state);
  VCX_SET(qpc, VCX_QPC_NEXT_SEND_PSN, r.next_psn.value());
  VCX_SET(qpc, VCX_QPC_LAST_ACKED_PSN, (r.unacked - 1).value());
  VCX_SET(qpc, VCX_QPC_NEXT_RCV_PSN, qp.responder.expected.value());
  VCX_SET(qpc, VCX_QPC_RMSN, qp.responder.msn);
  VCX_SET(qpc, VCX_QPC_CUR_RETRY_COUNT, r.retries_left);
  VCX_SET(qpc, VCX_QPC_CUR_RNR_RETRY, r.rnr_retries_left);
  VCX_SET(qpc, VCX_QPC_HW_SQ_COUNTER, r.consumer);
  VCX_SET(qpc, VCX_QPC_SW_SQ_COUNTER, r.producer);
  VCX_SET(qpc, VCX_QPC_HW_RQ_COUNTER, qp.responder.rq_next);
  VCX_SET(qpc, VCX_QPC_SW_RQ_COUNTER, qp.responder.rq_producer);
}

bool Pipeline::CqResize(Cq& cq, GuestBuffer ring, uint8_t log_size) {
  return completion.Resize(cq, std::move(ring), log_size);
}

void Pipeline::CqModerationChanged(Cq& cq) { completion.ModerationChanged(cq); }

void Pipeline::CqForget(Cq& cq) { completion.Forget(cq); }

void Pipeline::RaiseEvent(vcx_event_type type, uint8_t sub_type,
                          const void* data, size_t data_bytes) {
  event.Raise(type, sub_type, data, data_bytes);
}

// ---- Shared by the stages
// -----------------------------------------------------------

void Pipeline::FailQp(Qp& qp) {
  if (qp.state == VCX_QP_STATE_ERR) return;
  trace(VCX_TRACE_QP_STATE, qp.number, qp.state, VCX_QP_STATE_ERR);
  counters.Add(Counter::kQpErrors);
  qp.state = VCX_QP_STATE_ERR;
  retry.Stop(qp);
  qp.responder.count = qp.responder.reads = qp.responder.repeated_reads = 0;
  qp.responder.dead = true;
  qp.error_poll_ms = 0;
  scheduler.Schedule(qp);
}

void Pipeline::FailQp(Qp& qp, vcx_event_type type, uint8_t queue_type) {
  FailQp(qp);
  QpEvent(qp, type, queue_type);
}

void Pipeline::QpEvent(const Qp& qp, vcx_event_type type, uint8_t queue_type) {
  vcx_eqe_qp data{};
  data.queue_type = queue_type;
  data.number = qp.number;
  RaiseEvent(type, 0, &data, sizeof(data));
}

void Pipeline::CheckDrained(Qp& qp) {
  RequesterState& r = qp.requester;
  if (qp.state != VCX_QP_STATE_SQD || r.drained || !r.inflight.empty()) return;
  r.drained = true;
  if (r.drained_event) QpEvent(qp, VCX_EVENT_SQ_DRAINED, VCX_EQE_QUEUE_SQ);
}

void Pipeline::Count(Qp& qp, vcx_q_counter counter) {
  if (qp.counters != nullptr) qp.counters->Count(counter);
}

}  // namespace vcx
