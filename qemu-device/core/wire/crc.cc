/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "wire/crc.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "wire/headers.h"

namespace vcx {
namespace {

// x^16 + x^12 + x^3 + x + 1, bit-reversed: the lowest bit goes first.
constexpr uint16_t kVcrcPolynomial = 0xd008;
constexpr size_t kSlices = 8;

using SliceTables = std::array<std::array<uint16_t, 256>, kSlices>;

// Table k advances a byte that is followed by k more.
constexpr SliceTables MakeSliceTables() {
  SliceTables t{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 1) != 0 ? crc >> 1 ^ kVcrcPolynomial : crc >> 1;
    t[0][byte] = static_cast<uint16_t>(crc);
  }
  for (size_t k = 1; k < kSlices; ++k)
    for (unsigned byte = 0; byte < 256; ++byte) {
      const uint16_t crc = t[k - 1][byte];
      t[k][byte] = static_cast<uint16_t>(crc >> 8 ^ t[0][crc & 0xff]);
    }
  return t;
}

constexpr SliceTables kVcrc = MakeSliceTables();

}  // namespace

uint32_t InvariantCrc(const uint8_t* packet, size_t bytes, bool has_grh) {
  // The masked bytes all lie in the headers up to BTH byte 4.
  constexpr size_t kMaxHead = kLrhBytes + kGrhBytes + kBthBytes;
  std::array<uint8_t, kMaxHead> head;
  const size_t head_bytes = kLrhBytes + (has_grh ? kGrhBytes : 0) + kBthBytes;
  if (bytes < head_bytes) return 0;
  std::memcpy(head.data(), packet, head_bytes);

  head[0] |= 0xf0;  // LRH: virtual lane
  size_t at = kLrhBytes;
  if (has_grh) {
    head[at] |= 0x0f;     // traffic class and
    head[at + 1] = 0xff;  // flow label
    head[at + 2] = 0xff;
    head[at + 3] = 0xff;
    head[at + 7] = 0xff;  // hop limit
    // With a GRH the whole LRH may change on the way.
    std::fill_n(head.begin(), kLrhBytes, uint8_t{0xff});
    at += kGrhBytes;
  }
  head[at + 4] = 0xff;  // BTH: FECN, BECN and reserved bits

  const uint32_t crc = libdeflate_crc32(0, head.data(), head_bytes);
  return libdeflate_crc32(crc, packet + head_bytes, bytes - head_bytes);
}

uint16_t VariantCrc(const uint8_t* packet, size_t bytes) {
  uint32_t crc = 0xffff;
  while (bytes >= kSlices) {
    const uint8_t low = static_cast<uint8_t>(packet[0] ^ (crc & 0xff));
    const uint8_t high = static_cast<uint8_t>(packet[1] ^ (crc >> 8));
    crc = static_cast<uint32_t>(kVcrc[7][low] ^ kVcrc[6][high] ^
                                kVcrc[5][packet[2]] ^ kVcrc[4][packet[3]] ^
                                kVcrc[3][packet[4]] ^ kVcrc[2][packet[5]] ^
                                kVcrc[1][packet[6]] ^ kVcrc[0][packet[7]]);
    packet += kSlices;
    bytes -= kSlices;
  }
  for (; bytes != 0; --bytes, ++packet)
    crc = crc >> 8 ^ kVcrc[0][(crc ^ *packet) & 0xff];
  return static_cast<uint16_t>(~crc);
}

}  // namespace vcx
