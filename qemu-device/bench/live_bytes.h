/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// live_bytes.h - how much memory is allocated and not freed, while counting;
// with what the allocator rounds up to.
#ifndef VCX_BENCH_LIVE_BYTES_H_
#define VCX_BENCH_LIVE_BYTES_H_

#include <cstdint>

namespace vcx {

struct LiveBytes {
  static inline bool counting = false;
  static inline int64_t bytes = 0;
};

}  // namespace vcx

#endif  // VCX_BENCH_LIVE_BYTES_H_
