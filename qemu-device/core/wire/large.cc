/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "wire/large.h"

#include <libdeflate.h>

namespace vcx {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kOfferMagic[2] = {0x76, 0x78};
constexpr uint32_t kOfferUnit = 1024;

}  // namespace

void PutLargeHeader(uint8_t* to, const LargeHeader& header) {
  to[0] = kVersion;
  to[1] = 0;
  to[2] = static_cast<uint8_t>(header.psns >> 8);
  to[3] = static_cast<uint8_t>(header.psns);
  for (unsigned i = 0; i < 4; ++i)
    to[4 + i] = static_cast<uint8_t>(header.bytes >> (24 - 8 * i));
}

bool GetLargeHeader(std::span<const uint8_t> from, LargeHeader* header) {
  if (from.size() < kLargeHeaderBytes || from[0] != kVersion) return false;
  header->psns = static_cast<uint16_t>(from[2] << 8 | from[3]);
  header->bytes = 0;
  for (unsigned i = 0; i < 4; ++i)
    header->bytes = header->bytes << 8 | from[4 + i];
  return true;
}

uint32_t LargeCrc(const uint8_t* from, size_t bytes) {
  return libdeflate_crc32(0, from, bytes);
}

void PutOffer(uint8_t* to, uint32_t payload) {
  to[0] = kOfferMagic[0];
  to[1] = kOfferMagic[1];
  to[2] = static_cast<uint8_t>(payload / kOfferUnit);
  // A frame's checksums do not cover it.
  to[3] = static_cast<uint8_t>(~to[2]);
}

uint32_t GetOffer(std::span<const uint8_t> from) {
  if (from.size() < kOfferBytes || from[0] != kOfferMagic[0] ||
      from[1] != kOfferMagic[1] || (from[2] ^ from[3]) != 0xff)
    return 0;
  return from[2] * kOfferUnit;
}

}  // namespace vcx
