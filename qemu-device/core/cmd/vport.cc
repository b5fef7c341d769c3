/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// What a driver may ask of the port: its context, GIDs and P_Keys.
#include <algorithm>
#include <cstring>

#include "cmd/handlers.h"

namespace vcx {
namespace {

constexpr uint32_t kPort = 1;
constexpr uint32_t kIndexMask = 0xffff;
constexpr uint32_t kWholeTable = 0xffff;
constexpr uint32_t kVportNumberMask = 0xffff;
constexpr uint32_t kSubnetTimeout = 18;  // 4.096 us * 2^18, about a second

// Drivers leave the port zero on a device that has one.
bool IsOurPort(const vcx_query_vport_in& in) {
  const uint32_t vport = in.vport.get();
  const uint32_t port = VCX_QUERY_VPORT_PORT_GET(vport);
  return (vport & VCX_QUERY_VPORT_OTHER) == 0 &&
         (vport & kVportNumberMask) == 0 && (port == 0 || port == kPort);
}

// Entries [first, first + count) of a table are asked for; count 0: none such.
struct Range {
  uint32_t first;
  uint32_t count;
};

Range RangeOf(const vcx_query_vport_in& in, uint32_t table_size) {
  const uint32_t index = in.index.get() & kIndexMask;
  if (index == kWholeTable) return {0, table_size};
  return {index, index < table_size ? 1u : 0u};
}

uint32_t Saturated16(uint64_t count) {
  return static_cast<uint32_t>(std::min<uint64_t>(count, 0xffff));
}

}  // namespace

CmdVerdict QueryVportContext(Firmware& fw, const vcx_query_vport_in& in,
                             const Call&, vcx_query_vport_context_out& out) {
  if (!IsOurPort(in)) return VCX_REFUSED_VPORT_NUMBER;
  const Port& port = fw.port;
  vcx_hca_vport_context* c = &out.context;
  const uint32_t state =
      port.active() ? VCX_PORT_STATE_ACTIVE : VCX_PORT_STATE_DOWN;
  VCX_SET(c, VCX_VPORT_PHYS_STATE,
          port.active() ? VCX_PORT_PHYS_LINK_UP : VCX_PORT_PHYS_POLLING);
  VCX_SET(c, VCX_VPORT_PORT_STATE, state);
  VCX_SET(c, VCX_VPORT_STATE, state);
  VCX_SET64(c, VCX_VPORT_SYSTEM_GUID, port.guid());
  VCX_SET64(c, VCX_VPORT_PORT_GUID, port.guid());
  VCX_SET64(c, VCX_VPORT_NODE_GUID, port.guid());
  VCX_SET(c, VCX_VPORT_LID, port.lid());
  VCX_SET(c, VCX_VPORT_SM_LID, port.lid());  // its own subnet manager
  VCX_SET(c, VCX_VPORT_SUBNET_TIMEOUT, kSubnetTimeout);
  VCX_SET(c, VCX_VPORT_PKEY_VIOLATIONS,
          Saturated16(fw.counters.Get(Counter::kDropPkey)));
  return VCX_CMD_ACCEPTED;
}

CmdVerdict QueryVportGid(Firmware& fw, const vcx_query_vport_in& in,
                         const Call& call, vcx_query_vport_gid_out& out) {
  if (!IsOurPort(in)) return VCX_REFUSED_VPORT_NUMBER;
  const Range range = RangeOf(in, Port::kGids);
  if (range.count == 0) return VCX_REFUSED_VPORT_GID_INDEX;
  if (call.room.size() < range.count * sizeof(Gid))
    return VCX_REFUSED_OUT_LIST_LENGTH;

  out.gids_num = static_cast<uint16_t>(range.count);
  for (uint32_t i = 0; i < range.count; ++i)
    std::memcpy(&call.room[i * sizeof(Gid)],
                fw.port.gid(range.first + i).data(), sizeof(Gid));
  return VCX_CMD_ACCEPTED;
}

CmdVerdict QueryVportPkey(Firmware& fw, const vcx_query_vport_in& in,
                          const Call& call, vcx_query_vport_pkey_out&) {
  if (!IsOurPort(in)) return VCX_REFUSED_VPORT_NUMBER;
  const Range range = RangeOf(in, Port::kPkeys);
  if (range.count == 0) return VCX_REFUSED_VPORT_PKEY_INDEX;
  if (call.room.size() < range.count * sizeof(vcx_be32))
    return VCX_REFUSED_OUT_LIST_LENGTH;

  for (uint32_t i = 0; i < range.count; ++i) {
    const vcx_be32 pkey(fw.port.pkey(range.first + i));
    std::memcpy(&call.room[i * sizeof(pkey)], &pkey, sizeof(pkey));
  }
  return VCX_CMD_ACCEPTED;
}

}  // namespace vcx
