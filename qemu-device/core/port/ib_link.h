/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// ib_link.h - stage 5, the InfiniBand link over a netdev: an LRH packet with
// ICRC and VCRC rides in an Ethernet frame with the local-experimental
// ethertype 0x88B5.
//
// The MAC addresses are made from the LIDs, so that any Ethernet between the
// devices can learn and forward.
#ifndef VCX_CORE_PORT_IB_LINK_H_
#define VCX_CORE_PORT_IB_LINK_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "host.h"
#include "memory/dma.h"
#include "port/port.h"
#include "stats/counters.h"
#include "stats/trace.h"
#include "wire/wire.h"

namespace vcx {

class Ingress;

class IbLink final : public Wire {
 public:
  IbLink(Host& host, Dma& dma, const Port& port, Counters& counters,
         Trace& trace, Ingress& ingress, bool has_wire)
      : host_(host),
        dma_(dma),
        port_(port),
        counters_(counters),
        trace_(trace),
        ingress_(ingress),
        has_wire_(has_wire) {}

  uint32_t MaxPayload(uint32_t mtu) const override { return mtu; }
  SendResult Send(const Packet& packet) override;
  // Damages one byte: of the whole packet, which the receiver's variant CRC
  // finds, or of what the invariant CRC covers, with a new variant CRC, as a
  // bad switch does it.
  SendResult SendDamaged(const Packet& packet, uint64_t where) override;

  // A frame from the wire: every reason to drop it is counted.
  void Receive(const uint8_t* frame, size_t len);

  // send_frame() would succeed again.
  void Ready() { busy_ = false; }

 private:
  static constexpr size_t kEthernetBytes = 14;
  static constexpr size_t kMaxFrameBytes = 4096 + 256;

  // Serializes into frame_. Anything but kSent is final; so is kSent with
  // *len 0: there is nowhere to send it to.
  SendResult Prepare(const Packet& packet, size_t* len);
  SendResult HandOver(size_t len);
  void Damage(bool has_grh, uint64_t where);
  // Serializes into frame_; 0 when the payload could not be read.
  size_t Encode(const Packet& packet);
  // kNum: decoded.
  Counter Decode(const uint8_t* frame, size_t len, Packet* packet) const;

  Host& host_;
  Dma& dma_;
  const Port& port_;
  Counters& counters_;
  Trace& trace_;
  Ingress& ingress_;
  const bool has_wire_;
  bool busy_ = false;
  alignas(64) std::array<uint8_t, kMaxFrameBytes> frame_;
};

}  // namespace vcx

#endif  // VCX_CORE_PORT_IB_LINK_H_
