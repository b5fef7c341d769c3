/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/completer.h"

#include "datapath/pipeline.h"

namespace vcx {

void Completer::Handle(Qp& qp, const Packet& packet) {
  const RequesterState& r = qp.requester;
  p_.trace(VCX_TRACE_COMPLETER, qp.number, packet.syndrome, packet.psn.value(),
           packet.msn);
  // Answers to what was never asked, or has long been answered: ghosts. The
  // PSN must be one that is outstanding. (IBA vol. 1, 9.7.5.2.1)
  if (packet.psn.Ahead(r.unacked) < 0 || packet.psn.Ahead(r.max_psn) >= 0) {
    p_.counters.Add(Counter::kDropGhost);
    p_.trace(VCX_TRACE_INGRESS_DROPPED,
             static_cast<uint64_t>(Counter::kDropGhost), qp.number,
             packet.opcode, packet.psn.value());
    return;
  }
  if (packet.opcode != kRcAck)
    HandleReadResponse(qp, packet);
  else if ((packet.syndrome & kAethCodeMask) == kAethAck)
    HandleAck(qp, packet);
  else
    HandleNak(qp, packet);
  if (qp.state != VCX_QP_STATE_ERR) p_.scheduler.Schedule(qp);
}

Psn Completer::FirstMissing(const Qp& qp) const { return qp.requester.unacked; }

void Completer::HandleAck(Qp& qp, const Packet& packet) {
  if (Acknowledge(qp, packet.psn + 1)) p_.retry.Progress(qp);
}

// `unacked` moves up to `psn`, but not over a read whose data is not there.
bool Completer::Acknowledge(Qp& qp, Psn psn) {
  RequesterState& r = qp.requester;
  if (psn.Ahead(r.unacked) <= 0) return true;
  for (uint32_t i = 0; r.reads != 0 && i < r.inflight.size(); ++i) {
    const InflightWqe& wqe = r.inflight[i];
    if (psn.Ahead(wqe.first_psn) <= 0) break;
    if (wqe.opcode != VCX_WQE_RDMA_READ) continue;
    // Retired reads are gone from the queue, so this one lacks responses.
    const Psn missing =
        r.unacked.Ahead(wqe.first_psn) > 0 ? r.unacked : wqe.first_psn;
    r.unacked = missing;
    RetireFinished(qp);
    p_.Count(qp, VCX_Q_COUNTER_IMPLIED_NAK_SEQ_ERR);
    p_.retry.GoBack(qp, missing, RetryReason::kLostResponse);
    return false;
  }
  r.unacked = psn;
  RetireFinished(qp);
  return true;
}

void Completer::RetireFinished(Qp& qp) {
  RequesterState& r = qp.requester;
  // Acknowledged beyond where the requester went back to: that is not sent
  // again.
  while (!r.inflight.empty()) {
    const InflightWqe& wqe = r.inflight.front();
    const Psn end = wqe.first_psn + wqe.psns;
    // A NOP has no PSN; it is done when the requester has passed it.
    const bool sent = wqe.psns != 0 || r.resend > 0 || end.Ahead(r.unacked) < 0;
    if (end.Ahead(r.unacked) > 0 || !sent) break;
    if (wqe.opcode == VCX_WQE_RDMA_READ) --r.reads;
    if (wqe.completion >= VCX_WQE_CE_ALWAYS) p_.completion.SendDone(qp, wqe);
    r.consumer = static_cast<uint16_t>(wqe.index + wqe.blocks);
    if (r.resend == 0) {
      r.next = r.consumer;
      r.next_psn = end;
      r.offset = 0;
      r.mid_message = false;
    } else {
      --r.resend;
    }
    r.inflight.PopFront();
    if (qp.state == VCX_QP_STATE_ERR) return;  // the CQ overflowed
  }
  // The oldest is acknowledged in part, and to be sent again from before that.
  if (!r.inflight.empty() && r.resend == 0 && r.next_psn.Ahead(r.unacked) < 0) {
    const InflightWqe& oldest = r.inflight.front();
    r.next = oldest.index;
    r.next_psn = r.restart = r.unacked;
    r.offset = static_cast<uint32_t>(r.unacked.Ahead(oldest.first_psn))
               << qp.log_mtu;
    r.mid_message = true;
  }
  p_.CheckDrained(qp);
}

void Completer::HandleNak(Qp& qp, const Packet& packet) {
  RequesterState& r = qp.requester;
  const uint8_t value = packet.syndrome & kAethValueMask;
  const Psn before = r.unacked;
  if (!Acknowledge(qp, packet.psn) || qp.state == VCX_QP_STATE_ERR) return;
  if (r.unacked != before) p_.retry.Progress(qp);
  if (r.inflight.empty()) return;
  if ((packet.syndrome & kAethCodeMask) == kAethRnrNak)
    return p_.retry.ReceiverNotReady(qp, packet.psn, value);
  switch (packet.syndrome) {
    case kNakSequence:
      p_.Count(qp, VCX_Q_COUNTER_PACKET_SEQ_ERR);
      return p_.retry.GoBack(qp, packet.psn, RetryReason::kSequenceNak);
    case kNakInvalidRequest:
      p_.Count(qp, VCX_Q_COUNTER_REQ_REMOTE_INVALID_REQUEST);
      return FailOldest(qp, {VCX_SYNDROME_REMOTE_INVALID_REQ, VCX_VENDOR_NONE});
    case kNakRemoteAccess:
      p_.Count(qp, VCX_Q_COUNTER_REQ_REMOTE_ACCESS_ERRORS);
      return FailOldest(qp, {VCX_SYNDROME_REMOTE_ACCESS, VCX_VENDOR_NONE});
    case kNakRemoteOperation:
      p_.Count(qp, VCX_Q_COUNTER_REQ_REMOTE_OPERATION_ERRORS);
      return FailOldest(qp, {VCX_SYNDROME_REMOTE_OP, VCX_VENDOR_NONE});
    default:
      // A reserved code. (IBA vol. 1, 9.9.2.4.2: bad response)
      p_.Count(qp, VCX_Q_COUNTER_REQ_BAD_RESPONSE);
      return FailOldest(
          qp, {VCX_SYNDROME_BAD_RESPONSE, VCX_VENDOR_RESPONSE_OPCODE});
  }
}

// The NAK's PSN lies in the oldest WQE that has PSNs: what stands before it is
// retired, but for NOPs that the requester would pass again.
void Completer::FailOldest(Qp& qp, const Fault& fault) {
  if (!PassNops(qp)) return;
  const InflightWqe oldest = qp.requester.inflight.front();
  p_.requester.FailWqe(qp, oldest.counter, oldest.opcode, fault);
}

// NOPs at the front that the requester, having gone back, would pass again are
// done when an answer to what stands behind them comes. False: nothing is
// left, or the QP has failed.
bool Completer::PassNops(Qp& qp) {
  RequesterState& r = qp.requester;
  while (!r.inflight.empty() && r.inflight.front().psns == 0) {
    const InflightWqe nop = r.inflight.front();
    if (nop.completion >= VCX_WQE_CE_ALWAYS) p_.completion.SendDone(qp, nop);
    if (qp.state == VCX_QP_STATE_ERR) return false;
    r.consumer = static_cast<uint16_t>(nop.index + nop.blocks);
    if (r.resend == 0)
      r.next = r.consumer;
    else
      --r.resend;
    r.inflight.PopFront();
  }
  return !r.inflight.empty();
}

void Completer::HandleReadResponse(Qp& qp, const Packet& packet) {
  RequesterState& r = qp.requester;
  // The read it belongs to; what stands before that is thereby acknowledged.
  uint32_t i = 0;
  for (; i < r.inflight.size(); ++i) {
    const InflightWqe& wqe = r.inflight[i];
    const int32_t ahead = packet.psn.Ahead(wqe.first_psn);
    if (ahead >= 0 && static_cast<uint32_t>(ahead) < wqe.psns) break;
  }
  if (i == r.inflight.size() || r.inflight[i].opcode != VCX_WQE_RDMA_READ) {
    p_.counters.Add(Counter::kDropGhost);
    return;
  }
  if (!Acknowledge(qp, r.inflight[i].first_psn) ||
      qp.state == VCX_QP_STATE_ERR || !PassNops(qp))
    return;
  const InflightWqe wqe = r.inflight.front();
  if (packet.psn != r.unacked) {
    // Ahead of what is missing: something was lost. Behind: had before.
    if (packet.psn.Ahead(r.unacked) > 0) {
      p_.Count(qp, VCX_Q_COUNTER_IMPLIED_NAK_SEQ_ERR);
      p_.retry.GoBack(qp, r.unacked, RetryReason::kLostResponse);
    }
    return;
  }
  const uint32_t offset = static_cast<uint32_t>(packet.psn.Ahead(wqe.first_psn))
                          << qp.log_mtu;
  if (!CheckResponse(qp, wqe, packet, offset)) return;
  if (!Scatter(qp, wqe, packet, offset)) return;
  r.unacked = packet.psn + packet.psns;
  RetireFinished(qp);
  if (qp.state != VCX_QP_STATE_ERR) p_.retry.Progress(qp);
}

bool Completer::CheckResponse(Qp& qp, const InflightWqe& wqe,
                              const Packet& packet, uint32_t offset) {
  const OpcodeInfo& info = GetOpcodeInfo(packet.opcode);
  // An answer begins where the request does, and where it was asked for again.
  // (IBA vol. 1, 9.7.5.2.6)
  const bool may_begin =
      packet.psn == wqe.first_psn || packet.psn == qp.requester.restart;
  const bool in_turn = info.first ? may_begin : packet.psn != wqe.first_psn;
  const bool positive =
      !info.aeth || (packet.syndrome & kAethCodeMask) == kAethAck;
  if (!in_turn || !positive) {
    p_.Count(qp, VCX_Q_COUNTER_REQ_BAD_RESPONSE);
    FailOldest(qp, {VCX_SYNDROME_BAD_RESPONSE, VCX_VENDOR_RESPONSE_OPCODE});
    return false;
  }
  const uint32_t bytes = packet.payload.length;
  const uint32_t left = wqe.length - offset;
  const bool fits = info.last
                        ? bytes == left
                        : bytes < left && bytes == packet.psns << qp.log_mtu;
  if (fits) return true;
  p_.Count(qp, VCX_Q_COUNTER_REQ_BAD_RESPONSE);
  FailOldest(qp, {VCX_SYNDROME_BAD_RESPONSE, VCX_VENDOR_RESPONSE_LENGTH});
  return false;
}

bool Completer::Scatter(Qp& qp, const InflightWqe& wqe, const Packet& packet,
                        uint32_t offset) {
  Fault fault;
  Payload to;
  bool ok = p_.send_queue.Fetch(qp, wqe.index, &request_, &fault);
  if (ok && (request_.length != wqe.length || !request_.reads())) {
    fault = {VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SEGMENT};
    ok = false;
  }
  ok = ok && p_.send_queue.Gather(qp, request_, offset, packet.payload.length,
                                  Access::kLocalWrite, &to, &fault);
  if (ok && !CopyToGuest(p_.dma, to.segments, packet.payload)) {
    p_.counters.Add(Counter::kDmaErrors);
    fault = {VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_DMA};
    ok = false;
  }
  if (!ok) {
    p_.Count(qp, VCX_Q_COUNTER_REQ_LOCAL_PROTECTION);
    FailOldest(qp, fault);
  }
  return ok;
}

}  // namespace vcx
