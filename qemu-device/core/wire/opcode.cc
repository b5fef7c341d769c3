/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "wire/opcode.h"

#include <array>

namespace vcx {
namespace {

using Kind = PacketKind;

constexpr std::array<OpcodeInfo, 256> MakeTable() {
  std::array<OpcodeInfo, 256> t{};
  //                            kind  first  last   reth   aeth   imm  payload
  t[kRcSendFirst] = {Kind::kSend, true, false, false, false, false, true};
  t[kRcSendMiddle] = {Kind::kSend, false, false, false, false, false, true};
  t[kRcSendLast] = {Kind::kSend, false, true, false, false, false, true};
  t[kRcSendLastImm] = {Kind::kSend, false, true, false, false, true, true};
  t[kRcSendOnly] = {Kind::kSend, true, true, false, false, false, true};
  t[kRcSendOnlyImm] = {Kind::kSend, true, true, false, false, true, true};
  t[kRcWriteFirst] = {Kind::kWrite, true, false, true, false, false, true};
  t[kRcWriteMiddle] = {Kind::kWrite, false, false, false, false, false, true};
  t[kRcWriteLast] = {Kind::kWrite, false, true, false, false, false, true};
  t[kRcWriteLastImm] = {Kind::kWrite, false, true, false, false, true, true};
  t[kRcWriteOnly] = {Kind::kWrite, true, true, true, false, false, true};
  t[kRcWriteOnlyImm] = {Kind::kWrite, true, true, true, false, true, true};
  t[kRcReadRequest] = {
      Kind::kReadRequest, true, true, true, false, false, false};
  t[kRcReadResponseFirst] = {
      Kind::kReadResponse, true, false, false, true, false, true};
  t[kRcReadResponseMiddle] = {
      Kind::kReadResponse, false, false, false, false, false, true};
  t[kRcReadResponseLast] = {
      Kind::kReadResponse, false, true, false, true, false, true};
  t[kRcReadResponseOnly] = {
      Kind::kReadResponse, true, true, false, true, false, true};
  t[kRcAck] = {Kind::kAck, true, true, false, true, false, false};
  return t;
}

}  // namespace

constinit const std::array<OpcodeInfo, 256> kOpcodes = MakeTable();

uint8_t SendOpcode(bool first, bool last, bool imm) {
  if (!last) return first ? kRcSendFirst : kRcSendMiddle;
  if (first) return imm ? kRcSendOnlyImm : kRcSendOnly;
  return imm ? kRcSendLastImm : kRcSendLast;
}

uint8_t WriteOpcode(bool first, bool last, bool imm) {
  if (!last) return first ? kRcWriteFirst : kRcWriteMiddle;
  if (first) return imm ? kRcWriteOnlyImm : kRcWriteOnly;
  return imm ? kRcWriteLastImm : kRcWriteLast;
}

uint8_t ReadResponseOpcode(bool first, bool last) {
  if (!last) return first ? kRcReadResponseFirst : kRcReadResponseMiddle;
  return first ? kRcReadResponseOnly : kRcReadResponseLast;
}

}  // namespace vcx
