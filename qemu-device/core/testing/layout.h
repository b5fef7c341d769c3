/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// layout.h - how the layout tests compare structures with golden bytes.
#ifndef VCX_CORE_TESTING_LAYOUT_H_
#define VCX_CORE_TESTING_LAYOUT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "vcx/types.h"

namespace vcx {

// A named field of structure S and the words that it makes.
template <class S>
struct Field {
  const char* name;
  const S* structure;
  unsigned byte, high, low;
  const char* golden;
};

template <class S>
struct Field64 {
  const char* name;
  const S* structure;
  unsigned byte;
  const char* golden;
};

#define ROW(field, golden) \
  { #field, field, golden }

// The words of a structure that are not zero, by their offset, as they lie in
// memory: "00c: 1f000000".
template <class S>
std::string Words(const S& s) {
  std::string text;
  const auto* bytes = reinterpret_cast<const uint8_t*>(&s);
  for (size_t at = 0; at + 4 <= sizeof(s); at += 4) {
    const uint8_t* w = bytes + at;
    if ((w[0] | w[1] | w[2] | w[3]) == 0) continue;
    char word[32];
    snprintf(word, sizeof(word), "%s%03zx: %02x%02x%02x%02x",
             text.empty() ? "" : ", ", at, w[0], w[1], w[2], w[3]);
    text += word;
  }
  return text;
}

// All bytes of a structure, as hexadecimal digits.
template <class S>
std::string Hex(const S& s) {
  std::string text;
  const auto* bytes = reinterpret_cast<const uint8_t*>(&s);
  for (size_t i = 0; i < sizeof(s); ++i) {
    char byte[3];
    snprintf(byte, sizeof(byte), "%02x", bytes[i]);
    text += byte;
  }
  return text;
}

template <class S, size_t kFields>
void Check(const Field<S> (&fields)[kFields]) {
  for (const Field<S>& f : fields) {
    const uint32_t ones = vcx_field_mask(f.high, f.low) >> f.low;
    S s{};
    vcx_field_set(s.dw, f.byte, f.high, f.low, ones);
    EXPECT_EQ(Words(s), f.golden) << f.name;
    EXPECT_EQ(vcx_field_get(s.dw, f.byte, f.high, f.low), ones) << f.name;
    // Too large a value must not spill into the neighbours.
    vcx_field_set(s.dw, f.byte, f.high, f.low, 0xffffffff);
    EXPECT_EQ(Words(s), f.golden) << f.name;
    vcx_field_set(s.dw, f.byte, f.high, f.low, 0);
    EXPECT_EQ(Words(s), "") << f.name;
  }
}

template <class S, size_t kFields>
void Check(const Field64<S> (&fields)[kFields]) {
  constexpr uint64_t kValue = 0x0102030405060708;
  for (const Field64<S>& f : fields) {
    S s{};
    vcx_field64_set(s.dw, f.byte, kValue);
    EXPECT_EQ(Words(s), f.golden) << f.name;
    EXPECT_EQ(vcx_field64_get(s.dw, f.byte), kValue) << f.name;
  }
}

}  // namespace vcx

#endif  // VCX_CORE_TESTING_LAYOUT_H_
