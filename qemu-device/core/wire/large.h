/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// large.h - what two devices of this kind say to each other beyond the
// InfiniBand packet: large packets, which carry several MTUs, and the offer to
// take them.
//
// An LRH cannot tell of more than 8 KiB. A large packet therefore has a frame
// of its own, with the other local-experimental ethertype: this header, then
// LRH (its length field is 0), GRH, transport headers, payload and pad as ever,
// then one CRC-32 over all of that, this header included, in the place of both
// checksums of a link packet. No switch of an InfiniBand fabric sees it, so
// nothing in it may change on the way.
//
// Nobody is sent one who has not said that he takes them. The offer stands
// behind the last byte of a frame, where Ethernet's padding is, and where a
// receiver that does not know of it does not look.
#ifndef VCX_CORE_WIRE_LARGE_H_
#define VCX_CORE_WIRE_LARGE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace vcx {

inline constexpr size_t kLargeHeaderBytes = 8;
inline constexpr size_t kLargeCrcBytes = 4;
inline constexpr size_t kOfferBytes = 4;

struct LargeHeader {
  uint16_t psns = 0;   // how many PSNs the packet stands for
  uint32_t bytes = 0;  // from this header through the checksum
};

void PutLargeHeader(uint8_t* to, const LargeHeader& header);
// False: too short, or of a version that is not known.
bool GetLargeHeader(std::span<const uint8_t> from, LargeHeader* header);

uint32_t LargeCrc(const uint8_t* from, size_t bytes);

// `payload` is in bytes, a multiple of 1 KiB and at most 255 KiB.
void PutOffer(uint8_t* to, uint32_t payload);
// The payload that is offered; 0 when there is no offer.
uint32_t GetOffer(std::span<const uint8_t> from);

}  // namespace vcx

#endif  // VCX_CORE_WIRE_LARGE_H_
