/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// headers.h - InfiniBand headers as bytes. (IBA vol. 1, chapters 7, 8 and 9)
//
// Decode functions read from a span and never beyond it.
#ifndef VCX_CORE_WIRE_HEADERS_H_
#define VCX_CORE_WIRE_HEADERS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/packet.h"

namespace vcx {

inline constexpr size_t kLrhBytes = 8;
inline constexpr size_t kGrhBytes = 40;
inline constexpr size_t kBthBytes = 12;
inline constexpr size_t kRethBytes = 16;
inline constexpr size_t kAethBytes = 4;
inline constexpr size_t kImmBytes = 4;
inline constexpr size_t kIcrcBytes = 4;
inline constexpr size_t kVcrcBytes = 2;

inline constexpr uint16_t kMigrated = 1;

// Bytes of BTH and extended headers of this opcode.
size_t TransportHeaderBytes(uint8_t opcode);

// Zero bytes that pad a payload to a multiple of four.
inline uint8_t PadBytes(uint32_t payload_bytes) {
  return static_cast<uint8_t>(-payload_bytes & 3);
}

// Writes BTH and extended headers; returns the end. `to` has room for
// TransportHeaderBytes().
uint8_t* PutTransportHeaders(uint8_t* to, const Packet& packet);

// Reads BTH and extended headers and sets packet.payload to what follows
// without the pad; `from` ends before the ICRC. False: too short for its
// opcode, not known, a wrong header version, or a pad larger than the payload.
bool GetTransportHeaders(std::span<const uint8_t> from, Packet* packet);

// LRH of a packet that is `bytes` long from the LRH through the ICRC.
void PutLrh(uint8_t* to, const Packet& packet, size_t bytes);
// What that says of the length.
size_t LrhLength(const uint8_t* lrh);

enum class LrhError : uint8_t { kNone, kTruncated, kVersion, kLength };

// Reads the LRH; *bytes is what its length field says, LRH through ICRC, and
// is within `from`.
LrhError GetLrh(std::span<const uint8_t> from, Packet* packet, size_t* bytes);

// GRH; `bytes` follow it through the ICRC.
void PutGrh(uint8_t* to, const Grh& grh, size_t bytes);
// False: version, next header or length are wrong.
bool GetGrh(std::span<const uint8_t> from, Grh* grh, size_t bytes);

}  // namespace vcx

#endif  // VCX_CORE_WIRE_HEADERS_H_
