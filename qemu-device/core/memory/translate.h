/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// translate.h - key + address + length + access -> DMA addresses, or the
// reason why not.
#ifndef VCX_CORE_MEMORY_TRANSLATE_H_
#define VCX_CORE_MEMORY_TRANSLATE_H_

#include <cstdint>

#include "memory/dma.h"
#include "resource/mkey.h"
#include "resource/qp.h"
#include "resource/table.h"
#include "vcx/cqe.h"

namespace vcx {

enum class Access : uint8_t {
  kLocalRead,
  kLocalWrite,
  kRemoteRead,
  kRemoteWrite,
};

class Translator {
 public:
  explicit Translator(const Table<Mkey>& mkeys) : mkeys_(mkeys) {}

  // Whether the QP may access [va, va + len) with this key. An empty range
  // needs no key. (IBA vol. 1, 10.6.3.4 and 9.7.4.1.5)
  vcx_vendor_syndrome Check(const Qp& qp, uint32_t key, uint64_t va,
                            uint32_t len, Access access) const;

  // The same, and appends the range's DMA addresses to *out.
  vcx_vendor_syndrome Translate(const Qp& qp, uint32_t key, uint64_t va,
                                uint32_t len, Access access,
                                SegmentList* out) const;

 private:
  const Mkey* Find(const Qp& qp, uint32_t key, uint64_t va, uint32_t len,
                   Access access, vcx_vendor_syndrome* why_not) const;

  const Table<Mkey>& mkeys_;
};

}  // namespace vcx

#endif  // VCX_CORE_MEMORY_TRANSLATE_H_
