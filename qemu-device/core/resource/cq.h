/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// cq.h - completion queue.
#ifndef VCX_CORE_RESOURCE_CQ_H_
#define VCX_CORE_RESOURCE_CQ_H_

#include <cstdint>

#include "memory/dma.h"
#include "timer.h"
#include "vcx/context.h"

namespace vcx {

struct Eq;
struct Uar;

// What a CQ waits for before it reports to its EQ. One event per arming.
enum class CqArm : uint8_t { kNone, kSolicited, kNext };

struct Cq {
  uint32_t number = 0;
  uint32_t references = 0;  // send and receive queues that complete here
  GuestBuffer ring;
  uint8_t log_size = 0;
  uint8_t log_stride = 6;   // bytes of an entry
  bool ignore_overrun = false;
  Eq* eq = nullptr;
  Uar* uar = nullptr;
  uint64_t doorbell_record = 0;

  uint32_t producer = 0;  // never masked
  uint32_t consumer = 0;  // 24 bits, as last read from the doorbell record
  uint8_t status = VCX_CQ_STATUS_OK;  // anything else: takes no entry any more

  CqArm arm = CqArm::kNone;
  // Producer counters right after the last entry of each sort, for arming: an
  // entry beyond the consumer counter is there when the counter lies behind.
  uint32_t last_entry = 0;
  uint32_t last_solicited = 0;
  // The same when the last event was written, and whether entries of each sort
  // have come since: what an event has told of is not told again.
  uint32_t last_notified = 0;
  bool unreported = false;
  bool unreported_solicited = false;

  // Moderation: an event after max_count completions or period, whichever
  // comes first; zero switches either off. The period begins with the last
  // event, or anew with each entry.
  uint16_t moderation_period_us = 0;
  uint16_t moderation_count = 0;
  bool period_from_entry = false;
  uint64_t last_event_ns = 0;
  uint16_t since_event = 0;
  Timer moderation{TimerKind::kModeration, this};

  vcx_cqc context{};  // as created and modified, for QUERY_CQ

  bool failed() const { return status != VCX_CQ_STATUS_OK; }
};

}  // namespace vcx

#endif  // VCX_CORE_RESOURCE_CQ_H_
