/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// opcode.h - BTH opcodes: which headers follow, and where in a message the
// packet stands. (IBA vol. 1, 9.2.1, table 35)
#ifndef VCX_CORE_WIRE_OPCODE_H_
#define VCX_CORE_WIRE_OPCODE_H_

#include <array>
#include <cstdint>

namespace vcx {

enum BthOpcode : uint8_t {
  kRcSendFirst = 0x00,
  kRcSendMiddle = 0x01,
  kRcSendLast = 0x02,
  kRcSendLastImm = 0x03,
  kRcSendOnly = 0x04,
  kRcSendOnlyImm = 0x05,
  kRcWriteFirst = 0x06,
  kRcWriteMiddle = 0x07,
  kRcWriteLast = 0x08,
  kRcWriteLastImm = 0x09,
  kRcWriteOnly = 0x0a,
  kRcWriteOnlyImm = 0x0b,
  kRcReadRequest = 0x0c,
  kRcReadResponseFirst = 0x0d,
  kRcReadResponseMiddle = 0x0e,
  kRcReadResponseLast = 0x0f,
  kRcReadResponseOnly = 0x10,
  kRcAck = 0x11,
};

// Upper three bits of an opcode: the service it belongs to.
inline constexpr uint8_t kServiceMask = 0xe0;
inline constexpr uint8_t kServiceRc = 0x00;

enum class PacketKind : uint8_t {
  kUnknown,
  kSend,
  kWrite,
  kReadRequest,
  kReadResponse,
  kAck,
};

struct OpcodeInfo {
  PacketKind kind = PacketKind::kUnknown;
  bool first = false;  // begins a message
  bool last = false;   // ends it
  bool reth = false;   // headers in this order on the wire
  bool aeth = false;
  bool imm = false;
  bool payload = false;  // may carry bytes

  constexpr bool known() const { return kind != PacketKind::kUnknown; }
  constexpr bool request() const {
    return kind == PacketKind::kSend || kind == PacketKind::kWrite ||
           kind == PacketKind::kReadRequest;
  }
};

extern const std::array<OpcodeInfo, 256> kOpcodes;

// kUnknown for opcodes that are reserved or not implemented.
inline const OpcodeInfo& GetOpcodeInfo(uint8_t opcode) {
  return kOpcodes[opcode];
}

// The opcode of a packet at this place of a message.
uint8_t SendOpcode(bool first, bool last, bool imm);
uint8_t WriteOpcode(bool first, bool last, bool imm);
uint8_t ReadResponseOpcode(bool first, bool last);

// AETH syndromes: code in bits 6..5, value in 4..0. (IBA vol. 1, 9.7.5.1.2)
inline constexpr uint8_t kAethCodeMask = 0xe0;
inline constexpr uint8_t kAethAck = 0x00;
inline constexpr uint8_t kAethRnrNak = 0x20;
inline constexpr uint8_t kAethNak = 0x60;
inline constexpr uint8_t kAethValueMask = 0x1f;
inline constexpr uint8_t kAethNoCredits = 0x1f;  // no flow control by credits
inline constexpr uint8_t kNakSequence = kAethNak | 0;
inline constexpr uint8_t kNakInvalidRequest = kAethNak | 1;
inline constexpr uint8_t kNakRemoteAccess = kAethNak | 2;
inline constexpr uint8_t kNakRemoteOperation = kAethNak | 3;

}  // namespace vcx

#endif  // VCX_CORE_WIRE_OPCODE_H_
