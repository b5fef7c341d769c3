/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Completion queues.
#include <utility>

#include "cmd/handlers.h"
#include "cmd/queue_memory.h"
#include "vcx/cqe.h"
#include "vcx/regs.h"

namespace vcx {
namespace {

constexpr uint32_t kDoorbellRecordBytes = 8;
constexpr uint32_t kCounterMask = 0xffffff;
constexpr uint32_t kPeriodFromEntry = 1;  // 0: from the last event
constexpr uint32_t kMaxPeriodMode = kPeriodFromEntry;

constexpr uint32_t kModerationFields =
    VCX_MODIFY_CQ_PERIOD | VCX_MODIFY_CQ_MAX_COUNT | VCX_MODIFY_CQ_PERIOD_MODE;
constexpr uint32_t kModifyFields = kModerationFields | VCX_MODIFY_CQ_OI;
constexpr uint32_t kResizeFields = VCX_MODIFY_CQ_LOG_SIZE |
                                   VCX_MODIFY_CQ_PAGE_OFFSET |
                                   VCX_MODIFY_CQ_LOG_PAGE_SIZE;

uint8_t LogStride(const vcx_cqc& cqc) {
  return VCX_GET(&cqc, VCX_CQC_CQE_SZ) == VCX_CQE_SZ_128 ? 7 : 6;
}

QueueMemory MemoryOf(const vcx_cqc& cqc, std::span<const uint8_t> list) {
  const uint8_t log_stride = LogStride(cqc);
  return {
      .bytes = uint64_t{1} << (VCX_GET(&cqc, VCX_CQC_LOG_SIZE) + log_stride),
      .log_page_size = VCX_GET(&cqc, VCX_CQC_LOG_PAGE_SIZE),
      .page_offset = VCX_GET(&cqc, VCX_CQC_PAGE_OFFSET),
      .entry_bytes = 1u << log_stride,
      .list = list};
}

CqArm ArmOf(const vcx_cqc& cqc) {
  switch (VCX_GET(&cqc, VCX_CQC_ST)) {
    case VCX_CQ_ST_ARMED: return CqArm::kNext;
    case VCX_CQ_ST_SOLICITED_ARMED: return CqArm::kSolicited;
    default: return CqArm::kNone;
  }
}

uint32_t StOf(const Cq& cq) {
  switch (cq.arm) {
    case CqArm::kNext: return VCX_CQ_ST_ARMED;
    case CqArm::kSolicited: return VCX_CQ_ST_SOLICITED_ARMED;
    case CqArm::kNone: break;
  }
  return VCX_CQ_ST_FIRED;
}

CmdVerdict CheckContext(const Firmware& fw, const vcx_cqc& cqc) {
  if (VCX_GET(&cqc, VCX_CQC_LOG_SIZE) > fw.limits.log_max_cq_sz)
    return VCX_REFUSED_CQ_LOG_SIZE;
  if (VCX_GET(&cqc, VCX_CQC_CQE_SZ) > VCX_CQE_SZ_128)
    return VCX_REFUSED_CQ_CQE_SIZE;
  if (VCX_GET(&cqc, VCX_CQC_PERIOD_MODE) > kMaxPeriodMode)
    return VCX_REFUSED_CQ_PERIOD_MODE;
  if (VCX_GET64(&cqc, VCX_CQC_DBR_ADDR) % kDoorbellRecordBytes != 0)
    return VCX_REFUSED_DOORBELL_RECORD;
  return VCX_CMD_ACCEPTED;
}

void LoadModeration(Cq& cq) {
  cq.moderation_period_us =
      static_cast<uint16_t>(VCX_GET(&cq.context, VCX_CQC_PERIOD));
  cq.moderation_count =
      static_cast<uint16_t>(VCX_GET(&cq.context, VCX_CQC_MAX_COUNT));
  cq.period_from_entry =
      VCX_GET(&cq.context, VCX_CQC_PERIOD_MODE) == kPeriodFromEntry;
}

CmdVerdict ModifyFields(Firmware& fw, Cq& cq, const vcx_modify_cq_in& in) {
  const uint32_t fields = in.field_select.get();
  if (fields == 0 || (fields & ~kModifyFields) != 0)
    return VCX_REFUSED_CQ_FIELD_SELECT;
  if ((fields & VCX_MODIFY_CQ_PERIOD_MODE) != 0 &&
      VCX_GET(&in.cqc, VCX_CQC_PERIOD_MODE) > kMaxPeriodMode)
    return VCX_REFUSED_CQ_PERIOD_MODE;

  if ((fields & VCX_MODIFY_CQ_PERIOD) != 0)
    VCX_SET(&cq.context, VCX_CQC_PERIOD, VCX_GET(&in.cqc, VCX_CQC_PERIOD));
  if ((fields & VCX_MODIFY_CQ_MAX_COUNT) != 0)
    VCX_SET(&cq.context, VCX_CQC_MAX_COUNT,
            VCX_GET(&in.cqc, VCX_CQC_MAX_COUNT));
  if ((fields & VCX_MODIFY_CQ_PERIOD_MODE) != 0)
    VCX_SET(&cq.context, VCX_CQC_PERIOD_MODE,
            VCX_GET(&in.cqc, VCX_CQC_PERIOD_MODE));
  if ((fields & VCX_MODIFY_CQ_OI) != 0) {
    VCX_SET(&cq.context, VCX_CQC_OI, VCX_GET(&in.cqc, VCX_CQC_OI));
    cq.ignore_overrun = VCX_GET(&in.cqc, VCX_CQC_OI) != 0;
  }
  LoadModeration(cq);
  if ((fields & kModerationFields) != 0) fw.control.CqModerationChanged(cq);
  return VCX_CMD_ACCEPTED;
}

// The context that the CQ will have: the old one with what is selected.
vcx_cqc ResizedContext(const Cq& cq, const vcx_modify_cq_in& in) {
  const uint32_t fields = in.field_select.get();
  vcx_cqc cqc = cq.context;
  VCX_SET(&cqc, VCX_CQC_LOG_SIZE, VCX_GET(&in.cqc, VCX_CQC_LOG_SIZE));
  if ((fields & VCX_MODIFY_CQ_PAGE_OFFSET) != 0)
    VCX_SET(&cqc, VCX_CQC_PAGE_OFFSET, VCX_GET(&in.cqc, VCX_CQC_PAGE_OFFSET));
  if ((fields & VCX_MODIFY_CQ_LOG_PAGE_SIZE) != 0)
    VCX_SET(&cqc, VCX_CQC_LOG_PAGE_SIZE,
            VCX_GET(&in.cqc, VCX_CQC_LOG_PAGE_SIZE));
  return cqc;
}

// Entries that software has not consumed yet move to the new queue; the RESIZE
// entry that ends the old one takes a place there and a number in both.
CmdVerdict CheckOutstanding(Firmware& fw, const Cq& cq, uint32_t log_size) {
  vcx_be32 word;
  if (!fw.dma.Read(cq.doorbell_record + VCX_DBR_CQ_CI * sizeof(word), &word,
                   sizeof(word))) {
    fw.counters.Add(Counter::kDmaErrors);
    return VCX_REFUSED_CQ_RESIZE_DMA;
  }
  const uint32_t outstanding = (cq.producer - word.get()) & kCounterMask;
  if (outstanding >= 1u << cq.log_size) return VCX_REFUSED_CQ_RESIZE_FULL;
  if (outstanding >= 1u << log_size) return VCX_REFUSED_CQ_RESIZE_TOO_SMALL;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict Resize(Firmware& fw, Cq& cq, const vcx_modify_cq_in& in,
                  std::span<const uint8_t> list) {
  const uint32_t fields = in.field_select.get();
  if ((fields & VCX_MODIFY_CQ_LOG_SIZE) == 0 || (fields & ~kResizeFields) != 0)
    return VCX_REFUSED_CQ_FIELD_SELECT;
  if (VCX_GET(&in.cqc, VCX_CQC_CQE_SZ) != VCX_GET(&cq.context, VCX_CQC_CQE_SZ))
    return VCX_REFUSED_CQ_RESIZE_CQE_SIZE;
  if (cq.failed()) return VCX_REFUSED_CQ_FAILED;
  const vcx_cqc cqc = ResizedContext(cq, in);
  if (const CmdVerdict v = CheckContext(fw, cqc); v != VCX_CMD_ACCEPTED)
    return v;
  const QueueMemory memory = MemoryOf(cqc, list);
  const uint64_t held = cq.ring.pages().size();
  if (const CmdVerdict v = CheckQueueMemory(fw, memory, held);
      v != VCX_CMD_ACCEPTED)
    return v;
  const auto log_size = static_cast<uint8_t>(VCX_GET(&cqc, VCX_CQC_LOG_SIZE));
  if (const CmdVerdict v = CheckOutstanding(fw, cq, log_size);
      v != VCX_CMD_ACCEPTED)
    return v;

  fw.page_lists.GiveBack(held);
  GuestBuffer ring = TakeQueueMemory(fw, memory);
  const uint64_t taken = ring.pages().size();
  if (!fw.control.CqResize(cq, std::move(ring), log_size)) {
    fw.page_lists.GiveBack(taken);
    fw.page_lists.Take(held);
    return VCX_REFUSED_CQ_RESIZE_DMA;
  }
  cq.context = cqc;
  return VCX_CMD_ACCEPTED;
}

}  // namespace

CmdVerdict CreateCq(Firmware& fw, const vcx_create_cq_in& in, const Call& call,
                    vcx_number_out& out) {
  const vcx_cqc& cqc = in.cqc;
  if (const CmdVerdict v = CheckContext(fw, cqc); v != VCX_CMD_ACCEPTED)
    return v;
  Uar* uar = fw.objects.uars.Find(VCX_GET(&cqc, VCX_CQC_UAR_PAGE));
  if (uar == nullptr) return VCX_REFUSED_UAR_NUMBER;
  Eq* eq = fw.objects.eqs.Find(VCX_GET(&cqc, VCX_CQC_EQN));
  if (eq == nullptr) return VCX_REFUSED_EQ_NUMBER;
  const QueueMemory memory = MemoryOf(cqc, call.list);
  if (const CmdVerdict v = CheckQueueMemory(fw, memory); v != VCX_CMD_ACCEPTED)
    return v;

  Cq* cq = fw.objects.cqs.Allocate();
  if (cq == nullptr) return VCX_REFUSED_CQ_NONE_LEFT;

  cq->ring = TakeQueueMemory(fw, memory);
  cq->log_size = static_cast<uint8_t>(VCX_GET(&cqc, VCX_CQC_LOG_SIZE));
  cq->log_stride = LogStride(cqc);
  cq->ignore_overrun = VCX_GET(&cqc, VCX_CQC_OI) != 0;
  cq->eq = eq;
  ++eq->references;
  cq->uar = uar;
  ++uar->references;
  cq->doorbell_record = VCX_GET64(&cqc, VCX_CQC_DBR_ADDR);
  cq->arm = ArmOf(cqc);
  cq->context = cqc;
  LoadModeration(*cq);
  out.number = cq->number;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict DestroyCq(Firmware& fw, const vcx_number_in& in, const Call&,
                     vcx_number_out&) {
  Cq* cq = fw.objects.cqs.Find(in.number.get() & VCX_NUMBER_MASK);
  if (cq == nullptr) return VCX_REFUSED_CQ_NUMBER;
  if (cq->references != 0) return VCX_REFUSED_CQ_IN_USE;

  fw.control.CqForget(*cq);
  ReleaseQueueMemory(fw, cq->ring);
  --cq->eq->references;
  --cq->uar->references;
  fw.objects.cqs.Free(cq);
  return VCX_CMD_ACCEPTED;
}

CmdVerdict QueryCq(Firmware& fw, const vcx_number_in& in, const Call&,
                   vcx_query_cq_out& out) {
  const Cq* cq = fw.objects.cqs.Find(in.number.get() & VCX_NUMBER_MASK);
  if (cq == nullptr) return VCX_REFUSED_CQ_NUMBER;

  out.cqc = cq->context;
  VCX_SET(&out.cqc, VCX_CQC_STATUS, cq->status);
  VCX_SET(&out.cqc, VCX_CQC_ST, StOf(*cq));
  VCX_SET(&out.cqc, VCX_CQC_LAST_NOTIFIED, cq->last_notified);
  VCX_SET(&out.cqc, VCX_CQC_LAST_SOLICITED, cq->last_solicited);
  VCX_SET(&out.cqc, VCX_CQC_CONSUMER_COUNTER, cq->consumer);
  VCX_SET(&out.cqc, VCX_CQC_PRODUCER_COUNTER, cq->producer);
  return VCX_CMD_ACCEPTED;
}

CmdVerdict ModifyCq(Firmware& fw, const vcx_modify_cq_in& in, const Call& call,
                    vcx_number_out&) {
  Cq* cq = fw.objects.cqs.Find(in.cqn.get() & VCX_NUMBER_MASK);
  if (cq == nullptr) return VCX_REFUSED_CQ_NUMBER;
  switch (call.op_mod) {
    case 0: return ModifyFields(fw, *cq, in);
    case VCX_MODIFY_CQ_OP_RESIZE: return Resize(fw, *cq, in, call.list);
    default: return VCX_REFUSED_OP_MOD;
  }
}

}  // namespace vcx
