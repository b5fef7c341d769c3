/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// packet.h - a transport packet between its engines: headers as numbers, the
// payload by reference.
#ifndef VCX_CORE_WIRE_PACKET_H_
#define VCX_CORE_WIRE_PACKET_H_

#include <array>
#include <cstdint>

#include "memory/dma.h"
#include "wire/opcode.h"
#include "wire/psn.h"

namespace vcx {

struct Grh {
  std::array<uint8_t, 16> sgid{};
  std::array<uint8_t, 16> dgid{};
  uint32_t flow_label = 0;
  uint8_t tclass = 0;
  uint8_t hop_limit = 0;
};

struct Packet {
  // Local route.
  uint16_t slid = 0;
  uint16_t dlid = 0;
  uint8_t sl = 0;
  bool has_grh = false;
  Grh grh;

  // BTH
  uint8_t opcode = 0;
  bool solicited = false;
  bool ack_request = false;
  uint16_t pkey = 0;
  uint32_t dest_qpn = 0;
  Psn psn;
  // How many PSNs the packet stands for: more than one when a wire lets a
  // packet carry several MTUs, otherwise 1.
  uint32_t psns = 1;
  // Received: payload that the sender takes in a packet; 0: an MTU.
  uint32_t offered_payload = 0;

  // RETH
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint32_t dma_length = 0;

  // AETH
  uint8_t syndrome = 0;
  uint32_t msn = 0;

  uint32_t imm = 0;  // as the number on the wire

  Payload payload;
};

}  // namespace vcx

#endif  // VCX_CORE_WIRE_PACKET_H_
