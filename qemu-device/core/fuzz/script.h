/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// script.h - the bytes of a fuzzer's input as decisions, and the way back for
// those who write inputs by hand.
//
// A script is read from its front; behind its end everything is zero, so that
// every prefix of an input is an input. ScriptWriter writes what Script reads.
#ifndef VCX_CORE_FUZZ_SCRIPT_H_
#define VCX_CORE_FUZZ_SCRIPT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vcx::fuzz {

class Script {
 public:
  Script(const uint8_t* data, size_t bytes) : at_(data), end_(data + bytes) {}

  bool empty() const { return at_ == end_; }
  uint8_t U8() { return at_ == end_ ? uint8_t{0} : *at_++; }
  uint16_t U16() { return static_cast<uint16_t>(Little(2)); }
  uint32_t U32() { return static_cast<uint32_t>(Little(4)); }
  uint64_t U64() { return Little(8); }
  int8_t S8() { return static_cast<int8_t>(U8()); }
  bool Flag() { return (U8() & 1) != 0; }
  // Below `bound`, which is at most 256.
  uint32_t Below(uint32_t bound) { return U8() % bound; }
  // A length byte, then so many bytes or what is left.
  std::vector<uint8_t> Bytes() {
    const size_t n = std::min<size_t>(U8(), static_cast<size_t>(end_ - at_));
    std::vector<uint8_t> bytes(at_, at_ + n);
    at_ += n;
    return bytes;
  }

 private:
  uint64_t Little(unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= uint64_t{U8()} << (8 * i);
    return value;
  }

  const uint8_t* at_;
  const uint8_t* end_;
};

class ScriptWriter {
 public:
  ScriptWriter& U8(uint8_t v) { return Little(v, 1); }
  ScriptWriter& U16(uint16_t v) { return Little(v, 2); }
  ScriptWriter& U32(uint32_t v) { return Little(v, 4); }
  ScriptWriter& U64(uint64_t v) { return Little(v, 8); }
  // At most 255 bytes.
  ScriptWriter& Bytes(const std::vector<uint8_t>& bytes) {
    U8(static_cast<uint8_t>(bytes.size()));
    data_.insert(data_.end(), bytes.begin(), bytes.end());
    return *this;
  }

  const std::vector<uint8_t>& data() const { return data_; }

 private:
  ScriptWriter& Little(uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
      data_.push_back(static_cast<uint8_t>(v >> (8 * i)));
    return *this;
  }

  std::vector<uint8_t> data_;
};

}  // namespace vcx::fuzz

#endif  // VCX_CORE_FUZZ_SCRIPT_H_
