/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Counter sets of QPs.
#include "cmd/handlers.h"

namespace vcx {
namespace {

constexpr uint32_t kCounterSetMask = 0xff;

}  // namespace

CmdVerdict AllocQCounter(Firmware& fw, const vcx_number_in&, const Call&,
                         vcx_number_out& out) {
  CounterSet* set = fw.objects.counter_sets.Allocate();
  if (set == nullptr) return VCX_REFUSED_COUNTER_NONE_LEFT;
  out.number = set->number;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict DeallocQCounter(Firmware& fw, const vcx_number_in& in, const Call&,
                           vcx_number_out&) {
  CounterSet* set =
      fw.objects.counter_sets.Find(in.number.get() & kCounterSetMask);
  if (set == nullptr) return VCX_REFUSED_COUNTER_NUMBER;
  if (set->references != 0) return VCX_REFUSED_COUNTER_IN_USE;
  fw.objects.counter_sets.Free(set);
  return VCX_CMD_ACCEPTED;
}

CmdVerdict QueryQCounter(Firmware& fw, const vcx_query_q_counter_in& in,
                         const Call&, vcx_query_q_counter_out& out) {
  CounterSet* set =
      fw.objects.counter_sets.Find(in.counter_set_id.get() & kCounterSetMask);
  if (set == nullptr) return VCX_REFUSED_COUNTER_NUMBER;
  // Entry i of the set is the word at offset 4 * i of the output.
  constexpr size_t kHeaderWords = sizeof(out.hdr) / sizeof(uint32_t);
  for (size_t i = kHeaderWords; i < set->values.size(); ++i)
    out.dw[i - kHeaderWords] = set->values[i];
  if ((in.clear.get() & VCX_QUERY_Q_COUNTER_CLEAR) != 0) set->values.fill(0);
  return VCX_CMD_ACCEPTED;
}

}  // namespace vcx
