/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// ACCESS_REG: the registers of port and device.
#include <algorithm>
#include <cstring>

#include "cmd/handlers.h"

namespace vcx {
namespace {

constexpr uint32_t kRegisterIdMask = 0xffff;
constexpr uint32_t kPort = 1;
constexpr uint32_t kOneVl = 1;
constexpr size_t kHostEndiannessBytes = 16;
constexpr uint8_t kHostIsLittle = 0x00;
constexpr uint8_t kHostIsBig = 0x80;

// The register in the input and the place for it in the output, both as long
// as the register is.
struct Access {
  bool write;
  std::span<const uint8_t> in;
  std::span<uint8_t> out;
};

// A register's data as its structure.
template <class T>
T Load(std::span<const uint8_t> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

template <class T>
void Store(std::span<uint8_t> bytes, const T& value) {
  std::memcpy(bytes.data(), &value, sizeof(value));
}

CmdVerdict HostEndianness(Firmware& fw, const Access& access) {
  if (access.write) {
    const uint8_t value = access.in[0];
    if (value != kHostIsLittle && value != kHostIsBig)
      return VCX_REFUSED_REG_VALUE;
    fw.host_endianness = value;
  }
  access.out[0] = fw.host_endianness;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict NodeDescription(Firmware& fw, const Access& access) {
  if (access.write)
    std::copy(access.in.begin(), access.in.end(), fw.node_desc.begin());
  std::copy(fw.node_desc.begin(), fw.node_desc.end(), access.out.begin());
  return VCX_CMD_ACCEPTED;
}

// Speed and width of the link.
CmdVerdict Ptys(Firmware&, const Access& access) {
  if (access.write) return VCX_REFUSED_REG_READ_ONLY;
  auto ptys = Load<vcx_reg_ptys>(access.in);
  if (VCX_GET(&ptys, VCX_PTYS_LOCAL_PORT) != kPort) return VCX_REFUSED_REG_PORT;
  if (VCX_GET(&ptys, VCX_PTYS_PROTO_MASK) != VCX_PTYS_PROTO_IB)
    return VCX_REFUSED_REG_VALUE;
  ptys = {};
  VCX_SET(&ptys, VCX_PTYS_LOCAL_PORT, kPort);
  VCX_SET(&ptys, VCX_PTYS_PROTO_MASK, VCX_PTYS_PROTO_IB);
  VCX_SET(&ptys, VCX_PTYS_IB_WIDTH_CAP, VCX_PTYS_WIDTH_4X);
  VCX_SET(&ptys, VCX_PTYS_IB_PROTO_CAP, VCX_PTYS_SPEED_EDR);
  VCX_SET(&ptys, VCX_PTYS_IB_WIDTH_ADMIN, VCX_PTYS_WIDTH_4X);
  VCX_SET(&ptys, VCX_PTYS_IB_PROTO_ADMIN, VCX_PTYS_SPEED_EDR);
  VCX_SET(&ptys, VCX_PTYS_IB_WIDTH_OPER, VCX_PTYS_WIDTH_4X);
  VCX_SET(&ptys, VCX_PTYS_IB_PROTO_OPER, VCX_PTYS_SPEED_EDR);
  Store(access.out, ptys);
  return VCX_CMD_ACCEPTED;
}

CmdVerdict Pmtu(Firmware& fw, const Access& access) {
  if (access.write) return VCX_REFUSED_REG_READ_ONLY;
  auto pmtu = Load<vcx_reg_pmtu>(access.in);
  if (VCX_GET(&pmtu, VCX_PMTU_LOCAL_PORT) != kPort) return VCX_REFUSED_REG_PORT;
  pmtu = {};
  VCX_SET(&pmtu, VCX_PMTU_LOCAL_PORT, kPort);
  VCX_SET(&pmtu, VCX_PMTU_MAX, fw.port.mtu_bytes());
  VCX_SET(&pmtu, VCX_PMTU_ADMIN, fw.port.mtu_bytes());
  VCX_SET(&pmtu, VCX_PMTU_OPER, fw.port.mtu_bytes());
  Store(access.out, pmtu);
  return VCX_CMD_ACCEPTED;
}

// Virtual lanes.
CmdVerdict Pvlc(Firmware&, const Access& access) {
  if (access.write) return VCX_REFUSED_REG_READ_ONLY;
  auto pvlc = Load<vcx_reg_pvlc>(access.in);
  if (VCX_GET(&pvlc, VCX_PVLC_LOCAL_PORT) != kPort) return VCX_REFUSED_REG_PORT;
  pvlc = {};
  VCX_SET(&pvlc, VCX_PVLC_LOCAL_PORT, kPort);
  VCX_SET(&pvlc, VCX_PVLC_HW_CAP, kOneVl);
  VCX_SET(&pvlc, VCX_PVLC_ADMIN, kOneVl);
  VCX_SET(&pvlc, VCX_PVLC_OPERATIONAL, kOneVl);
  Store(access.out, pvlc);
  return VCX_CMD_ACCEPTED;
}

struct Register {
  uint32_t id;
  size_t bytes;
  CmdVerdict (*access)(Firmware& fw, const Access& access);
};

// DTOR is missing for a reason: cmd_q_init_to of the initialization segment is
// zero, so that no driver reads timeouts.
constexpr Register kRegisters[] = {
    {VCX_REG_PMTU, sizeof(vcx_reg_pmtu), Pmtu},
    {VCX_REG_PTYS, sizeof(vcx_reg_ptys), Ptys},
    {VCX_REG_PVLC, sizeof(vcx_reg_pvlc), Pvlc},
    {VCX_REG_NODE_DESC, VCX_NODE_DESC_BYTES, NodeDescription},
    {VCX_REG_HOST_ENDIANNESS, kHostEndiannessBytes, HostEndianness},
};

}  // namespace

CmdVerdict AccessRegister(Firmware& fw, const vcx_access_reg_in& in,
                          const Call& call, vcx_access_reg_out&) {
  if (call.op_mod != VCX_ACCESS_REG_WRITE && call.op_mod != VCX_ACCESS_REG_READ)
    return VCX_REFUSED_OP_MOD;
  const uint32_t id = in.register_id.get() & kRegisterIdMask;
  const auto* reg =
      std::find_if(std::begin(kRegisters), std::end(kRegisters),
                   [id](const Register& r) { return r.id == id; });
  if (reg == std::end(kRegisters)) return VCX_REFUSED_REG_ID;
  if (call.list.size() < reg->bytes) return VCX_REFUSED_LIST_LENGTH;
  if (call.room.size() < reg->bytes) return VCX_REFUSED_OUT_LIST_LENGTH;
  return reg->access(fw, {.write = call.op_mod == VCX_ACCESS_REG_WRITE,
                          .in = call.list.first(reg->bytes),
                          .out = call.room.first(reg->bytes)});
}

}  // namespace vcx
