/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/doorbell.h"

#include "datapath/pipeline.h"
#include "vcx/regs.h"
#include "vcx/wqe.h"

namespace vcx {
namespace {

// A register has two halves that software may alternate between.
constexpr uint32_t kSqHalfBytes = 1u << (VCX_UAR_SQ_LOG_BYTES - 1);
constexpr uint32_t kSqEnd =
    VCX_UAR_SQ + (VCX_UAR_SQ_REGISTERS << VCX_UAR_SQ_LOG_BYTES);

bool IsSqRegister(uint32_t at) {
  return at >= VCX_UAR_SQ && at < kSqEnd && at % kSqHalfBytes == 0;
}

}  // namespace

void Doorbell::Refuse(uint32_t page, uint32_t at, uint64_t value,
                      Refusal reason) {
  p_.counters.Add(Counter::kDoorbellsRefused);
  p_.trace(VCX_TRACE_DOORBELL_REFUSED, page, at, value, reason);
}

void Doorbell::UarWrite(uint32_t page, uint32_t at, uint64_t value,
                        unsigned size) {
  p_.counters.Add(Counter::kDoorbells);
  if (size == 8 && IsSqRegister(at))
    RingSendQueue(page, at, value);
  else if (size == 8 && at == VCX_UAR_CQ_ARM)
    ArmCq(page, at, value);
  else if (size == 4 && (at == VCX_UAR_EQ_ARM || at == VCX_UAR_EQ_CI))
    UpdateEq(page, at, static_cast<uint32_t>(value), at == VCX_UAR_EQ_ARM);
  else
    Refuse(page, at, value, kNoRegister);
}

void Doorbell::RingSendQueue(uint32_t page, uint32_t at, uint64_t value) {
  Qp* qp = p_.objects.qps.Find(VCX_WQE_CTRL_QPN(static_cast<uint32_t>(value)));
  if (qp == nullptr) return Refuse(page, at, value, kNoObject);
  qp->Prefetch();
  if (qp->uar->number != page) return Refuse(page, at, value, kWrongPage);
  // In the states before RTS the record is read when RTS is reached.
  if (qp->state < VCX_QP_STATE_RTS) return;
  ReadSendRecord(*qp);
}

void Doorbell::ReadSendRecord(Qp& qp) {
  if (!qp.has_sq) return;
  qp.PrefetchQueues();
  vcx_be32 word;
  if (!p_.dma.Read(qp.doorbell_record + VCX_DBR_SQ * sizeof(word), &word,
                   sizeof(word))) {
    p_.counters.Add(Counter::kDmaErrors);
    if (qp.state != VCX_QP_STATE_ERR)
      p_.FailQp(qp, VCX_EVENT_WQ_CATASTROPHIC, VCX_EQE_QUEUE_SQ);
    return;
  }
  RequesterState& r = qp.requester;
  const auto producer = static_cast<uint16_t>(word.get());
  p_.trace(VCX_TRACE_DOORBELL, qp.uar->number, qp.number, producer);
  if (static_cast<uint16_t>(producer - r.consumer) > 1u << qp.log_sq_size) {
    if (qp.state != VCX_QP_STATE_ERR)
      p_.FailQp(qp, VCX_EVENT_WQ_CATASTROPHIC, VCX_EQE_QUEUE_SQ);
    return;
  }
  r.producer = producer;
  if (r.next != producer) p_.scheduler.Schedule(qp);
}

void Doorbell::ArmCq(uint32_t page, uint32_t at, uint64_t value) {
  const auto arm = static_cast<uint32_t>(value >> 32);
  Cq* cq = p_.objects.cqs.Find(static_cast<uint32_t>(value) & 0xffffff);
  if (cq == nullptr) return Refuse(page, at, value, kNoObject);
  if (cq->uar->number != page) return Refuse(page, at, value, kWrongPage);
  p_.completion.Arm(
      *cq, VCX_CQ_ARM_CI(arm),
      (arm & VCX_CQ_ARM_SOLICITED) != 0 ? CqArm::kSolicited : CqArm::kNext);
}

void Doorbell::UpdateEq(uint32_t page, uint32_t at, uint32_t value, bool arm) {
  Eq* eq = p_.objects.eqs.Find(value >> 24);
  if (eq == nullptr) return Refuse(page, at, value, kNoObject);
  if (eq->uar->number != page) return Refuse(page, at, value, kWrongPage);
  p_.event.UpdateConsumer(*eq, value & 0xffffff, arm);
}

}  // namespace vcx
