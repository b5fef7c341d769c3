/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Queue pairs: the transitions. (IBA vol. 1, 11.2.5.2, Table 96, RC rows)
#include "cmd/handlers.h"
#include "cmd/qp_attr.h"

namespace vcx {
namespace {

struct Transition {
  vcx_qp_state from;
  vcx_qp_state to;
  AttrMask required;  // taken whether opt_param_mask names them or not
  AttrMask optional;  // taken when opt_param_mask names them
  // Taken when not zero: drivers differ on which command brings them.
  AttrMask unless_zero;
};

constexpr AttrMask kAlwaysOptional =
    kAttrAccess | kAttrMinRnrNak | kAttrPmState;

constexpr Transition kRst2Init = {VCX_QP_STATE_RST, VCX_QP_STATE_INIT,
                                  kAttrPkeyIndex | kAttrPort | kAttrAccess, 0,
                                  kAttrCounterSet | kAttrDoorbellRecord};
constexpr Transition kInit2Init = {VCX_QP_STATE_INIT, VCX_QP_STATE_INIT, 0,
                                   kAttrPkeyIndex | kAttrPort | kAttrAccess, 0};
constexpr Transition kInit2Rtr = {VCX_QP_STATE_INIT, VCX_QP_STATE_RTR,
                                  kAttrPath | kAttrMtu | kAttrLogMsgMax |
                                      kAttrRemoteQpn | kAttrRcvPsn |
                                      kAttrRraMax | kAttrMinRnrNak,
                                  kAttrAccess | kAttrPkeyIndex, 0};
constexpr Transition kRtr2Rts = {VCX_QP_STATE_RTR, VCX_QP_STATE_RTS,
                                 kAttrSendPsn | kAttrSraMax | kAttrRetryCount |
                                     kAttrRnrRetry | kAttrAckTimeout,
                                 kAlwaysOptional, 0};
constexpr Transition kRts2Rts = {VCX_QP_STATE_RTS, VCX_QP_STATE_RTS, 0,
                                 kAlwaysOptional | kAttrCounterSet, 0};
constexpr Transition kSqd2Rts = {VCX_QP_STATE_SQD, VCX_QP_STATE_RTS, 0,
                                 kAlwaysOptional, 0};
// An RC QP never enters this state; the row is there for what will.
constexpr Transition kSqErr2Rts = {VCX_QP_STATE_SQER, VCX_QP_STATE_RTS, 0,
                                   kAlwaysOptional, 0};

Qp* FindQp(const Firmware& fw, vcx_be32 number) {
  return fw.objects.qps.Find(number.get() & VCX_NUMBER_MASK);
}

AttrMask PresentUnlessZero(AttrMask attrs, const vcx_qpc& qpc) {
  AttrMask present = 0;
  if (VCX_GET(&qpc, VCX_QPC_COUNTER_SET_ID) != 0) present |= kAttrCounterSet;
  if (VCX_GET64(&qpc, VCX_QPC_DBR_ADDR) != 0) present |= kAttrDoorbellRecord;
  return attrs & present;
}

// The reason of the trace is the opcode; it is zero when a QP fails on its own.
void SetState(const Firmware& fw, Qp& qp, vcx_qp_state to,
              const vcx_cmd_in& header) {
  fw.trace(VCX_TRACE_QP_STATE, qp.number, qp.state, to, header.opcode.get());
  qp.state = to;
}

void Enter(Firmware& fw, Qp& qp, vcx_qp_state from) {
  switch (qp.state) {
    case VCX_QP_STATE_INIT:
      if (from != VCX_QP_STATE_INIT) fw.control.QpEnteredInit(qp);
      return;
    case VCX_QP_STATE_RTR: return fw.control.QpEnteredRtr(qp);
    case VCX_QP_STATE_RTS:
      if (from == VCX_QP_STATE_RTS)
        fw.control.QpModified(qp);
      else
        fw.control.QpEnteredRts(qp);
      return;
    default: return;
  }
}

CmdVerdict Modify(Firmware& fw, const vcx_qp_in& in, const Transition& t) {
  Qp* qp = FindQp(fw, in.qpn);
  if (qp == nullptr) return VCX_REFUSED_QP_NUMBER;
  if (qp->state != t.from) return VCX_REFUSED_QP_STATE;
  const std::optional<AttrMask> named =
      AttrsFromOptParam(in.opt_param_mask.get());
  if (!named || (*named & ~(t.required | t.optional)) != 0)
    return VCX_REFUSED_QP_OPT_PARAM;
  const AttrMask attrs =
      t.required | *named | PresentUnlessZero(t.unless_zero, in.qpc);
  if (const CmdVerdict v = CheckAttrs(fw, attrs, in.qpc); v != VCX_CMD_ACCEPTED)
    return v;

  CopyAttrs(attrs, in.qpc, qp->context);
  LoadAttrs(fw, attrs, *qp);
  SetState(fw, *qp, t.to, in.hdr);
  Enter(fw, *qp, t.from);
  return VCX_CMD_ACCEPTED;
}

}  // namespace

CmdVerdict Rst2Init(Firmware& fw, const vcx_qp_in& in, const Call&,
                    vcx_number_out&) {
  return Modify(fw, in, kRst2Init);
}

CmdVerdict Init2Init(Firmware& fw, const vcx_qp_in& in, const Call&,
                     vcx_number_out&) {
  return Modify(fw, in, kInit2Init);
}

CmdVerdict Init2Rtr(Firmware& fw, const vcx_qp_in& in, const Call&,
                    vcx_number_out&) {
  return Modify(fw, in, kInit2Rtr);
}

CmdVerdict Rtr2Rts(Firmware& fw, const vcx_qp_in& in, const Call&,
                   vcx_number_out&) {
  return Modify(fw, in, kRtr2Rts);
}

CmdVerdict Rts2Rts(Firmware& fw, const vcx_qp_in& in, const Call&,
                   vcx_number_out&) {
  return Modify(fw, in, kRts2Rts);
}

CmdVerdict SqErr2Rts(Firmware& fw, const vcx_qp_in& in, const Call&,
                     vcx_number_out&) {
  return Modify(fw, in, kSqErr2Rts);
}

CmdVerdict Sqd2Rts(Firmware& fw, const vcx_qp_in& in, const Call&,
                   vcx_number_out&) {
  return Modify(fw, in, kSqd2Rts);
}

CmdVerdict Rts2Sqd(Firmware& fw, const vcx_number_in& in, const Call& call,
                   vcx_number_out&) {
  if ((call.op_mod & ~VCX_RTS2SQD_EVENT) != 0) return VCX_REFUSED_OP_MOD;
  Qp* qp = FindQp(fw, in.number);
  if (qp == nullptr) return VCX_REFUSED_QP_NUMBER;
  if (qp->state != VCX_QP_STATE_RTS) return VCX_REFUSED_QP_STATE;

  SetState(fw, *qp, VCX_QP_STATE_SQD, in.hdr);
  fw.control.QpEnteredSqd(*qp, (call.op_mod & VCX_RTS2SQD_EVENT) != 0);
  return VCX_CMD_ACCEPTED;
}

// From any state, itself too: then everything has been flushed already.
CmdVerdict ToErr(Firmware& fw, const vcx_number_in& in, const Call&,
                 vcx_number_out&) {
  Qp* qp = FindQp(fw, in.number);
  if (qp == nullptr) return VCX_REFUSED_QP_NUMBER;
  if (qp->state == VCX_QP_STATE_ERR) return VCX_CMD_ACCEPTED;

  SetState(fw, *qp, VCX_QP_STATE_ERR, in.hdr);
  fw.control.QpEnteredError(*qp);
  return VCX_CMD_ACCEPTED;
}

// From any state, itself too. What the transitions had set is gone, and so are
// the queues' counters; the queues stay.
CmdVerdict ToRst(Firmware& fw, const vcx_number_in& in, const Call&,
                 vcx_number_out&) {
  Qp* qp = FindQp(fw, in.number);
  if (qp == nullptr) return VCX_REFUSED_QP_NUMBER;

  constexpr vcx_qpc kNothing{};
  constexpr AttrMask kGone =
      kAttrAll & ~(kAttrCounterSet | kAttrDoorbellRecord);
  fw.control.QpForget(*qp);
  SetState(fw, *qp, VCX_QP_STATE_RST, in.hdr);
  qp->requester = RequesterState{};
  qp->responder = ResponderState{};
  qp->established = false;
  CopyAttrs(kGone, kNothing, qp->context);
  LoadAttrs(fw, kGone, *qp);
  return VCX_CMD_ACCEPTED;
}

}  // namespace vcx
