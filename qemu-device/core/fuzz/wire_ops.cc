/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Operations of hostile wires: a grammar of packets in which anything may be a
// lie.
#include <cstring>
#include <iterator>

#include "fuzz/machine.h"
#include "wire/crc.h"
#include "wire/headers.h"

namespace vcx::fuzz {
namespace {

constexpr size_t kEthernetBytes = 14;
constexpr uint32_t kMtu = 256;  // what machine.cc connects with

void PutLittle(std::vector<uint8_t>* to, uint32_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    to->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

// Of the last answer that the requester may wait for, or one near it.
Psn AnyPsn(Script& script, uint32_t base) {
  const int8_t near = script.S8();
  if (near == -128) return Psn(script.U32());
  return Psn(base + static_cast<uint32_t>(near));
}

}  // namespace

std::vector<uint8_t> Machine::BuildFrame(Script& script, const Process& to) {
  const Process& from = &to == processes_ ? processes_[1] : processes_[0];
  vcx::Packet packet;
  packet.opcode = static_cast<uint8_t>(script.Below(kRcAck + 1));
  packet.slid = to.peer.dlid;
  packet.dlid = from.peer.dlid;
  packet.pkey = 0xffff;
  packet.dest_qpn = to.qp.number;
  const bool request = GetOpcodeInfo(packet.opcode).request();
  // What Connect() chose; see testing/fake_driver.cc.
  const bool to_b = &to == &processes_[1];
  packet.psn = AnyPsn(script, request == to_b ? 0xfffffe : 0x123456);
  const uint8_t what = script.U8();
  packet.ack_request = (what & 1) != 0;
  packet.solicited = (what & 2) != 0;
  packet.syndrome = (what & 4) != 0 ? script.U8() : kAethAck | kAethNoCredits;
  packet.msn = script.U8();
  packet.va = to.mr.options.va + ((what & 8) != 0 ? script.U64() : script.U8());
  packet.rkey = (what & 16) != 0 ? secrets_[to_b].mr.key() : to.mr.key();
  // Full, empty, or anything between.
  uint32_t length = script.U8();
  if ((what & 32) != 0) length = kMtu;
  packet.dma_length = (what & 64) != 0 ? script.U32() : length;
  const std::vector<uint8_t> payload = Pattern(length, what);
  packet.payload = {.bytes = payload.data(), .segments = {}, .length = length};

  std::vector<uint8_t> frame(kEthernetBytes + kLrhBytes +
                             TransportHeaderBytes(packet.opcode));
  frame[12] = 0x88;
  frame[13] = 0xb5;
  PutTransportHeaders(&frame[kEthernetBytes + kLrhBytes], packet);
  frame.insert(frame.end(), payload.begin(), payload.end());
  frame.resize(frame.size() + PadBytes(length));
  const size_t bytes = frame.size() - kEthernetBytes + kIcrcBytes;
  PutLrh(&frame[kEthernetBytes], packet, bytes);
  return frame;
}

void Machine::Packet(Script& script) {
  const Process& to = Pick(script);
  std::vector<uint8_t> frame = BuildFrame(script, to);
  const uint8_t what = script.U8();
  // Lies in the headers, before the checksums are made over them.
  for (uint32_t n = what & 3; n > 0; --n) {
    const size_t at =
        kEthernetBytes + script.U8() % (frame.size() - kEthernetBytes);
    frame[at] = script.U8();
  }
  if ((what & 4) != 0) frame.resize(kEthernetBytes + kLrhBytes + script.U8());
  const uint8_t* lrh = &frame[kEthernetBytes];
  const bool has_grh = (lrh[1] & 3) == 3;
  if (frame.size() >=
      kEthernetBytes + kLrhBytes + kBthBytes + (has_grh ? kGrhBytes : 0))
    PutLittle(&frame, InvariantCrc(lrh, frame.size() - kEthernetBytes, has_grh),
              kIcrcBytes);
  PutLittle(&frame,
            VariantCrc(&frame[kEthernetBytes], frame.size() - kEthernetBytes),
            kVcrcBytes);
  if ((what & 8) != 0) frame[script.U16() % frame.size()] ^= script.U8();
  if ((what & 16) != 0) frame.resize(script.U16() % (frame.size() + 64));
  to.machine->device.Receive(frame.data(), frame.size());
}

void Machine::RawFrame(Script& script) {
  Device& device = Pick(script).machine->device;
  const std::vector<uint8_t> bytes = script.Bytes();
  device.Receive(bytes.data(), bytes.size());
}

}  // namespace vcx::fuzz
