/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// trace.h - trace points that cost one test when they are off. What the
// arguments mean is beside enum vcx_trace_point in vcx_core.h.
#ifndef VCX_CORE_STATS_TRACE_H_
#define VCX_CORE_STATS_TRACE_H_

#include <cstdint>

#include "host.h"

namespace vcx {

class Trace {
 public:
  explicit Trace(Host& host) : host_(host) {}

  void set_mask(uint64_t mask) { mask_ = mask; }

  void operator()(vcx_trace_point point, uint64_t a = 0, uint64_t b = 0,
                  uint64_t c = 0, uint64_t d = 0) const {
    if ((mask_ >> point & 1) == 0) [[likely]]
      return;
    const uint64_t args[4] = {a, b, c, d};
    host_.Trace(point, args);
  }

 private:
  Host& host_;
  uint64_t mask_ = 0;
};

}  // namespace vcx

#endif  // VCX_CORE_STATS_TRACE_H_
