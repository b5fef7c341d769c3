/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/response_queue.h"

#include <algorithm>
#include <utility>

#include "datapath/pipeline.h"

namespace vcx {
namespace {

constexpr uint32_t kUnitBytes = 4096;

// Reads owed, as many that were answered before, an acknowledgement between
// each two and at the ends, and NAKs.
size_t Room(const Qp& qp) { return 4 * (size_t{1} << qp.log_rra_max) + 4; }

// The PSN behind the last one of a read that is owed.
Psn End(const Qp& qp, const Response& read) {
  const uint64_t psns = (uint64_t{read.left} + qp.mtu() - 1) >> qp.log_mtu;
  return read.psn + std::max(1u, static_cast<uint32_t>(psns));
}

constexpr size_t kFirstRoom = 2;

// Most QPs never owe more than an acknowledgement: the queue grows to its room
// when it must.
void Grow(ResponderState& r, size_t room) {
  std::vector<Response> larger(
      std::min(room, std::max(kFirstRoom, 2 * r.responses.size())));
  for (uint32_t i = 0; i < r.count; ++i)
    larger[i] = r.responses[(r.head + i) % r.responses.size()];
  r.responses = std::move(larger);
  r.head = 0;
}

}  // namespace

void ResponseQueue::Prepare(Qp& qp) {
  ResponderState& r = qp.responder;
  r.responses = {};
  r.head = r.count = r.reads = r.repeated_reads = 0;
}

bool ResponseQueue::Owe(Qp& qp, const Response& response) {
  ResponderState& r = qp.responder;
  if (r.count == r.responses.size()) {
    const size_t room = Room(qp);
    if (r.count >= room) {
      p_.counters.Add(Counter::kDropNoResource);
      return false;
    }
    Grow(r, room);
  }
  r.responses[(r.head + r.count) % r.responses.size()] = response;
  ++r.count;
  if (response.kind == Response::Kind::kRead) ++ReadsLike(r, response);
  p_.scheduler.Schedule(qp);
  return true;
}

bool ResponseQueue::OweAgain(Qp& qp, const Response& read) {
  ResponderState& r = qp.responder;
  for (uint32_t i = 0; i < r.count; ++i) {
    Response& owed = r.responses[(r.head + i) % r.responses.size()];
    if (owed.kind != Response::Kind::kRead || End(qp, owed) != End(qp, read))
      continue;
    // What it asks for lies ahead.
    if (read.psn.Ahead(owed.psn) > 0) {
      owed.again = true;
      return true;
    }
    const bool repeated = owed.repeated;
    owed = read;
    owed.repeated = repeated;
    return true;
  }
  // Repeated reads must not take the room of new ones, and have their own.
  if (r.repeated_reads >= 1u << qp.log_rra_max) {
    p_.counters.Add(Counter::kDropNoResource);
    return false;
  }
  return Owe(qp, read);
}

// One acknowledgement stands for all that was not sent yet.
void ResponseQueue::OweAck(Qp& qp, Psn psn) {
  ResponderState& r = qp.responder;
  if (r.count != 0) {
    Response& last = r.responses[(r.head + r.count - 1) % r.responses.size()];
    if (last.kind == Response::Kind::kAck) {
      last.psn = psn;
      last.msn = r.msn;
      return;
    }
  }
  Owe(qp, {.kind = Response::Kind::kAck,
           .syndrome = kAethAck | kAethNoCredits,
           .fatal = false,
           .psn = psn,
           .msn = r.msn,
           .rkey = 0,
           .va = 0,
           .left = 0,
           .first = false,
           .repeated = false});
}

void ResponseQueue::OweNak(Qp& qp, uint8_t syndrome) {
  ResponderState& r = qp.responder;
  r.nak_sent = Owe(qp, {.kind = Response::Kind::kNak,
                        .syndrome = syndrome,
                        .fatal = r.dead,
                        .psn = r.expected,
                        .msn = r.msn,
                        .rkey = 0,
                        .va = 0,
                        .left = 0,
                        .first = false,
                        .repeated = false});
}

void ResponseQueue::OweRnrNak(Qp& qp) {
  p_.Count(qp, VCX_Q_COUNTER_OUT_OF_BUFFER);
  OweNak(qp, static_cast<uint8_t>(kAethRnrNak | qp.min_rnr_nak));
}

void ResponseQueue::OweFatalNak(Qp& qp, uint8_t syndrome) {
  ResponderState& r = qp.responder;
  r.dead = true;
  // The requester must hear of it: the newest answer makes room if need be.
  if (r.count == Room(qp)) {
    --r.count;
    const Response& dropped =
        r.responses[(r.head + r.count) % r.responses.size()];
    if (dropped.kind == Response::Kind::kRead) --ReadsLike(r, dropped);
  }
  OweNak(qp, syndrome);
}

// ---- Answering
// ------------------------------------------------------------------

StepResult ResponseQueue::Step(Qp& qp, uint32_t* budget) {
  ResponderState& r = qp.responder;
  while (r.count != 0) {
    if (*budget == 0) return StepResult::kMore;
    Response& response = r.responses[r.head];
    if (response.kind == Response::Kind::kRead) {
      const StepResult result = SendReadResponse(qp, response, budget);
      if (result != StepResult::kIdle || qp.state == VCX_QP_STATE_ERR)
        return result;
      continue;
    }
    if (SendAnswer(qp, response) == SendResult::kBusy)
      return StepResult::kBlocked;
    --*budget;
    const bool fatal = response.fatal;
    const bool invalid = response.syndrome == kNakInvalidRequest;
    // A QP that is connected to itself may have failed by its own answer, and
    // then owes nothing.
    const bool failed = qp.state == VCX_QP_STATE_ERR;
    if (!failed) Pop(qp);
    if (fatal) {
      p_.FailQp(
          qp,
          invalid ? VCX_EVENT_WQ_INVALID_REQUEST : VCX_EVENT_WQ_ACCESS_ERROR,
          VCX_EQE_QUEUE_RQ);
      return StepResult::kIdle;
    }
    if (failed) return StepResult::kIdle;
  }
  return StepResult::kIdle;
}

void ResponseQueue::Pop(Qp& qp) {
  ResponderState& r = qp.responder;
  const Response& response = r.responses[r.head];
  if (response.kind == Response::Kind::kRead) --ReadsLike(r, response);
  r.head = static_cast<uint32_t>((r.head + 1) % r.responses.size());
  --r.count;
}

SendResult ResponseQueue::SendAnswer(Qp& qp, const Response& response) {
  Packet packet;
  packet.opcode = kRcAck;
  packet.psn = response.psn;
  packet.dest_qpn = qp.remote_qpn;
  packet.syndrome = response.syndrome;
  packet.msn = response.msn;
  p_.router.Address(qp, &packet);
  const SendResult sent = p_.router.WireFor(qp.path).Send(packet);
  if (sent == SendResult::kBusy) return sent;
  p_.counters.Add(Counter::kPacketsSent);
  switch (response.syndrome & kAethCodeMask) {
    case kAethAck: p_.counters.Add(Counter::kAcksSent); break;
    case kAethRnrNak: p_.counters.Add(Counter::kRnrNaksSent); break;
    default: p_.counters.Add(Counter::kNaksSent); break;
  }
  return sent;
}

SendResult ResponseQueue::SendReadPacket(Qp& qp, const Response& response,
                                         uint32_t bytes, Wire& wire,
                                         bool* allowed) {
  segments_.clear();
  *allowed = p_.translator.Translate(qp, response.rkey, response.va, bytes,
                                     Access::kRemoteRead,
                                     &segments_) == VCX_VENDOR_NONE;
  if (!*allowed) return SendResult::kDmaError;
  Packet packet;
  packet.opcode = ReadResponseOpcode(response.first, bytes == response.left);
  packet.psn = response.psn;
  packet.psns = std::max(1u, (bytes + qp.mtu() - 1) >> qp.log_mtu);
  packet.dest_qpn = qp.remote_qpn;
  packet.syndrome = response.syndrome;
  packet.msn = response.msn;
  packet.payload = {.bytes = nullptr, .segments = segments_, .length = bytes};
  p_.router.Address(qp, &packet);
  return wire.Send(packet);
}

// kIdle: this read is answered, or can no longer be.
StepResult ResponseQueue::SendReadResponse(Qp& qp, Response& response,
                                           uint32_t* budget) {
  Wire& wire = p_.router.WireFor(qp.path);
  // See Requester::SendMessage().
  const uint32_t max_payload =
      response.again ? qp.mtu() : p_.router.MaxPayload(qp);
  for (bool last = false; !last;) {
    if (*budget == 0) return StepResult::kMore;
    const uint32_t bytes = std::min(response.left, max_payload);
    last = bytes == response.left;
    bool allowed;
    const SendResult sent = SendReadPacket(qp, response, bytes, wire, &allowed);
    if (sent == SendResult::kBusy) return StepResult::kBlocked;
    if (qp.state == VCX_QP_STATE_ERR) return StepResult::kIdle;  // see Step()
    if (sent == SendResult::kDmaError) {
      // The key has gone since the request was judged, or the memory has.
      --ReadsLike(qp.responder, response);
      qp.responder.dead = true;
      response.kind = Response::Kind::kNak;
      response.syndrome = allowed ? kNakRemoteOperation : kNakRemoteAccess;
      response.fatal = true;
      return StepResult::kIdle;
    }
    p_.counters.Add(Counter::kPacketsSent);
    p_.counters.Add(Counter::kBytesSent, bytes);
    *budget -= std::min(*budget, 1 + bytes / kUnitBytes);
    response.first = false;
    response.psn =
        response.psn + std::max(1u, (bytes + qp.mtu() - 1) >> qp.log_mtu);
    response.va += bytes;
    response.left -= bytes;
  }
  Pop(qp);
  return StepResult::kIdle;
}

}  // namespace vcx
