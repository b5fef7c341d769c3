/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// small.h - protection domains, doorbell pages, counter sets.
#ifndef VCX_CORE_RESOURCE_SMALL_H_
#define VCX_CORE_RESOURCE_SMALL_H_

#include <array>
#include <cstdint>

#include "vcx/cmd_layout.h"

namespace vcx {

struct Pd {
  uint32_t number = 0;
  uint32_t references = 0;  // QPs and memory keys
};

struct Uar {
  uint32_t number = 0;  // page of BAR 0
  uint32_t references = 0;  // EQs, CQs and QPs whose doorbells are here
};

struct CounterSet {
  uint32_t number = 0;
  uint32_t references = 0;  // QPs that count here
  // Indexed by offset / 4 of enum vcx_q_counter.
  std::array<uint32_t, 64> values{};

  void Count(vcx_q_counter counter) { ++values[counter / 4]; }
};

}  // namespace vcx

#endif  // VCX_CORE_RESOURCE_SMALL_H_
