/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// psn.h - packet sequence numbers: 24 bits, compared in a window of half the
// space. (IBA vol. 1, 9.7.2)
#ifndef VCX_CORE_WIRE_PSN_H_
#define VCX_CORE_WIRE_PSN_H_

#include <cstdint>

namespace vcx {

class Psn {
 public:
  static constexpr uint32_t kMask = 0xffffff;

  constexpr Psn() = default;
  explicit constexpr Psn(uint32_t value) : value_(value & kMask) {}

  constexpr uint32_t value() const { return value_; }
  constexpr Psn operator+(uint32_t n) const { return Psn(value_ + n); }
  constexpr Psn operator-(uint32_t n) const { return Psn(value_ - n); }
  constexpr bool operator==(const Psn&) const = default;

  // How far this one is ahead of the other: negative when it lies before it.
  constexpr int32_t Ahead(Psn other) const {
    const uint32_t difference = (value_ - other.value_) & kMask;
    return static_cast<int32_t>(difference << 8) >> 8;
  }

 private:
  uint32_t value_ = 0;
};

}  // namespace vcx

#endif  // VCX_CORE_WIRE_PSN_H_
