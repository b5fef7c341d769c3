/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "memory/translate.h"

#include <algorithm>

namespace vcx {
namespace {

bool Allows(const Mkey& mkey, Access access) {
  switch (access) {
    case Access::kLocalRead: return mkey.local_read;
    case Access::kLocalWrite: return mkey.local_write;
    case Access::kRemoteRead: return mkey.remote_read;
    case Access::kRemoteWrite: return mkey.remote_write;
  }
  return false;
}

// Both ends are compared without forming va + len, which may wrap.
bool Inside(const Mkey& mkey, uint64_t va, uint32_t len) {
  if (mkey.length64) return len == 0 || va <= UINT64_MAX - (len - 1);
  return va >= mkey.start && len <= mkey.length &&
         va - mkey.start <= mkey.length - len;
}

void Append(SegmentList* out, uint64_t addr, uint32_t len) {
  if (!out->empty()) {
    Segment& last = out->back();
    if (last.addr + last.len == addr && UINT32_MAX - last.len >= len) {
      last.len += len;
      return;
    }
  }
  out->push_back({addr, len});
}

}  // namespace

const Mkey* Translator::Find(const Qp& qp, uint32_t key, uint64_t va,
                             uint32_t len, Access access,
                             vcx_vendor_syndrome* why_not) const {
  const Mkey* mkey = mkeys_.Find(key >> 8);
  if (mkey == nullptr || mkey->variant != (key & 0xff))
    *why_not = VCX_VENDOR_KEY_INVALID;
  else if (mkey->free)
    *why_not = VCX_VENDOR_KEY_FREE;
  else if (mkey->pd != qp.pd ||
           (mkey->qpn != VCX_MKC_ANY_QP && mkey->qpn != qp.number))
    *why_not = VCX_VENDOR_KEY_PD;
  else if (!Allows(*mkey, access))
    *why_not = VCX_VENDOR_KEY_RIGHTS;
  else if (!Inside(*mkey, va, len))
    *why_not = VCX_VENDOR_KEY_BOUNDS;
  else
    return mkey;
  return nullptr;
}

vcx_vendor_syndrome Translator::Check(const Qp& qp, uint32_t key, uint64_t va,
                                      uint32_t len, Access access) const {
  vcx_vendor_syndrome why_not = VCX_VENDOR_NONE;
  if (len != 0) Find(qp, key, va, len, access, &why_not);
  return why_not;
}

vcx_vendor_syndrome Translator::Translate(const Qp& qp, uint32_t key,
                                          uint64_t va, uint32_t len,
                                          Access access,
                                          SegmentList* out) const {
  if (len == 0) return VCX_VENDOR_NONE;
  vcx_vendor_syndrome why_not = VCX_VENDOR_NONE;
  const Mkey* mkey = Find(qp, key, va, len, access, &why_not);
  if (mkey == nullptr) return why_not;

  if (mkey->mode == VCX_MKC_MODE_PA) {
    Append(out, va, len);
    return VCX_VENDOR_NONE;
  }
  const uint64_t page_bytes = uint64_t{1} << mkey->log_page_bytes;
  uint64_t page =
      (va >> mkey->log_page_bytes) - (mkey->start >> mkey->log_page_bytes);
  uint64_t offset = va & (page_bytes - 1);
  while (len != 0) {
    // A list that is shorter than the key's bounds say.
    if (page >= mkey->pages.size()) return VCX_VENDOR_KEY_BOUNDS;
    const auto n =
        static_cast<uint32_t>(std::min<uint64_t>(len, page_bytes - offset));
    Append(out, mkey->pages[page] + offset, n);
    len -= n;
    offset = 0;
    ++page;
  }
  return VCX_VENDOR_NONE;
}

}  // namespace vcx
