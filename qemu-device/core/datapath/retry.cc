/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/retry.h"

#include "datapath/pipeline.h"

namespace vcx {
namespace {

constexpr uint8_t kEndlessRnr = 7;

// In units of 10 us, by code.
constexpr uint32_t kRnrPause[32] = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

}  // namespace

uint64_t Retry::RnrPauseNs(uint8_t code) {
  return uint64_t{kRnrPause[code & 31]} * 10'000;
}

void Retry::Sent(Qp& qp) {
  RequesterState& r = qp.requester;
  if (qp.path.ack_timeout == 0 || qp.state == VCX_QP_STATE_ERR) return;
  // The receiver has asked for a pause: nothing is missing during it.
  if (r.rnr_wait) return;
  r.retry_deadline = p_.Now() + AckTimeoutNs(qp.path.ack_timeout);
  if (!qp.retry_timer.armed()) p_.timers.Arm(qp.retry_timer, r.retry_deadline);
}

void Retry::Progress(Qp& qp) {
  RequesterState& r = qp.requester;
  r.retries_left = qp.retry_count;
  r.rnr_retries_left = qp.rnr_retry;
  r.recovering = false;
  r.retry_deadline = VCX_CORE_NO_DEADLINE;
  if (r.max_psn != r.unacked) Sent(qp);
}

// `next`, `offset` and the PSN go to where this PSN was sent.
void Retry::MoveTo(Qp& qp, Psn psn) {
  RequesterState& r = qp.requester;
  for (uint32_t i = 0; i < r.inflight.size(); ++i) {
    const InflightWqe& wqe = r.inflight[i];
    const int32_t ahead = psn.Ahead(wqe.first_psn);
    if (ahead < 0 || static_cast<uint32_t>(ahead) >= wqe.psns) continue;
    r.resend = i;
    r.next = wqe.index;
    r.offset = static_cast<uint32_t>(ahead) << qp.log_mtu;
    r.mid_message = true;
    r.next_psn = r.restart = psn;
    r.psns_since_ack_request = 0;
    return;
  }
}

void Retry::GoBack(Qp& qp, Psn psn, RetryReason reason) {
  RequesterState& r = qp.requester;
  // One step back for one loss: what shows it again before anything has moved
  // (later answers to packets already on the way) is the same loss.
  if (r.recovering && reason != RetryReason::kTimeout) return;
  // What follows a pause begins before whatever is missing.
  if (r.rnr_wait) return;
  p_.trace(VCX_TRACE_RETRY, qp.number, psn.value(),
           static_cast<uint64_t>(reason), r.retries_left);
  if (r.retries_left == 0) {
    const InflightWqe oldest = r.inflight.front();
    p_.Count(qp, VCX_Q_COUNTER_REQ_RETRIES_EXCEEDED);
    p_.requester.FailWqe(qp, oldest.counter, oldest.opcode,
                         {VCX_SYNDROME_RETRY_EXCEEDED, VCX_VENDOR_NONE});
    return;
  }
  --r.retries_left;
  r.recovering = true;
  p_.counters.Add(Counter::kRetries);
  MoveTo(qp, psn);
  // From now, not from when it is sent: a wire that takes nothing is a loss
  // too, and must not keep the QP waiting for ever.
  Sent(qp);
  p_.scheduler.Schedule(qp);
}

void Retry::ReceiverNotReady(Qp& qp, Psn psn, uint8_t timer_code) {
  RequesterState& r = qp.requester;
  if (r.rnr_wait) return;
  p_.trace(VCX_TRACE_RETRY, qp.number, psn.value(),
           static_cast<uint64_t>(RetryReason::kRnr), r.rnr_retries_left);
  if (r.rnr_retries_left == 0) {
    const InflightWqe oldest = r.inflight.front();
    p_.Count(qp, VCX_Q_COUNTER_RNR_NAK_RETRY_ERR);
    p_.requester.FailWqe(qp, oldest.counter, oldest.opcode,
                         {VCX_SYNDROME_RNR_EXCEEDED, VCX_VENDOR_NONE});
    return;
  }
  if (r.rnr_retries_left != kEndlessRnr) --r.rnr_retries_left;
  p_.counters.Add(Counter::kRnrRetries);
  MoveTo(qp, psn);
  r.rnr_wait = true;
  r.retry_deadline = VCX_CORE_NO_DEADLINE;
  p_.timers.Arm(qp.rnr_timer, p_.Now() + RnrPauseNs(timer_code));
}

void Retry::AckTimerExpired(Qp& qp) {
  RequesterState& r = qp.requester;
  if (r.retry_deadline == VCX_CORE_NO_DEADLINE || r.inflight.empty()) return;
  if (p_.Now() < r.retry_deadline) {
    p_.timers.Arm(qp.retry_timer, r.retry_deadline);
    return;
  }
  r.retry_deadline = VCX_CORE_NO_DEADLINE;
  p_.counters.Add(Counter::kTimeouts);
  p_.Count(qp, VCX_Q_COUNTER_LOCAL_ACK_TIMEOUT_ERR);
  GoBack(qp, p_.completer.FirstMissing(qp), RetryReason::kTimeout);
}

void Retry::RnrTimerExpired(Qp& qp) {
  qp.requester.rnr_wait = false;
  // From now, as after going back.
  Sent(qp);
  p_.scheduler.Schedule(qp);
}

void Retry::Stop(Qp& qp) {
  p_.timers.Cancel(qp.retry_timer);
  p_.timers.Cancel(qp.rnr_timer);
  p_.timers.Cancel(qp.error_poll_timer);
  qp.requester.retry_deadline = VCX_CORE_NO_DEADLINE;
  qp.requester.rnr_wait = false;
}

}  // namespace vcx
