/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// event.h - stage 10: event queue entries and interrupts.
//
// The order is the contract: data, CQE, EQE, interrupt. An EQ interrupts only
// when it is armed and holds an entry beyond its consumer counter; each arming
// is good for one interrupt.
#ifndef VCX_CORE_DATAPATH_EVENT_H_
#define VCX_CORE_DATAPATH_EVENT_H_

#include <cstddef>
#include <cstdint>

#include "resource/cq.h"
#include "resource/eq.h"
#include "vcx/eqe.h"

namespace vcx {

class Pipeline;

class Event {
 public:
  explicit Event(Pipeline& p) : p_(p) {}

  // A completion event of this CQ, to its EQ.
  void Completion(Cq& cq);

  // Any other event, to every EQ that asked for its type.
  void Raise(vcx_event_type type, uint8_t sub_type, const void* data,
             size_t data_bytes);

  // Software tells how far it is, and arms.
  void UpdateConsumer(Eq& eq, uint32_t consumer, bool arm);

 private:
  void Post(Eq& eq, vcx_event_type type, uint8_t sub_type, const void* data,
            size_t data_bytes, uint32_t number);
  void Interrupt(Eq& eq);

  Pipeline& p_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_EVENT_H_
