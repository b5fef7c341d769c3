/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "xfer/pattern.h"

#include <algorithm>
#include <cstring>

namespace xfer {
namespace {

uint64_t Word(uint64_t key, uint64_t index) {
  return Mix(key + index * 0x9e3779b97f4a7c15);
}

}  // namespace

void FillPattern(uint64_t key, uint64_t position, Bytes out) {
  uint64_t index = position / 8;
  size_t skip = position % 8, at = 0;
  while (at < out.size()) {
    const uint64_t word = Word(key, index++);
    const size_t n = std::min(8 - skip, out.size() - at);
    if (n == 8)
      std::memcpy(&out[at], &word, 8);
    else
      std::memcpy(&out[at], reinterpret_cast<const uint8_t*>(&word) + skip, n);
    at += n;
    skip = 0;
  }
}

size_t FirstTouched(ConstBytes bytes) {
  uint64_t clean;
  std::memset(&clean, kUntouched, sizeof(clean));
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, &bytes[at], 8);
    if (word != clean) break;
  }
  while (at < bytes.size() && bytes[at] == kUntouched) at++;
  return at;
}

uint64_t Checksum(uint64_t sum, ConstBytes bytes) {
  constexpr uint64_t kPrime = 0x100000001b3;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, &bytes[at], 8);
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 29;
  }
  for (; at < bytes.size(); at++) sum = (sum ^ bytes[at]) * kPrime;
  // The length counts, so that zero bytes at an end do.
  return Mix(sum ^ bytes.size());
}

}  // namespace xfer
