/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// wire.h - what carries packets away.
#ifndef VCX_CORE_WIRE_WIRE_H_
#define VCX_CORE_WIRE_WIRE_H_

#include "wire/packet.h"

namespace vcx {

enum class SendResult : uint8_t {
  kSent,      // gone, or lost: the transport recovers
  kBusy,      // nothing was sent; the wire reports when it can again
  kDmaError,  // the payload could not be read from guest memory
};

class Wire {
 public:
  virtual ~Wire() = default;

  // Payload bytes that one packet may carry at most on a path with this MTU:
  // the MTU, or a multiple of it.
  virtual uint32_t MaxPayload(uint32_t mtu) const = 0;

  // References in the packet need to live until the call returns, no longer.
  virtual SendResult Send(const Packet& packet) = 0;

  // The same with damage that the receiver's checksums find. `where` is any
  // number and chooses the place.
  virtual SendResult SendDamaged(const Packet& packet, uint64_t where) = 0;
};

}  // namespace vcx

#endif  // VCX_CORE_WIRE_WIRE_H_
