/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// fault_plan.h - what a faulty wire does to which packets, as a text and
// parsed. Documentation/device-properties.rst has the language for users.
//
//   plan   = item { "+" item }
//   item   = "seed=" number | fault
//   fault  = kind [ "@" packets ] ( "=" rate | "#" first [ "-" last ] )
//            [ ":" amount ]
//   kind   = "drop" | "duplicate" | "reorder" | "delay" | "corrupt"
//   rate   = percentage with its sign, "0.1%"
//   amount = reorder: by how many packets it is overtaken, "3";
//            delay: a time, "200us"
#ifndef VCX_CORE_WIRE_FAULT_PLAN_H_
#define VCX_CORE_WIRE_FAULT_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/packet.h"

namespace vcx {

// The numbers are part of the trace event vcx_fault.
enum class FaultKind : uint8_t {
  kNone,
  kDrop,
  kDuplicate,
  kReorder,
  kDelay,
  kCorrupt,
};

struct FaultRule {
  FaultKind kind = FaultKind::kNone;
  uint64_t packets = 0;  // set of PacketBit()
  // By rate: of 2^32 packets so many. 0: by position.
  uint64_t rate = 0;
  // By position: these of the packets that fit, counted from 1.
  uint64_t first = 0;
  uint64_t last = 0;
  uint32_t overtaken_by = 1;      // kReorder
  uint64_t delay_ns = 1'000'000;  // kDelay
};

struct FaultPlan {
  static constexpr size_t kMaxRules = 32;

  uint64_t seed = 1;
  size_t num_rules = 0;
  std::array<FaultRule, kMaxRules> rules{};  // an earlier one takes the packet
};

// The bit of a packet's kind in FaultRule::packets.
uint64_t PacketBit(const Packet& packet);

// Null and an empty text are a plan without rules. False when the text is none;
// error[] then has the sentence, which begins with "fault".
bool ParseFaultPlan(const char* text, FaultPlan* plan, char* error,
                    size_t error_len);

}  // namespace vcx

#endif  // VCX_CORE_WIRE_FAULT_PLAN_H_
