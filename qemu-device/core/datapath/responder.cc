/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/responder.h"

#include <algorithm>

#include "datapath/pipeline.h"

namespace vcx {
namespace {

using Message = ResponderState::Message;

// The requester hears "invalid request"; the responder's own flushed receives
// say what was wrong.
vcx_vendor_syndrome ReasonOf(PacketVerdict verdict) {
  switch (verdict) {
    case PacketVerdict::kBadSequence: return VCX_VENDOR_OPCODE_SEQUENCE;
    case PacketVerdict::kBadLength: return VCX_VENDOR_PACKET_LENGTH;
    case PacketVerdict::kTooManyReads: return VCX_VENDOR_READ_DEPTH;
    default: return VCX_VENDOR_NONE;
  }
}

}  // namespace

void Responder::Handle(Qp& qp, const Packet& packet) {
  const PacketVerdict verdict = Judge(qp, packet);
  p_.trace(VCX_TRACE_RESPONDER, qp.number, packet.opcode, packet.psn.value(),
           static_cast<uint64_t>(verdict));
  switch (verdict) {
    case PacketVerdict::kApply: Apply(qp, packet); break;
    case PacketVerdict::kIgnore: p_.counters.Add(Counter::kDropQpState); break;
    case PacketVerdict::kDuplicate: Duplicate(qp, packet); break;
    case PacketVerdict::kOutOfSequence:
      p_.counters.Add(Counter::kOutOfSequence);
      p_.Count(qp, VCX_Q_COUNTER_OUT_OF_SEQUENCE);
      if (!qp.responder.nak_sent) p_.responses.OweNak(qp, kNakSequence);
      break;
    case PacketVerdict::kBadSequence:
    case PacketVerdict::kBadLength:
    case PacketVerdict::kNotAllowed:
    case PacketVerdict::kTooManyReads:
      qp.flush_reason = ReasonOf(verdict);
      p_.Count(qp, VCX_Q_COUNTER_RESP_REMOTE_INVALID_REQUEST);
      p_.responses.OweFatalNak(qp, kNakInvalidRequest);
      break;
    case PacketVerdict::kBadKey:
      p_.Count(qp, VCX_Q_COUNTER_RESP_REMOTE_ACCESS_ERRORS);
      p_.responses.OweFatalNak(qp, kNakRemoteAccess);
      break;
  }
}

// ---- Judging: pure, in the order of IBA vol. 1, figure 81 ------------------

PacketVerdict Responder::Judge(const Qp& qp, const Packet& packet) const {
  const ResponderState& r = qp.responder;
  if (r.dead) return PacketVerdict::kIgnore;
  const int32_t ahead = packet.psn.Ahead(r.expected);
  if (ahead < 0) return PacketVerdict::kDuplicate;
  if (ahead > 0) return PacketVerdict::kOutOfSequence;
  const OpcodeInfo& info = GetOpcodeInfo(packet.opcode);
  PacketVerdict verdict = JudgeSequence(qp, info);
  if (verdict == PacketVerdict::kApply) verdict = JudgeLength(qp, packet, info);
  if (verdict == PacketVerdict::kApply) verdict = JudgeRights(qp, packet, info);
  return verdict;
}

PacketVerdict Responder::JudgeSequence(const Qp& qp,
                                       const OpcodeInfo& info) const {
  const Message message = qp.responder.message;
  if (info.first)
    return message == Message::kNone ? PacketVerdict::kApply
                                     : PacketVerdict::kBadSequence;
  const Message needed =
      info.kind == PacketKind::kSend ? Message::kSend : Message::kWrite;
  return message == needed ? PacketVerdict::kApply
                           : PacketVerdict::kBadSequence;
}

PacketVerdict Responder::JudgeLength(const Qp& qp, const Packet& packet,
                                     const OpcodeInfo& info) const {
  const ResponderState& r = qp.responder;
  const uint32_t bytes = packet.payload.length;
  const uint64_t room = uint64_t{packet.psns} << qp.log_mtu;
  if (info.kind == PacketKind::kReadRequest)
    return packet.dma_length <= 1u << qp.log_msg_max
               ? PacketVerdict::kApply
               : PacketVerdict::kBadLength;
  // First and middle packets are full, the last of several has something.
  if (!info.last && bytes != room) return PacketVerdict::kBadLength;
  if (bytes > room || (info.last && !info.first && bytes == 0))
    return PacketVerdict::kBadLength;
  if (info.kind == PacketKind::kSend) {
    const uint64_t total = (info.first ? 0 : r.received) + uint64_t{bytes};
    return total <= 1u << qp.log_msg_max ? PacketVerdict::kApply
                                         : PacketVerdict::kBadLength;
  }
  const uint32_t left = info.first ? packet.dma_length : r.left;
  if (left > 1u << qp.log_msg_max) return PacketVerdict::kBadLength;
  const bool fits = info.last ? bytes == left : bytes < left;
  return fits ? PacketVerdict::kApply : PacketVerdict::kBadLength;
}

PacketVerdict Responder::JudgeRights(const Qp& qp, const Packet& packet,
                                     const OpcodeInfo& info) const {
  const ResponderState& r = qp.responder;
  if (info.kind == PacketKind::kWrite) {
    if (!qp.remote_write) return PacketVerdict::kNotAllowed;
    if (!info.first) return PacketVerdict::kApply;
    return p_.translator.Check(qp, packet.rkey, packet.va, packet.dma_length,
                               Access::kRemoteWrite) == VCX_VENDOR_NONE
               ? PacketVerdict::kApply
               : PacketVerdict::kBadKey;
  }
  if (info.kind == PacketKind::kReadRequest) {
    if (!qp.remote_read) return PacketVerdict::kNotAllowed;
    if (r.reads >= 1u << qp.log_rra_max) return PacketVerdict::kTooManyReads;
    return p_.translator.Check(qp, packet.rkey, packet.va, packet.dma_length,
                               Access::kRemoteRead) == VCX_VENDOR_NONE
               ? PacketVerdict::kApply
               : PacketVerdict::kBadKey;
  }
  return PacketVerdict::kApply;
}

// ---- Applying
// ----------------------------------------------------------------

void Responder::Apply(Qp& qp, const Packet& packet) {
  ResponderState& r = qp.responder;
  const OpcodeInfo& info = GetOpcodeInfo(packet.opcode);
  if (info.kind == PacketKind::kReadRequest) return ApplyRead(qp, packet);

  const bool applied = info.kind == PacketKind::kSend
                           ? ApplySend(qp, packet, info)
                           : ApplyWrite(qp, packet, info);
  if (!applied) return;
  r.nak_sent = false;
  r.expected = r.expected + packet.psns;
  if (info.last) {
    r.msn = (r.msn + 1) & Psn::kMask;
    r.message = Message::kNone;
  }
  if (packet.ack_request) p_.responses.OweAck(qp, r.expected - 1);
}

// False: it was not applied, and what is owed for that is owed.
bool Responder::ApplySend(Qp& qp, const Packet& packet,
                          const OpcodeInfo& info) {
  ResponderState& r = qp.responder;
  if (info.first) {
    const ReceiveQueue::Result taken = p_.receive_queue.Take(qp);
    if (taken == ReceiveQueue::Result::kEmpty) {
      p_.responses.OweRnrNak(qp);
      return false;
    }
    if (taken == ReceiveQueue::Result::kFailed) {
      p_.responses.OweFatalNak(qp, kNakRemoteOperation);
      return false;
    }
    r.message = Message::kSend;
    r.received = 0;
  }
  Fault fault;
  if (!p_.receive_queue.Scatter(qp, r.received, packet.payload, &fault)) {
    FailReceive(qp, fault,
                fault.syndrome == VCX_SYNDROME_LOCAL_LENGTH
                    ? kNakInvalidRequest
                    : kNakRemoteOperation);
    return false;
  }
  r.received += packet.payload.length;
  if (!info.last) return true;
  r.rq_taken = false;
  return p_.completion.ReceiveDone(
      qp, {.opcode = info.imm ? VCX_CQE_RESP_SEND_IMM : VCX_CQE_RESP_SEND,
           .index = r.rq_current,
           .bytes = r.received,
           .imm = packet.imm,
           .solicited = packet.solicited});
}

bool Responder::ApplyWrite(Qp& qp, const Packet& packet,
                           const OpcodeInfo& info) {
  ResponderState& r = qp.responder;
  const uint64_t va = info.first ? packet.va : r.va;
  const uint32_t rkey = info.first ? packet.rkey : r.rkey;
  const uint32_t left = info.first ? packet.dma_length : r.left;
  const uint32_t bytes = packet.payload.length;
  // The receive WQE that an immediate needs comes first: without it nothing
  // of this packet may have happened.
  if (info.imm) {
    const ReceiveQueue::Result taken = p_.receive_queue.Take(qp);
    if (taken == ReceiveQueue::Result::kEmpty) {
      p_.responses.OweRnrNak(qp);
      return false;
    }
    if (taken == ReceiveQueue::Result::kFailed) {
      p_.responses.OweFatalNak(qp, kNakRemoteOperation);
      return false;
    }
  }
  segments_.clear();
  // Checked again for each packet: the key may be gone since the first.
  if (p_.translator.Translate(qp, rkey, va, bytes, Access::kRemoteWrite,
                              &segments_) != VCX_VENDOR_NONE) {
    p_.Count(qp, VCX_Q_COUNTER_RESP_REMOTE_ACCESS_ERRORS);
    p_.responses.OweFatalNak(qp, kNakRemoteAccess);
    return false;
  }
  if (!CopyToGuest(p_.dma, segments_, packet.payload)) {
    p_.counters.Add(Counter::kDmaErrors);
    p_.responses.OweFatalNak(qp, kNakRemoteOperation);
    return false;
  }
  r.message = Message::kWrite;
  r.va = va + bytes;
  r.rkey = rkey;
  r.left = left - bytes;
  if (info.first) {
    r.received = 0;
    p_.Count(qp, VCX_Q_COUNTER_RX_WRITE_REQUESTS);
  }
  r.received += bytes;
  if (!info.imm) return true;
  r.rq_taken = false;
  return p_.completion.ReceiveDone(qp, {.opcode = VCX_CQE_RESP_WRITE_IMM,
                                        .index = r.rq_current,
                                        .bytes = r.received,
                                        .imm = packet.imm,
                                        .solicited = packet.solicited});
}

void Responder::ApplyRead(Qp& qp, const Packet& packet) {
  ResponderState& r = qp.responder;
  const uint32_t length = packet.dma_length;
  const uint32_t psns =
      length == 0 ? 1
                  : static_cast<uint32_t>((uint64_t{length} + qp.mtu() - 1) >>
                                          qp.log_mtu);
  const uint32_t msn = (r.msn + 1) & Psn::kMask;
  if (!p_.responses.Owe(qp, {.kind = Response::Kind::kRead,
                             .syndrome = kAethAck | kAethNoCredits,
                             .fatal = false,
                             .psn = packet.psn,
                             .msn = msn,
                             .rkey = packet.rkey,
                             .va = packet.va,
                             .left = length,
                             .first = true,
                             .repeated = false}))
    return;
  p_.Count(qp, VCX_Q_COUNTER_RX_READ_REQUESTS);
  r.msn = msn;
  r.nak_sent = false;
  r.expected = packet.psn + psns;
}

// A request that was applied before: its answer was lost or is late. Writes
// and sends are acknowledged again, reads are executed again.
// (IBA vol. 1, 9.7.4.1.3)
void Responder::Duplicate(Qp& qp, const Packet& packet) {
  ResponderState& r = qp.responder;
  p_.counters.Add(Counter::kDuplicateRequests);
  p_.Count(qp, VCX_Q_COUNTER_DUPLICATE_REQUEST);
  const OpcodeInfo& info = GetOpcodeInfo(packet.opcode);
  if (info.kind != PacketKind::kReadRequest) {
    if (packet.ack_request) p_.responses.OweAck(qp, r.expected - 1);
    return;
  }
  // All of it must lie in what was answered before.
  const uint64_t psns =
      packet.dma_length == 0
          ? 1
          : (uint64_t{packet.dma_length} + qp.mtu() - 1) >> qp.log_mtu;
  const auto behind = static_cast<uint32_t>(-packet.psn.Ahead(r.expected));
  const bool known =
      psns <= behind && qp.remote_read &&
      p_.translator.Check(qp, packet.rkey, packet.va, packet.dma_length,
                          Access::kRemoteRead) == VCX_VENDOR_NONE;
  if (!known) {
    p_.counters.Add(Counter::kDropNoResource);
    return;
  }
  p_.responses.OweAgain(qp, {.kind = Response::Kind::kRead,
                             .syndrome = kAethAck | kAethNoCredits,
                             .fatal = false,
                             .psn = packet.psn,
                             .msn = r.msn,
                             .rkey = packet.rkey,
                             .va = packet.va,
                             .left = packet.dma_length,
                             .first = true,
                             .repeated = true});
}

void Responder::FailReceive(Qp& qp, const Fault& fault, uint8_t nak_syndrome) {
  qp.responder.rq_taken = false;
  p_.Count(qp, fault.syndrome == VCX_SYNDROME_LOCAL_LENGTH
                   ? VCX_Q_COUNTER_RESP_LOCAL_LENGTH_ERROR
                   : VCX_Q_COUNTER_RESP_LOCAL_PROTECTION);
  p_.completion.ReceiveError(qp, qp.responder.rq_current, fault);
  p_.responses.OweFatalNak(qp, nak_syndrome);
}

}  // namespace vcx
