/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/event.h"

#include <algorithm>
#include <cstring>

#include "datapath/pipeline.h"

namespace vcx {
namespace {

constexpr uint32_t kCounterMask = 0xffffff;
static_assert(sizeof(vcx_eqe) == Host::kEntryBytes);

}  // namespace

void Event::Completion(Cq& cq) {
  vcx_eqe_completion data{};
  data.cqn = cq.number;
  Post(*cq.eq, VCX_EVENT_COMPLETION, 0, &data, sizeof(data), cq.number);
}

void Event::Raise(vcx_event_type type, uint8_t sub_type, const void* data,
                  size_t data_bytes) {
  bool wanted = false;
  p_.objects.eqs.ForEach([&](Eq& eq) {
    if ((eq.event_mask >> type & 1) == 0) return;
    wanted = true;
    Post(eq, type, sub_type, data, data_bytes, sub_type);
  });
  if (wanted) return;
  p_.counters.Add(Counter::kEventsLost);
  p_.trace(VCX_TRACE_EVENT_LOST, 0, type, sub_type);
}

void Event::Post(Eq& eq, vcx_event_type type, uint8_t sub_type,
                 const void* data, size_t data_bytes, uint32_t number) {
  p_.completion.Flush();
  vcx_eqe eqe{};
  eqe.type = static_cast<uint8_t>(type);
  eqe.sub_type = sub_type;
  std::memcpy(&eqe.data, data, std::min(data_bytes, sizeof(eqe.data)));
  eqe.owner = eq.producer >> eq.log_size & 1;
  const uint32_t size = 1u << eq.log_size;
  const uint64_t address =
      eq.ring.Address(uint64_t{eq.producer & (size - 1)} * sizeof(eqe));
  const bool full = ((eq.producer - eq.consumer) & kCounterMask) >= size;
  if (eq.failed || full || !p_.dma.WriteEntries(address, &eqe, 1)) {
    // A full EQ loses the event and can go on; one that the bus refuses is
    // beyond help.
    if (!full && !eq.failed) {
      p_.counters.Add(Counter::kDmaErrors);
      eq.failed = true;
    }
    p_.counters.Add(Counter::kEventsLost);
    p_.trace(VCX_TRACE_EVENT_LOST, eq.number, type, number);
    return;
  }
  ++eq.producer;
  p_.counters.Add(Counter::kEvents);
  p_.trace(VCX_TRACE_EVENT, eq.number, type, number, sub_type);
  if (eq.armed) Interrupt(eq);
}

void Event::Interrupt(Eq& eq) {
  eq.armed = false;
  if (!p_.dma.enabled()) return;
  p_.counters.Add(Counter::kInterrupts);
  p_.trace(VCX_TRACE_INTERRUPT, eq.vector, eq.number);
  p_.host.RaiseMsix(eq.vector);
}

void Event::UpdateConsumer(Eq& eq, uint32_t consumer, bool arm) {
  eq.consumer = consumer;
  if (!arm) return;
  eq.armed = true;
  if ((eq.producer & kCounterMask) != consumer) Interrupt(eq);
}

}  // namespace vcx
