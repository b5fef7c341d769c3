/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "port/ib_link.h"

#include <cstring>

#include "datapath/ingress.h"
#include "wire/crc.h"
#include "wire/headers.h"

namespace vcx {
namespace {

constexpr uint16_t kEthertype = 0x88b5;
// Locally administered unicast, then two bytes of our own.
constexpr uint8_t kMacPrefix[4] = {0x02, 0x76, 0x63, 0x78};

uint8_t* PutMac(uint8_t* to, uint16_t lid) {
  std::memcpy(to, kMacPrefix, sizeof(kMacPrefix));
  to[4] = static_cast<uint8_t>(lid >> 8);
  to[5] = static_cast<uint8_t>(lid);
  return to + 6;
}

void PutLittle(uint8_t* to, uint32_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    to[i] = static_cast<uint8_t>(value >> (8 * i));
}

uint32_t GetLittle(const uint8_t* from, unsigned bytes) {
  uint32_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= uint32_t{from[i]} << (8 * i);
  return value;
}

}  // namespace

SendResult IbLink::Send(const Packet& packet) {
  size_t len;
  const SendResult prepared = Prepare(packet, &len);
  return len == 0 ? prepared : HandOver(len);
}

SendResult IbLink::SendDamaged(const Packet& packet, uint64_t where) {
  size_t len;
  const SendResult prepared = Prepare(packet, &len);
  if (len == 0) return prepared;
  Damage(packet.has_grh, where);
  return HandOver(len);
}

SendResult IbLink::Prepare(const Packet& packet, size_t* len) {
  *len = 0;
  if (!has_wire_ || !port_.active()) {
    // Lost as on a pulled cable; the retry counter of the QP decides.
    counters_.Add(Counter::kUnroutable);
    return SendResult::kSent;
  }
  if (busy_) return SendResult::kBusy;
  *len = Encode(packet);
  return *len == 0 ? SendResult::kDmaError : SendResult::kSent;
}

SendResult IbLink::HandOver(size_t len) {
  if (!host_.SendFrame(frame_.data(), len)) {
    counters_.Add(Counter::kWireBusy);
    busy_ = true;
    return SendResult::kBusy;
  }
  counters_.Add(Counter::kFramesSent);
  return SendResult::kSent;
}

void IbLink::Damage(bool has_grh, uint64_t where) {
  uint8_t* const lrh = frame_.data() + kEthernetBytes;
  const size_t lrh_to_icrc = LrhLength(lrh);
  const bool inside_a_switch = (where & 1) != 0;
  // Up to eight bits in a row: no CRC of 16 or 32 bits misses that. The first
  // byte of the BTH that the invariant CRC covers without a gap is the fifth.
  const size_t from =
      inside_a_switch ? kLrhBytes + (has_grh ? kGrhBytes : 0) + 5 : 0;
  const size_t to = lrh_to_icrc + (inside_a_switch ? 0 : kVcrcBytes);
  const auto bits = static_cast<uint8_t>((where >> 1 & 0x7f) + 1);
  lrh[from + (where >> 8) % (to - from)] ^= bits;
  if (inside_a_switch)
    PutLittle(lrh + lrh_to_icrc, VariantCrc(lrh, lrh_to_icrc), kVcrcBytes);
}

size_t IbLink::Encode(const Packet& packet) {
  const uint32_t payload_bytes = packet.payload.length;
  const uint32_t pad = PadBytes(payload_bytes);
  const size_t lrh_to_icrc = kLrhBytes + (packet.has_grh ? kGrhBytes : 0) +
                             TransportHeaderBytes(packet.opcode) +
                             payload_bytes + pad + kIcrcBytes;
  if (kEthernetBytes + lrh_to_icrc + kVcrcBytes > frame_.size()) return 0;

  uint8_t* at = PutMac(frame_.data(), packet.dlid);
  at = PutMac(at, packet.slid);
  *at++ = kEthertype >> 8;
  *at++ = kEthertype & 0xff;
  uint8_t* const lrh = at;
  PutLrh(lrh, packet, lrh_to_icrc);
  at += kLrhBytes;
  if (packet.has_grh) {
    PutGrh(at, packet.grh, lrh_to_icrc - kLrhBytes - kGrhBytes);
    at += kGrhBytes;
  }
  at = PutTransportHeaders(at, packet);
  if (!CopyToHost(dma_, at, packet.payload)) return 0;
  at += payload_bytes;
  std::memset(at, 0, pad);
  at += pad;
  PutLittle(at,
            InvariantCrc(lrh, static_cast<size_t>(at - lrh), packet.has_grh),
            kIcrcBytes);
  at += kIcrcBytes;
  PutLittle(at, VariantCrc(lrh, static_cast<size_t>(at - lrh)), kVcrcBytes);
  at += kVcrcBytes;
  return static_cast<size_t>(at - frame_.data());
}

void IbLink::Receive(const uint8_t* frame, size_t len) {
  Packet packet;
  const Counter reason = Decode(frame, len, &packet);
  if (reason != Counter::kNum) {
    counters_.Add(reason);
    trace_(VCX_TRACE_INGRESS_DROPPED, static_cast<uint64_t>(reason),
           packet.dest_qpn, packet.opcode, packet.psn.value());
    return;
  }
  counters_.Add(Counter::kFramesReceived);
  ingress_.Deliver(packet);
}

// In the order of IBA vol. 1, 7.7 and 9.6: link, then network, then transport.
Counter IbLink::Decode(const uint8_t* frame, size_t len, Packet* packet) const {
  if (!port_.active()) return Counter::kDropPortDown;
  if (len < kEthernetBytes) return Counter::kDropTruncated;
  if (frame[12] != kEthertype >> 8 || frame[13] != (kEthertype & 0xff))
    return Counter::kDropNotOurs;
  const std::span<const uint8_t> lrh(frame + kEthernetBytes,
                                     len - kEthernetBytes);
  size_t bytes = 0;
  switch (GetLrh(lrh, packet, &bytes)) {
    case LrhError::kNone: break;
    case LrhError::kTruncated: return Counter::kDropTruncated;
    case LrhError::kVersion: return Counter::kDropHeader;
    case LrhError::kLength: return Counter::kDropLength;
  }
  // Longer is right: Ethernet pads short frames.
  if (lrh.size() < bytes + kVcrcBytes) return Counter::kDropTruncated;
  if (GetLittle(&lrh[bytes], kVcrcBytes) != VariantCrc(lrh.data(), bytes))
    return Counter::kDropVcrc;
  if (packet->dlid != port_.lid()) return Counter::kDropLid;

  const size_t icrc_at = bytes - kIcrcBytes;
  size_t bth_at = kLrhBytes;
  if (packet->has_grh) {
    if (!GetGrh(lrh.subspan(kLrhBytes), &packet->grh,
                bytes - kLrhBytes - kGrhBytes))
      return Counter::kDropHeader;
    if (packet->grh.dgid != port_.gid(0)) return Counter::kDropGid;
    bth_at += kGrhBytes;
  }
  if (GetLittle(&lrh[icrc_at], kIcrcBytes) !=
      InvariantCrc(lrh.data(), icrc_at, packet->has_grh))
    return Counter::kDropIcrc;
  if (!GetTransportHeaders(lrh.subspan(bth_at, icrc_at - bth_at), packet))
    return Counter::kDropHeader;
  return Counter::kNum;
}

}  // namespace vcx
