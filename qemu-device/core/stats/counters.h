/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// counters.h - what the device counts. The names are those of
// Documentation/counters.rst and of the host's view (vcx_core_counters()).
#ifndef VCX_CORE_STATS_COUNTERS_H_
#define VCX_CORE_STATS_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace vcx {

enum class Counter : uint32_t {
  // Firmware interface.
  kCommands,
  kCommandsFailed,
  kCommandsUndeliverable,
  kMmioUnknown,
  kDoorbells,
  kDoorbellsRefused,
  // Wire, both directions; loopback packets count too.
  kPacketsSent,
  kPacketsReceived,
  kBytesSent,      // payload
  kBytesReceived,  // payload
  kLoopbackPackets,
  kFramesSent,
  kFramesReceived,
  kWireBusy,
  kUnroutable,  // for another port, and there is no wire or no link
  // What a fault plan did.
  kFaultPackets,     // packets that it decided about
  kFaultDropped,
  kFaultDuplicated,
  kFaultReordered,
  kFaultDelayed,
  kFaultCorrupted,
  kFaultNotHeld,     // to be held back or doubled, and there was no room
  // Frames and packets dropped on arrival, by reason.
  kDropNotOurs,    // Ethernet header of somebody else's protocol
  kDropTruncated,  // shorter than its headers say
  kDropLength,     // LRH or IPv6 length that disagrees with the frame
  kDropVcrc,
  kDropIcrc,
  kDropHeader,  // version, VL, next header or opcode not understood
  kDropLid,     // DLID that is not this port's
  kDropGid,
  kDropPkey,
  kDropNoQp,
  kDropQpState,
  kDropServiceType,
  kDropSource,  // not from the connected peer
  kDropPathMtu,
  kDropPortDown,
  kDropGhost,       // acknowledgement of what was never sent, or twice
  kDropNoResource,  // a duplicate read while the responder's slots are full
  // Transport.
  kAcksSent,
  kNaksSent,
  kRnrNaksSent,
  kDuplicateRequests,
  kOutOfSequence,
  kRetries,  // go-back-N, for whatever reason
  kTimeouts,
  kRnrRetries,
  kQpErrors,  // QPs that went to error on their own
  // Completions and events.
  kCompletions,
  kErrorCompletions,
  kFlushCompletions,
  kCqOverflows,
  kCompletionsLost,  // on a CQ that had failed
  kEvents,
  kEventsLost,  // no EQ wanted it, or its EQ was full or gone
  kInterrupts,
  kDmaErrors,
  kNum
};

inline constexpr size_t kNumCounters = static_cast<size_t>(Counter::kNum);

// Name of a counter, "packets_sent" for kPacketsSent.
const char* CounterName(Counter counter);

class Counters {
 public:
  void Add(Counter counter, uint64_t n = 1) {
    values_[static_cast<size_t>(counter)] += n;
  }
  uint64_t Get(Counter counter) const {
    return values_[static_cast<size_t>(counter)];
  }

 private:
  std::array<uint64_t, kNumCounters> values_{};
};

}  // namespace vcx

#endif  // VCX_CORE_STATS_COUNTERS_H_
