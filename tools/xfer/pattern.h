/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// pattern.h - pseudo-random numbers and bytes. Both peers make the same ones
// from the same seed, so that each byte can be checked where it arrives.
#ifndef VCX_TOOLS_XFER_PATTERN_H_
#define VCX_TOOLS_XFER_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace xfer {

using Bytes = std::span<uint8_t>;
using ConstBytes = std::span<const uint8_t>;

// A number whose bits depend on all bits of x.
constexpr uint64_t Mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr uint64_t Mix(uint64_t a, uint64_t b) {
  return Mix(Mix(a) + 0x9e3779b97f4a7c15 * (b + 1));
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(Mix(seed)) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    return Mix(state_);
  }
  // 0 to limit - 1.
  uint64_t Below(uint64_t limit) { return limit == 0 ? 0 : Next() % limit; }
  uint64_t Between(uint64_t low, uint64_t high) {
    return low + Below(high - low + 1);
  }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  uint64_t state_;
};

// The bytes of the endless sequence `key`, from `position` on.
void FillPattern(uint64_t key, uint64_t position, Bytes out);

// What memory holds where nothing may arrive.
inline constexpr uint8_t kUntouched = 0xa5;

// The first byte that is not kUntouched, or the size.
size_t FirstTouched(ConstBytes bytes);

// A checksum that goes on: of what `sum` was made from, and these bytes.
uint64_t Checksum(uint64_t sum, ConstBytes bytes);

}  // namespace xfer

#endif  // VCX_TOOLS_XFER_PATTERN_H_
