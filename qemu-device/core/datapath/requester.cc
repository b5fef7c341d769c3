/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/requester.h"

#include <algorithm>

#include "datapath/pipeline.h"

namespace vcx {
namespace {

// PSNs on the wire without an acknowledgement. Far below half the PSN space,
// and enough to hide the way to the peer and back.
constexpr int32_t kWindowPsns = 4096;
// The same after a loss, until something is acknowledged: a peer that is gone
// is not sent whole windows again and again. At least twice what follows.
constexpr int32_t kRecoveryPsns = 128;
// A long message asks for an acknowledgement this often, so that the window
// moves and a loss is found before the end.
constexpr uint32_t kAckRequestPsns = 64;
constexpr uint32_t kUnitBytes = 4096;

int32_t Window(const RequesterState& r) {
  return r.recovering ? kRecoveryPsns : kWindowPsns;
}

uint32_t PsnsFor(uint32_t length, uint8_t log_mtu) {
  const uint32_t mtu = 1u << log_mtu;
  return length == 0
             ? 1
             : static_cast<uint32_t>((uint64_t{length} + mtu - 1) >> log_mtu);
}

}  // namespace

StepResult Requester::Step(Qp& qp, uint32_t* budget) {
  RequesterState& r = qp.requester;
  p_.send_queue.BeginTurn();
  for (;;) {
    const bool sending = qp.state == VCX_QP_STATE_RTS ||
                         (qp.state == VCX_QP_STATE_SQD &&
                          (r.mid_message || r.resend < r.inflight.size()));
    if (!sending || r.rnr_wait) return StepResult::kIdle;
    if (r.next == r.producer && r.resend == r.inflight.size())
      return StepResult::kIdle;
    if (*budget == 0) return StepResult::kMore;
    const StepResult result = SendNext(qp, budget);
    if (result != StepResult::kMore) return result;
  }
}

// kMore: the WQE was put on the wire whole, the caller may go on.
StepResult Requester::SendNext(Qp& qp, uint32_t* budget) {
  RequesterState& r = qp.requester;
  Fault fault;
  const auto posted = static_cast<uint16_t>(r.producer - r.next);
  if (!p_.send_queue.FetchNext(qp, r.next, posted, &request_, &fault))
    return Fail(qp, fault);
  if (r.resend == r.inflight.size()) {
    if (!MayBegin(qp)) return StepResult::kIdle;
    if (!Begin(qp, &fault)) return Fail(qp, fault);
  } else {
    // Sent before, at least in part: the guest must not have changed it.
    const InflightWqe& wqe = r.inflight[r.resend];
    if (wqe.opcode != request_.opcode || wqe.length != request_.length ||
        wqe.blocks != request_.blocks)
      return Fail(qp, {VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SEGMENT});
  }
  if (request_.opcode == VCX_WQE_NOP) {
    InflightWqe& wqe = r.inflight[r.resend];
    FinishWqe(qp, wqe);
    *budget -= 1;
    p_.completer.RetireFinished(qp);
    return StepResult::kMore;
  }
  return SendMessage(qp, budget);
}

// Fences and depths. What holds a WQE back here goes on when an
// acknowledgement or a response schedules the QP again.
bool Requester::MayBegin(const Qp& qp) const {
  const RequesterState& r = qp.requester;
  if (request_.fence && r.reads != 0) return false;
  if (request_.strong_order && !r.inflight.empty()) return false;
  if (request_.reads() && r.reads >= 1u << qp.log_sra_max) return false;
  return r.next_psn.Ahead(r.unacked) < Window(r);
}

bool Requester::Begin(Qp& qp, Fault* fault) {
  RequesterState& r = qp.requester;
  const auto ahead = static_cast<uint16_t>(r.producer - r.next);
  if (request_.blocks > ahead) {
    *fault = {VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SIZE};
    return false;
  }
  const uint32_t psns =
      request_.opcode == VCX_WQE_NOP ? 0 : PsnsFor(request_.length, qp.log_mtu);
  r.inflight.PushBack({.index = request_.index,
                       .counter = request_.counter,
                       .blocks = request_.blocks,
                       .opcode = request_.opcode,
                       .completion = request_.completion,
                       .first_psn = r.next_psn,
                       .psns = psns,
                       .length = request_.length});
  r.offset = 0;
  r.mid_message = true;
  if (request_.reads()) ++r.reads;
  return true;
}

StepResult Requester::SendMessage(Qp& qp, uint32_t* budget) {
  RequesterState& r = qp.requester;
  Wire& wire = p_.router.WireFor(qp.path);
  // What was lost may have been too large for something on the way: it is sent
  // again in packets of one MTU.
  const uint32_t max_payload =
      r.recovering ? qp.mtu() : p_.router.MaxPayload(qp);
  while (*budget != 0) {
    const InflightWqe& wqe = r.inflight[r.resend];
    if (!request_.reads() && r.next_psn.Ahead(r.unacked) >= Window(r))
      return StepResult::kIdle;

    Packet packet;
    BuildPacket(qp, wqe, max_payload, &packet);
    Fault fault;
    if (!request_.reads() &&
        !p_.send_queue.Gather(qp, request_, r.offset, packet.payload.length,
                              Access::kLocalRead, &packet.payload, &fault))
      return Fail(qp, fault);
    const uint32_t bytes = packet.payload.length;
    // The QP's counters move before the packet goes: on a loopback wire the
    // peer is served within Send().
    const RequesterState::Position before = r.position();
    Advance(qp, wqe, packet);
    const bool done = !r.mid_message;
    p_.trace(VCX_TRACE_REQUESTER, qp.number, packet.opcode, packet.psn.value(),
             bytes);
    const SendResult sent = wire.Send(packet);
    if (sent != SendResult::kSent) {
      r.set_position(before);
      if (sent == SendResult::kBusy) return StepResult::kBlocked;
      p_.counters.Add(Counter::kDmaErrors);
      return Fail(qp, {VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_DMA});
    }
    p_.counters.Add(Counter::kPacketsSent);
    p_.counters.Add(Counter::kBytesSent, bytes);
    // A QP that is connected to itself may have failed as a responder.
    if (qp.state == VCX_QP_STATE_ERR) return StepResult::kIdle;
    p_.retry.Sent(qp);
    *budget -= std::min(*budget, 1 + bytes / kUnitBytes);
    if (done) return StepResult::kMore;
  }
  return StepResult::kMore;
}

void Requester::BuildPacket(const Qp& qp, const InflightWqe& wqe,
                            uint32_t max_payload, Packet* packet) const {
  const RequesterState& r = qp.requester;
  const uint32_t left = wqe.length - r.offset;
  const bool first = r.offset == 0;
  packet->psn = r.next_psn;
  packet->dest_qpn = qp.remote_qpn;
  packet->va = request_.remote_va + r.offset;
  packet->rkey = request_.rkey;
  packet->imm = request_.imm;
  p_.router.Address(qp, packet);
  if (request_.reads()) {
    packet->opcode = kRcReadRequest;
    packet->psns = PsnsFor(left, qp.log_mtu);
    packet->dma_length = left;
    packet->ack_request = true;
    return;
  }
  const uint32_t bytes = std::min(left, max_payload);
  const bool last = bytes == left;
  packet->payload.length = bytes;
  packet->psns = PsnsFor(bytes, qp.log_mtu);
  packet->dma_length = wqe.length;
  packet->solicited = last && request_.solicited;
  packet->ack_request =
      last || r.psns_since_ack_request + packet->psns >= kAckRequestPsns;
  packet->opcode = request_.writes()
                       ? WriteOpcode(first, last, request_.has_imm())
                       : SendOpcode(first, last, request_.has_imm());
}

void Requester::Advance(Qp& qp, const InflightWqe& wqe, const Packet& packet) {
  RequesterState& r = qp.requester;
  r.next_psn = r.next_psn + packet.psns;
  if (r.next_psn.Ahead(r.max_psn) > 0) r.max_psn = r.next_psn;
  r.psns_since_ack_request =
      packet.ack_request ? 0 : r.psns_since_ack_request + packet.psns;
  r.offset += packet.payload.length;
  if (packet.opcode == kRcReadRequest || r.offset == wqe.length)
    FinishWqe(qp, wqe);
}

// The WQE is on the wire whole.
void Requester::FinishWqe(Qp& qp, const InflightWqe& wqe) {
  RequesterState& r = qp.requester;
  r.mid_message = false;
  r.offset = 0;
  r.next = static_cast<uint16_t>(wqe.index + wqe.blocks);
  ++r.resend;
}

// An error of this WQE. It is reported after everything before it is done: as
// long as older ones are outstanding, the queue only waits.
StepResult Requester::Fail(Qp& qp, const Fault& fault) {
  if (qp.requester.resend == 0)
    FailWqe(qp, request_.counter, request_.opcode, fault);
  return StepResult::kIdle;
}

void Requester::FailWqe(Qp& qp, uint16_t counter, uint8_t opcode,
                        const Fault& fault) {
  RequesterState& r = qp.requester;
  p_.trace(VCX_TRACE_SEND_QUEUE_REFUSED, qp.number, counter, fault.syndrome,
           fault.vendor);
  p_.completion.SendError(qp, counter, opcode, fault);
  // The WQE is done; those behind it are flushed.
  if (!r.inflight.empty()) {
    const InflightWqe& wqe = r.inflight.front();
    r.consumer = static_cast<uint16_t>(wqe.index + wqe.blocks);
    r.inflight.PopFront();
  } else {
    // Not begun. A WQE that is longer than what was posted ends there.
    const auto ahead = static_cast<uint16_t>(r.producer - r.next);
    r.next = static_cast<uint16_t>(r.next +
                                   std::min<uint32_t>(request_.blocks, ahead));
    r.consumer = r.next;
  }
  p_.FailQp(qp);
}

}  // namespace vcx
