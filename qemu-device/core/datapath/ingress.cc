/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/ingress.h"

#include "datapath/pipeline.h"

namespace vcx {
namespace {

bool TakesRequests(vcx_qp_state state) {
  return state == VCX_QP_STATE_RTR || state == VCX_QP_STATE_RTS ||
         state == VCX_QP_STATE_SQD || state == VCX_QP_STATE_SQER;
}

bool TakesResponses(vcx_qp_state state) {
  return state == VCX_QP_STATE_RTS || state == VCX_QP_STATE_SQD;
}

}  // namespace

Counter Ingress::Judge(const Qp* qp, const Packet& packet) const {
  const OpcodeInfo& info = GetOpcodeInfo(packet.opcode);
  if (qp == nullptr) return Counter::kDropNoQp;
  if (qp->st != VCX_QP_ST_RC || (packet.opcode & kServiceMask) != kServiceRc)
    return Counter::kDropServiceType;
  if (!(info.request() ? TakesRequests(qp->state) : TakesResponses(qp->state)))
    return Counter::kDropQpState;
  if (!Port::PkeysMatch(packet.pkey, p_.port.pkey(qp->path.pkey_index)))
    return Counter::kDropPkey;
  const uint16_t peer = qp->path.force_loopback ? p_.port.lid() : qp->path.dlid;
  if (packet.slid != peer) return Counter::kDropSource;
  if (qp->path.has_grh && (!packet.has_grh || packet.grh.sgid != qp->path.dgid))
    return Counter::kDropGid;
  const uint64_t room = uint64_t{packet.psns} << qp->log_mtu;
  if (packet.payload.length > room) return Counter::kDropPathMtu;
  // A large packet takes as many PSNs as its payload needs, not more: both
  // sides count in the same MTU.
  if (packet.psns > 1 && packet.payload.length != 0 &&
      packet.payload.length + uint64_t{qp->mtu()} <= room)
    return Counter::kDropPathMtu;
  return Counter::kNum;
}

void Ingress::Deliver(const Packet& packet) {
  Qp* qp = p_.objects.qps.Find(packet.dest_qpn);
  const Counter reason = Judge(qp, packet);
  if (reason != Counter::kNum) {
    p_.counters.Add(reason);
    p_.trace(VCX_TRACE_INGRESS_DROPPED, static_cast<uint64_t>(reason),
             packet.dest_qpn, packet.opcode, packet.psn.value());
    return;
  }
  qp->peer_payload = packet.offered_payload;
  p_.counters.Add(Counter::kPacketsReceived);
  p_.counters.Add(Counter::kBytesReceived, packet.payload.length);
  p_.trace(VCX_TRACE_INGRESS, qp->number, packet.opcode, packet.psn.value(),
           packet.payload.length);
  if (!qp->established && qp->state == VCX_QP_STATE_RTR) {
    qp->established = true;
    p_.QpEvent(*qp, VCX_EVENT_COMM_ESTABLISHED, VCX_EQE_QUEUE_QP);
  }
  if (GetOpcodeInfo(packet.opcode).request())
    p_.responder.Handle(*qp, packet);
  else
    p_.completer.Handle(*qp, packet);
}

}  // namespace vcx
