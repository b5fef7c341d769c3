/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "port/port.h"

namespace vcx {
namespace {

constexpr uint64_t kLinkLocalPrefix = 0xfe80000000000000;
constexpr uint16_t kUnicastLids = 0xbfff;  // 1 .. 0xbfff (IBA vol. 1, 4.1.3)

uint16_t LidFromGuid(uint64_t guid) {
  uint64_t mixed = guid * 0x9e3779b97f4a7c15;
  return static_cast<uint16_t>(1 + (mixed >> 32) % kUnicastLids);
}

Gid MakeGid(uint64_t prefix, uint64_t guid) {
  Gid gid;
  for (unsigned i = 0; i < 8; ++i) {
    gid[i] = static_cast<uint8_t>(prefix >> (56 - 8 * i));
    gid[8 + i] = static_cast<uint8_t>(guid >> (56 - 8 * i));
  }
  return gid;
}

}  // namespace

Port::Port(const vcx_core_config& config)
    : guid_(config.guid),
      lid_(config.lid != 0 ? config.lid : LidFromGuid(config.guid)),
      mtu_bytes_(config.mtu_bytes) {
  // A GID is the subnet's prefix and an entry of the GUID table, so that empty
  // entries have the prefix too; Linux takes it from the last one.
  gids_.fill(MakeGid(kLinkLocalPrefix, 0));
  gids_[0] = MakeGid(kLinkLocalPrefix, guid_);
  pkeys_[0] = kDefaultPkey;
}

}  // namespace vcx
