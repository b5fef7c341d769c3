/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "wire/headers.h"

#include <algorithm>

namespace vcx {
namespace {

constexpr uint8_t kLnhLocal = 2;   // BTH follows the LRH
constexpr uint8_t kLnhGlobal = 3;  // GRH follows the LRH
constexpr uint8_t kNextHeaderIba = 0x1b;

void Put16(uint8_t* to, uint16_t v) {
  to[0] = static_cast<uint8_t>(v >> 8);
  to[1] = static_cast<uint8_t>(v);
}

void Put32(uint8_t* to, uint32_t v) {
  Put16(to, static_cast<uint16_t>(v >> 16));
  Put16(to + 2, static_cast<uint16_t>(v));
}

void Put64(uint8_t* to, uint64_t v) {
  Put32(to, static_cast<uint32_t>(v >> 32));
  Put32(to + 4, static_cast<uint32_t>(v));
}

uint16_t Get16(const uint8_t* from) {
  return static_cast<uint16_t>(from[0] << 8 | from[1]);
}

uint32_t Get32(const uint8_t* from) {
  return uint32_t{Get16(from)} << 16 | Get16(from + 2);
}

uint64_t Get64(const uint8_t* from) {
  return uint64_t{Get32(from)} << 32 | Get32(from + 4);
}

}  // namespace

size_t TransportHeaderBytes(uint8_t opcode) {
  const OpcodeInfo& info = GetOpcodeInfo(opcode);
  return kBthBytes + (info.reth ? kRethBytes : 0) +
         (info.aeth ? kAethBytes : 0) + (info.imm ? kImmBytes : 0);
}

uint8_t* PutTransportHeaders(uint8_t* to, const Packet& packet) {
  const OpcodeInfo& info = GetOpcodeInfo(packet.opcode);
  to[0] = packet.opcode;
  to[1] = static_cast<uint8_t>((packet.solicited ? 0x80 : 0) | kMigrated << 6 |
                               PadBytes(packet.payload.length) << 4);
  Put16(to + 2, packet.pkey);
  Put32(to + 4, packet.dest_qpn);
  Put32(to + 8, (packet.ack_request ? 0x80000000 : 0) | packet.psn.value());
  to += kBthBytes;
  if (info.reth) {
    Put64(to, packet.va);
    Put32(to + 8, packet.rkey);
    Put32(to + 12, packet.dma_length);
    to += kRethBytes;
  }
  if (info.aeth) {
    Put32(to, uint32_t{packet.syndrome} << 24 | (packet.msn & Psn::kMask));
    to += kAethBytes;
  }
  if (info.imm) {
    Put32(to, packet.imm);
    to += kImmBytes;
  }
  return to;
}

bool GetTransportHeaders(std::span<const uint8_t> from, Packet* packet) {
  if (from.size() < kBthBytes) return false;
  packet->opcode = from[0];
  const OpcodeInfo& info = GetOpcodeInfo(packet->opcode);
  const size_t header_bytes = TransportHeaderBytes(packet->opcode);
  const uint8_t version = from[1] & 0xf;
  const uint8_t pad = from[1] >> 4 & 3;
  if (!info.known() || version != 0 || from.size() < header_bytes + pad)
    return false;

  const uint8_t* at = from.data();
  packet->solicited = (at[1] & 0x80) != 0;
  packet->pkey = Get16(at + 2);
  packet->dest_qpn = Get32(at + 4) & Psn::kMask;
  packet->ack_request = (at[8] & 0x80) != 0;
  packet->psn = Psn(Get32(at + 8));
  packet->psns = 1;
  at += kBthBytes;
  if (info.reth) {
    packet->va = Get64(at);
    packet->rkey = Get32(at + 8);
    packet->dma_length = Get32(at + 12);
    at += kRethBytes;
  }
  if (info.aeth) {
    packet->syndrome = at[0];
    packet->msn = Get32(at) & Psn::kMask;
    at += kAethBytes;
  }
  if (info.imm) packet->imm = Get32(at);
  packet->payload = {
      .bytes = from.data() + header_bytes,
      .segments = {},
      .length = static_cast<uint32_t>(from.size() - header_bytes - pad)};
  return true;
}

void PutLrh(uint8_t* to, const Packet& packet, size_t bytes) {
  to[0] = 0;  // virtual lane 0, version 0
  to[1] = static_cast<uint8_t>(packet.sl << 4 |
                               (packet.has_grh ? kLnhGlobal : kLnhLocal));
  Put16(to + 2, packet.dlid);
  Put16(to + 4, static_cast<uint16_t>(bytes / 4));
  Put16(to + 6, packet.slid);
}

size_t LrhLength(const uint8_t* lrh) {
  return size_t{4} * (Get16(lrh + 4) & 0x7ff);
}

LrhError GetLrh(std::span<const uint8_t> from, Packet* packet, size_t* bytes) {
  if (from.size() < kLrhBytes) return LrhError::kTruncated;
  const uint8_t lnh = from[1] & 3;
  if ((from[0] & 0xf) != 0 || (lnh != kLnhLocal && lnh != kLnhGlobal))
    return LrhError::kVersion;
  packet->has_grh = lnh == kLnhGlobal;
  packet->sl = from[1] >> 4;
  packet->dlid = Get16(&from[2]);
  packet->slid = Get16(&from[6]);
  *bytes = LrhLength(from.data());
  const size_t least =
      kLrhBytes + (packet->has_grh ? kGrhBytes : 0) + kBthBytes + kIcrcBytes;
  if (*bytes < least) return LrhError::kLength;
  return *bytes <= from.size() ? LrhError::kNone : LrhError::kTruncated;
}

void PutGrh(uint8_t* to, const Grh& grh, size_t bytes) {
  Put32(to, 6u << 28 | uint32_t{grh.tclass} << 20 | (grh.flow_label & 0xfffff));
  Put16(to + 4, static_cast<uint16_t>(bytes));
  to[6] = kNextHeaderIba;
  to[7] = grh.hop_limit;
  std::copy(grh.sgid.begin(), grh.sgid.end(), to + 8);
  std::copy(grh.dgid.begin(), grh.dgid.end(), to + 24);
}

bool GetGrh(std::span<const uint8_t> from, Grh* grh, size_t bytes) {
  if (from.size() < kGrhBytes) return false;
  const uint32_t word = Get32(from.data());
  if (word >> 28 != 6 || from[6] != kNextHeaderIba || Get16(&from[4]) != bytes)
    return false;
  grh->tclass = static_cast<uint8_t>(word >> 20);
  grh->flow_label = word & 0xfffff;
  grh->hop_limit = from[7];
  std::copy_n(&from[8], 16, grh->sgid.begin());
  std::copy_n(&from[24], 16, grh->dgid.begin());
  return true;
}

}  // namespace vcx
