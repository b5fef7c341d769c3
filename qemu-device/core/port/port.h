/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// port.h - the port: identity, tables, state. Without a subnet manager the
// device brings it up itself and is its own SM.
#ifndef VCX_CORE_PORT_PORT_H_
#define VCX_CORE_PORT_PORT_H_

#include <array>
#include <cstdint>

#include "resource/qp.h"
#include "vcx_core.h"

namespace vcx {

class Port {
 public:
  static constexpr uint32_t kGids = 8;     // VCX_CAP_GIDS(0)
  static constexpr uint32_t kPkeys = 128;  // VCX_CAP_PKEYS(0)
  static constexpr uint16_t kDefaultPkey = 0xffff;

  explicit Port(const vcx_core_config& config);

  uint64_t guid() const { return guid_; }
  uint16_t lid() const { return lid_; }
  uint32_t mtu_bytes() const { return mtu_bytes_; }
  bool active() const { return link_up_; }

  void set_link_up(bool up) { link_up_ = up; }

  // Entry of a table; the index must be below its size. Entry 0 of the GIDs is
  // the link-local prefix and the port GUID, the others are zero.
  const Gid& gid(uint32_t index) const { return gids_[index]; }
  uint16_t pkey(uint32_t index) const { return pkeys_[index]; }

  // Whether two P_Keys may talk: same low 15 bits, not zero, and not both
  // limited members. (IBA vol. 1, 10.9.1.2)
  static bool PkeysMatch(uint16_t a, uint16_t b) {
    return (a & 0x7fff) == (b & 0x7fff) && (a & 0x7fff) != 0 &&
           ((a | b) & 0x8000) != 0;
  }

 private:
  uint64_t guid_;
  uint16_t lid_;
  uint32_t mtu_bytes_;
  bool link_up_ = true;
  std::array<Gid, kGids> gids_{};
  std::array<uint16_t, kPkeys> pkeys_{};
};

}  // namespace vcx

#endif  // VCX_CORE_PORT_PORT_H_
