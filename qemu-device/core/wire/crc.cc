/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "wire/crc.h"

#include <libdeflate.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

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

// The remainder after these bytes.
uint32_t Slices(const uint8_t* packet, size_t bytes, uint32_t crc) {
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
  return crc;
}

#ifdef __x86_64__

// Four blocks of 16 bytes at a time are multiplied by x^512, modulo the
// polynomial, and added to the four that follow; what is left in the end is 16
// bytes with the same remainder as all of them.

constexpr size_t kBlock = 16;
constexpr size_t kFoldFrom = 8 * kBlock;

bool HasCarrylessMultiply() {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_PCLMUL) != 0;
}

const bool kHasCarrylessMultiply = HasCarrylessMultiply();

// x^n modulo the polynomial, as the instruction wants it: bit 63 is x^0. The
// product of two such numbers is one place too high in 128 bits, so that a
// factor x is in it already.
constexpr int64_t Power(unsigned n) {
  uint32_t power = 0x8000;
  for (; n != 1; --n)
    power = (power & 1) != 0 ? power >> 1 ^ kVcrcPolynomial : power >> 1;
  return static_cast<int64_t>(uint64_t{power} << 48);
}

// The lower half of a register has the higher powers.
[[gnu::target("pclmul")]] __m128i Advance(__m128i block, __m128i powers) {
  return _mm_xor_si128(_mm_clmulepi64_si128(block, powers, 0x00),
                       _mm_clmulepi64_si128(block, powers, 0x11));
}

[[gnu::target("pclmul")]] __m128i Load(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

// Takes whole blocks off the front, at least kFoldFrom bytes; the remainder
// after them.
[[gnu::target("pclmul")]] uint32_t Fold(const uint8_t** packet, size_t* bytes,
                                        uint32_t crc) {
  constexpr int64_t kPowers[] = {Power(512 + 64), Power(512), Power(128 + 64),
                                 Power(128)};
  const __m128i by_four = _mm_set_epi64x(kPowers[1], kPowers[0]);
  const __m128i by_one = _mm_set_epi64x(kPowers[3], kPowers[2]);
  const uint8_t* at = *packet;
  size_t left = *bytes;
  __m128i a = _mm_xor_si128(Load(at), _mm_cvtsi32_si128(static_cast<int>(crc)));
  __m128i b = Load(at + kBlock);
  __m128i c = Load(at + 2 * kBlock);
  __m128i d = Load(at + 3 * kBlock);
  at += 4 * kBlock;
  left -= 4 * kBlock;
  for (; left >= 4 * kBlock; at += 4 * kBlock, left -= 4 * kBlock) {
    a = _mm_xor_si128(Advance(a, by_four), Load(at));
    b = _mm_xor_si128(Advance(b, by_four), Load(at + kBlock));
    c = _mm_xor_si128(Advance(c, by_four), Load(at + 2 * kBlock));
    d = _mm_xor_si128(Advance(d, by_four), Load(at + 3 * kBlock));
  }
  a = _mm_xor_si128(Advance(a, by_one), b);
  a = _mm_xor_si128(Advance(a, by_one), c);
  a = _mm_xor_si128(Advance(a, by_one), d);
  for (; left >= kBlock; at += kBlock, left -= kBlock)
    a = _mm_xor_si128(Advance(a, by_one), Load(at));
  uint8_t rest[kBlock];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), a);
  *packet = at;
  *bytes = left;
  return Slices(rest, kBlock, 0);
}

#endif  // __x86_64__

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
#ifdef __x86_64__
  if (bytes >= kFoldFrom && kHasCarrylessMultiply)
    crc = Fold(&packet, &bytes, crc);
#endif
  return static_cast<uint16_t>(~Slices(packet, bytes, crc));
}

}  // namespace vcx
