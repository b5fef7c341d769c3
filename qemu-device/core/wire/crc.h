/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// crc.h - the two checksums of an InfiniBand packet. (IBA vol. 1, 7.8)
#ifndef VCX_CORE_WIRE_CRC_H_
#define VCX_CORE_WIRE_CRC_H_

#include <cstddef>
#include <cstdint>

namespace vcx {

// Invariant CRC over an LRH packet: from the LRH through the padded payload,
// with the fields that routers and switches may change taken as ones.
// `bytes` covers [lrh, icrc); the LRH is at its start. The result's least
// significant byte goes on the wire first.
uint32_t InvariantCrc(const uint8_t* packet, size_t bytes, bool has_grh);

// Variant CRC over [lrh, vcrc). The least significant byte goes first.
uint16_t VariantCrc(const uint8_t* packet, size_t bytes);

}  // namespace vcx

#endif  // VCX_CORE_WIRE_CRC_H_
