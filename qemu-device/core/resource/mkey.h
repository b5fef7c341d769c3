/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// mkey.h - memory key: which memory, whose, and what may be done with it.
#ifndef VCX_CORE_RESOURCE_MKEY_H_
#define VCX_CORE_RESOURCE_MKEY_H_

#include <cstdint>
#include <vector>

#include "vcx/context.h"

namespace vcx {

struct Pd;

struct Mkey {
  uint32_t number = 0;  // index, 24 bits
  uint8_t variant = 0;  // low byte of the key, chosen by the driver
  bool free = false;    // allocated, but not to be used
  Pd* pd = nullptr;
  uint32_t qpn = VCX_MKC_ANY_QP;
  vcx_mkc_access_mode mode = VCX_MKC_MODE_PA;
  bool local_read = false;
  bool local_write = false;
  bool remote_read = false;
  bool remote_write = false;
  bool remote_atomic = false;
  bool length64 = false;  // the whole address space, no bounds
  uint64_t start = 0;
  uint64_t length = 0;
  uint8_t log_page_bytes = 12;
  std::vector<uint64_t> pages;  // MTT mode: page i holds bytes from
                                // (start >> log) + i pages
  vcx_mkc context{};            // as created, for QUERY_MKEY
};

}  // namespace vcx

#endif  // VCX_CORE_RESOURCE_MKEY_H_
