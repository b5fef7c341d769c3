/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Event queues.
#include "cmd/handlers.h"
#include "cmd/queue_memory.h"
#include "vcx/eqe.h"

namespace vcx {
namespace {

constexpr uint32_t kEqNumberMask = 0xff;

QueueMemory MemoryOf(const vcx_eqc& eqc, std::span<const uint8_t> list) {
  return {.bytes = uint64_t{VCX_EQE_BYTES} << VCX_GET(&eqc, VCX_EQC_LOG_SIZE),
          .log_page_size = VCX_GET(&eqc, VCX_EQC_LOG_PAGE_SIZE),
          .page_offset = VCX_GET(&eqc, VCX_EQC_PAGE_OFFSET),
          .entry_bytes = VCX_EQE_BYTES,
          .list = list};
}

}  // namespace

CmdVerdict CreateEq(Firmware& fw, const vcx_create_eq_in& in, const Call& call,
                    vcx_number_out& out) {
  const vcx_eqc& eqc = in.eqc;
  if (VCX_GET(&eqc, VCX_EQC_LOG_SIZE) > fw.limits.log_max_eq_sz)
    return VCX_REFUSED_EQ_LOG_SIZE;
  if (VCX_GET(&eqc, VCX_EQC_INTR) >= fw.config.num_vectors)
    return VCX_REFUSED_EQ_VECTOR;
  Uar* uar = fw.objects.uars.Find(VCX_GET(&eqc, VCX_EQC_UAR_PAGE));
  if (uar == nullptr) return VCX_REFUSED_UAR_NUMBER;
  const QueueMemory memory = MemoryOf(eqc, call.list);
  if (const CmdVerdict v = CheckQueueMemory(fw, memory); v != VCX_CMD_ACCEPTED)
    return v;

  Eq* eq = fw.objects.eqs.Allocate();
  if (eq == nullptr) return VCX_REFUSED_EQ_NONE_LEFT;

  eq->ring = TakeQueueMemory(fw, memory);
  eq->log_size = static_cast<uint8_t>(VCX_GET(&eqc, VCX_EQC_LOG_SIZE));
  eq->uar = uar;
  ++uar->references;
  eq->vector = static_cast<uint16_t>(VCX_GET(&eqc, VCX_EQC_INTR));
  eq->event_mask = in.event_bitmask[0].get();
  eq->armed = VCX_GET(&eqc, VCX_EQC_ST) == VCX_EQ_ST_ARMED;
  eq->context = eqc;
  out.number = eq->number;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict DestroyEq(Firmware& fw, const vcx_number_in& in, const Call&,
                     vcx_number_out&) {
  Eq* eq = fw.objects.eqs.Find(in.number.get() & kEqNumberMask);
  if (eq == nullptr) return VCX_REFUSED_EQ_NUMBER;
  if (eq->references != 0) return VCX_REFUSED_EQ_IN_USE;

  ReleaseQueueMemory(fw, eq->ring);
  --eq->uar->references;
  fw.objects.eqs.Free(eq);
  return VCX_CMD_ACCEPTED;
}

CmdVerdict QueryEq(Firmware& fw, const vcx_number_in& in, const Call&,
                   vcx_query_eq_out& out) {
  const Eq* eq = fw.objects.eqs.Find(in.number.get() & kEqNumberMask);
  if (eq == nullptr) return VCX_REFUSED_EQ_NUMBER;

  out.eqc = eq->context;
  VCX_SET(&out.eqc, VCX_EQC_STATUS,
          eq->failed ? VCX_EQ_STATUS_WRITE_FAILURE : VCX_EQ_STATUS_OK);
  VCX_SET(&out.eqc, VCX_EQC_ST, eq->armed ? VCX_EQ_ST_ARMED : VCX_EQ_ST_FIRED);
  VCX_SET(&out.eqc, VCX_EQC_CONSUMER_COUNTER, eq->consumer);
  VCX_SET(&out.eqc, VCX_EQC_PRODUCER_COUNTER, eq->producer);
  out.event_bitmask[0] = eq->event_mask;
  return VCX_CMD_ACCEPTED;
}

}  // namespace vcx
