/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// eq.h - event queue.
#ifndef VCX_CORE_RESOURCE_EQ_H_
#define VCX_CORE_RESOURCE_EQ_H_

#include <cstdint>

#include "memory/dma.h"
#include "vcx/context.h"

namespace vcx {

struct Uar;

struct Eq {
  uint32_t number = 0;
  uint32_t references = 0;  // CQs that report here
  GuestBuffer ring;
  uint8_t log_size = 0;
  Uar* uar = nullptr;
  uint16_t vector = 0;
  uint64_t event_mask = 0;  // bit n: event type n
  uint32_t producer = 0;    // never masked
  uint32_t consumer = 0;    // 24 bits, as software last told
  bool armed = false;
  bool failed = false;      // the bus refused the ring, or it overflowed
  vcx_eqc context{};        // as created, for QUERY_EQ
};

}  // namespace vcx

#endif  // VCX_CORE_RESOURCE_EQ_H_
