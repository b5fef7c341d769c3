/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/completion.h"

#include <cstring>
#include <utility>

#include "datapath/pipeline.h"
#include "vcx/regs.h"
#include "vcx/wqe.h"

namespace vcx {
namespace {

constexpr uint32_t kCounterMask = 0xffffff;
// The owner bit lies in the last eight bytes: software that sees it sees the
// whole entry.
static_assert(sizeof(vcx_cqe) == Host::kEntryBytes);

// Whether counter a lies behind counter b, 24 bits each.
bool Behind(uint32_t a, uint32_t b) {
  const uint32_t ahead = (b - a) & kCounterMask;
  return ahead != 0 && ahead < 1u << 23;
}

uint32_t UserIndex(const Qp& qp) {
  return qp.user_index == VCX_QP_NO_USER_INDEX ? 0 : qp.user_index;
}

}  // namespace

bool Completion::SendDone(Qp& qp, const InflightWqe& wqe) {
  vcx_cqe cqe{};
  cqe.byte_count = wqe.length;
  cqe.sop_qpn = uint32_t{wqe.opcode} << 24 | qp.number;
  cqe.wqe_counter = wqe.counter;
  return Write(qp, *qp.send_cq, &cqe, VCX_CQE_REQ,
               wqe.completion == VCX_WQE_CE_AND_EVENT);
}

bool Completion::ReceiveDone(Qp& qp, const ReceiveCompletion& done) {
  vcx_cqe cqe{};
  cqe.slid = qp.path.dlid;
  cqe.flags_rqpn = (qp.path.has_grh ? VCX_CQE_GRH_PRESENT : 0) |
                   uint32_t{qp.path.sl} << 24 | qp.remote_qpn;
  cqe.imm_inval_pkey = done.imm;
  cqe.byte_count = done.bytes;
  cqe.sop_qpn = qp.number;
  cqe.wqe_counter = done.index;
  return Write(qp, *qp.recv_cq, &cqe, done.opcode, done.solicited);
}

bool Completion::SendError(Qp& qp, uint16_t counter, uint8_t opcode,
                           const Fault& fault) {
  return Error(qp, *qp.send_cq, VCX_CQE_REQ_ERR, counter, opcode, fault);
}

bool Completion::ReceiveError(Qp& qp, uint16_t index, const Fault& fault) {
  return Error(qp, *qp.recv_cq, VCX_CQE_RESP_ERR, index, 0, fault);
}

bool Completion::Error(Qp& qp, Cq& cq, vcx_cqe_opcode opcode, uint16_t counter,
                       uint8_t send_opcode, const Fault& fault) {
  const bool flushed = fault.syndrome == VCX_SYNDROME_FLUSHED;
  p_.counters.Add(flushed ? Counter::kFlushCompletions
                          : Counter::kErrorCompletions);
  const bool send = opcode == VCX_CQE_REQ_ERR;
  if (flushed)
    p_.Count(qp, send ? VCX_Q_COUNTER_REQ_CQE_FLUSH_ERROR
                      : VCX_Q_COUNTER_RESP_CQE_FLUSH_ERROR);
  else
    p_.Count(qp,
             send ? VCX_Q_COUNTER_REQ_CQE_ERROR : VCX_Q_COUNTER_RESP_CQE_ERROR);
  vcx_err_cqe error{};
  error.vendor_syndrome = static_cast<uint8_t>(fault.vendor);
  error.syndrome = static_cast<uint8_t>(fault.syndrome);
  error.sop_qpn = uint32_t{send_opcode} << 24 | qp.number;
  error.wqe_counter = counter;
  vcx_cqe cqe;
  static_assert(sizeof(cqe) == sizeof(error));
  std::memcpy(&cqe, &error, sizeof(cqe));
  // Errors wake those who wait for solicited entries too. (IBA vol.
  // 1, 11.4.2.2)
  return Write(qp, cq, &cqe, opcode, true);
}

bool Completion::Write(Qp& qp, Cq& cq, vcx_cqe* cqe, vcx_cqe_opcode opcode,
                       bool solicited) {
  cqe->srqn_uidx = UserIndex(qp);
  const Refusal refusal = TryWrite(qp, cq, cqe, opcode, solicited);
  if (refusal == kNone) return true;
  Lose(qp, cq, refusal);
  return false;
}

// An entry of this QP cannot be had any more.
void Completion::Lose(Qp& qp, const Cq& cq, Refusal refusal) {
  p_.counters.Add(Counter::kCompletionsLost);
  p_.trace(VCX_TRACE_COMPLETION_REFUSED, cq.number, qp.number, refusal);
  if (qp.state == VCX_QP_STATE_ERR) return;
  // The other queue of the QP may complete elsewhere, and says why.
  qp.flush_reason = cq.status == VCX_CQ_STATUS_OVERFLOW ? VCX_VENDOR_CQ_OVERRUN
                                                        : VCX_VENDOR_DMA;
  p_.FailQp(qp, VCX_EVENT_WQ_CATASTROPHIC, VCX_EQE_QUEUE_QP);
}

Completion::Refusal Completion::TryWrite(Qp& qp, Cq& cq, vcx_cqe* cqe,
                                         vcx_cqe_opcode opcode,
                                         bool solicited) {
  if (cq.failed()) return kFailedBefore;
  p_.trace(VCX_TRACE_COMPLETION, cq.number, opcode,
           cqe->sop_qpn.get() & kCounterMask, cqe->wqe_counter.get());
  const Refusal refusal = FindRoom(cq);
  switch (refusal) {
    case kOverrun:
      p_.counters.Add(Counter::kCqOverflows);
      p_.Count(qp, VCX_Q_COUNTER_CQ_OVERFLOW);
      Fail(cq, VCX_CQ_STATUS_OVERFLOW, VCX_CQ_ERROR_OVERRUN);
      break;
    case kDma:
      p_.counters.Add(Counter::kDmaErrors);
      Fail(cq, VCX_CQ_STATUS_WRITE_FAILURE, VCX_CQ_ERROR_ACCESS);
      break;
    default:
      Put(qp, cq, cqe, opcode, solicited);
      Notify(cq, solicited);
      break;
  }
  return refusal;
}

// The consumer counter is read from its record only when the ring looks full.
Completion::Refusal Completion::FindRoom(Cq& cq) {
  if (cq.ignore_overrun) return kNone;
  const uint32_t size = 1u << cq.log_size;
  if (((cq.producer - cq.consumer) & kCounterMask) < size) return kNone;
  vcx_be32 word;
  if (!p_.dma.Read(cq.doorbell_record + VCX_DBR_CQ_CI * sizeof(word), &word,
                   sizeof(word)))
    return kDma;
  cq.consumer = word.get() & kCounterMask;
  return ((cq.producer - cq.consumer) & kCounterMask) < size ? kNone : kOverrun;
}

uint64_t Completion::Place(const Cq& cq, vcx_cqe* cqe, vcx_cqe_opcode opcode,
                           bool solicited) {
  const uint32_t owner = cq.producer >> cq.log_size & 1;
  // An error entry has its syndromes there.
  if (opcode != VCX_CQE_REQ_ERR && opcode != VCX_CQE_RESP_ERR)
    cqe->timestamp = p_.Now();
  cqe->op_own = VCX_CQE_OP_OWN(opcode, solicited ? 1 : 0, owner);
  const uint64_t stride = uint64_t{1} << cq.log_stride;
  // Of a 128-byte entry, this is the second half.
  return cq.ring.Address(
      ((cq.producer & ((1u << cq.log_size) - 1)) + 1) * stride - sizeof(*cqe));
}

void Completion::Put(Qp& qp, Cq& cq, vcx_cqe* cqe, vcx_cqe_opcode opcode,
                     bool solicited) {
  const uint64_t address = Place(cq, cqe, opcode, solicited);
  Waiting& w = waiting_;
  if (w.count != 0 && (w.cq != &cq || w.count == kMaxWaiting ||
                       address != w.address + w.count * sizeof(*cqe)))
    WriteWaiting();
  if (w.count == 0) {
    w.cq = &cq;
    w.address = address;
  }
  w.entries[w.count] = *cqe;
  w.qps[w.count++] = &qp;
  ++cq.producer;
}

void Completion::WriteWaiting() {
  const uint32_t count = std::exchange(waiting_.count, 0);
  Cq& cq = *waiting_.cq;
  if (!cq.failed()) {
    if (p_.dma.WriteEntries(waiting_.address, waiting_.entries.data(), count)) {
      p_.counters.Add(Counter::kCompletions, count);
      return;
    }
    p_.counters.Add(Counter::kDmaErrors);
    Fail(cq, VCX_CQ_STATUS_WRITE_FAILURE, VCX_CQ_ERROR_ACCESS);
  }
  // Failing a QP makes no entry at once.
  for (uint32_t i = 0; i < count; ++i) Lose(*waiting_.qps[i], cq, kDma);
}

void Completion::Fail(Cq& cq, uint8_t status, uint8_t syndrome) {
  Flush();  // entries that had room
  cq.status = status;
  vcx_eqe_cq_error error{};
  error.cqn = cq.number;
  error.syndrome = syndrome;
  p_.RaiseEvent(VCX_EVENT_CQ_ERROR, 0, &error, sizeof(error));
}

// ---- Events
// ------------------------------------------------------------------

void Completion::Notify(Cq& cq, bool solicited) {
  cq.last_entry = cq.producer & kCounterMask;
  cq.unreported = true;
  if (solicited) {
    cq.last_solicited = cq.last_entry;
    cq.unreported_solicited = true;
  }
  ++cq.since_event;
  if (cq.arm == CqArm::kNone) return;
  if (cq.arm == CqArm::kSolicited && !solicited) return;
  // Moderation holds the event back until enough have come or the time is up.
  const bool moderated =
      cq.moderation_count > 1 && cq.moderation_period_us != 0;
  if (!moderated || cq.since_event >= cq.moderation_count) return Report(cq);
  const uint64_t now = p_.Now();
  const uint64_t end = (cq.period_from_entry ? now : cq.last_event_ns) +
                       uint64_t{cq.moderation_period_us} * 1000;
  if (end <= now) return Report(cq);
  if (cq.period_from_entry || !cq.moderation.armed())
    p_.timers.Arm(cq.moderation, end);
}

void Completion::Report(Cq& cq) {
  p_.timers.Cancel(cq.moderation);
  cq.arm = CqArm::kNone;
  cq.since_event = 0;
  cq.last_notified = cq.last_entry;
  cq.unreported = cq.unreported_solicited = false;
  if (cq.moderation_period_us != 0) cq.last_event_ns = p_.Now();
  p_.event.Completion(cq);
}

void Completion::Arm(Cq& cq, uint32_t consumer, CqArm arm) {
  cq.consumer = consumer;
  // Waiting for any entry is the wider wish; it is not narrowed.
  if (cq.arm != CqArm::kNext) cq.arm = arm;
  const bool any = cq.arm == CqArm::kNext;
  const uint32_t last = any ? cq.last_entry : cq.last_solicited;
  const bool unreported = any ? cq.unreported : cq.unreported_solicited;
  if (unreported && Behind(consumer, last)) Report(cq);
}

void Completion::ModerationExpired(Cq& cq) {
  if (cq.arm != CqArm::kNone) Report(cq);
}

void Completion::ModerationChanged(Cq& cq) {
  // What was held back under the old rule is reported now.
  if (cq.moderation.armed()) ModerationExpired(cq);
}

void Completion::Forget(Cq& cq) {
  Flush();
  p_.timers.Cancel(cq.moderation);
}

// The RESIZE entry is the last of the old ring and takes a number, so that
// software can find its way; it has no place in the new one.
bool Completion::Resize(Cq& cq, GuestBuffer ring, uint8_t log_size) {
  vcx_cqe cqe{};
  cqe.sop_qpn = cq.number;
  Flush();
  if (cq.failed() || FindRoom(cq) != kNone) return false;
  const uint64_t address = Place(cq, &cqe, VCX_CQE_RESIZE, false);
  if (!p_.dma.WriteEntries(address, &cqe, 1)) return false;
  ++cq.producer;
  cq.ring = std::move(ring);
  cq.log_size = log_size;
  Notify(cq, false);
  return true;
}

}  // namespace vcx
