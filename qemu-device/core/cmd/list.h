/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// list.h - the list of addresses that a command's input may go on with.
#ifndef VCX_CORE_CMD_LIST_H_
#define VCX_CORE_CMD_LIST_H_

#include <cstdint>
#include <cstring>
#include <span>

#include "vcx/types.h"

namespace vcx {

class AddressList {
 public:
  explicit AddressList(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t size() const { return bytes_.size() / sizeof(vcx_be64); }
  uint64_t operator[](size_t i) const {
    vcx_be64 address;
    std::memcpy(&address, bytes_.data() + i * sizeof(address), sizeof(address));
    return address.get();
  }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace vcx

#endif  // VCX_CORE_CMD_LIST_H_
