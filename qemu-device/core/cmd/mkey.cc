/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Memory keys: physical addresses, or a list of equal pages (MTT).
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cmd/handlers.h"
#include "cmd/list.h"
#include "vcx/regs.h"

namespace vcx {
namespace {

constexpr uint32_t kAddressesPerOctword = 2;  // 16 bytes

uint32_t ModeOf(const vcx_mkc& mkc) {
  return VCX_GET(&mkc, VCX_MKC_ACCESS_MODE_4_2) << 2 |
         VCX_GET(&mkc, VCX_MKC_ACCESS_MODE);
}

// start + len may be 2^64, but not more.
bool WrapsAround(const vcx_mkc& mkc) {
  const uint64_t start = VCX_GET64(&mkc, VCX_MKC_START_ADDR);
  const uint64_t length = VCX_GET64(&mkc, VCX_MKC_LEN);
  return length != 0 && start + (length - 1) < start;
}

// The list covers whole pages from the one of `start` to that of the last byte.
uint64_t PagesNeeded(const vcx_mkc& mkc) {
  const uint64_t start = VCX_GET64(&mkc, VCX_MKC_START_ADDR);
  const uint64_t length = VCX_GET64(&mkc, VCX_MKC_LEN);
  const uint32_t log_page = VCX_GET(&mkc, VCX_MKC_LOG_PAGE_SIZE);
  if (length == 0) return 0;
  return ((start + (length - 1)) >> log_page) - (start >> log_page) + 1;
}

// A free key has no translations until it is filled in.
uint64_t PagesTaken(const vcx_mkc& mkc) {
  if (ModeOf(mkc) != VCX_MKC_MODE_MTT || VCX_GET(&mkc, VCX_MKC_FREE) != 0)
    return 0;
  return PagesNeeded(mkc);
}

CmdVerdict CheckList(const Firmware& fw, const vcx_create_mkey_in& in,
                     const AddressList& list) {
  const uint64_t announced =
      uint64_t{in.translations_octwords.get()} * kAddressesPerOctword;
  if (announced > list.size()) return VCX_REFUSED_LIST_LENGTH;
  const uint64_t needed = PagesTaken(in.mkc);
  if (needed > fw.limits.max_mkey_pages) return VCX_REFUSED_MKEY_LIST;
  if (needed > announced) return VCX_REFUSED_MKEY_PAGES;
  const uint64_t low_bits =
      (uint64_t{1} << VCX_GET(&in.mkc, VCX_MKC_LOG_PAGE_SIZE)) - 1;
  for (size_t i = 0; i < needed; ++i)
    if ((VCX_MTT_ADDRESS(list[i]) & low_bits) != 0)
      return VCX_REFUSED_MKEY_PAGE_ALIGN;
  if (!fw.page_lists.Fits(needed)) return VCX_REFUSED_PAGE_LISTS;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict CheckContext(const vcx_mkc& mkc) {
  const uint32_t mode = ModeOf(mkc);
  if (mode != VCX_MKC_MODE_PA && mode != VCX_MKC_MODE_MTT)
    return VCX_REFUSED_MKEY_MODE;
  if (mode == VCX_MKC_MODE_MTT && VCX_GET(&mkc, VCX_MKC_LENGTH64) != 0)
    return VCX_REFUSED_MKEY_LENGTH64;
  if (WrapsAround(mkc)) return VCX_REFUSED_MKEY_BOUNDS;
  if (mode == VCX_MKC_MODE_MTT && VCX_GET(&mkc, VCX_MKC_FREE) == 0 &&
      VCX_GET(&mkc, VCX_MKC_LOG_PAGE_SIZE) < VCX_LOG_PAGE_BYTES)
    return VCX_REFUSED_MKEY_PAGE_SIZE;
  return VCX_CMD_ACCEPTED;
}

void Load(Mkey& key, const vcx_mkc& mkc) {
  key.variant = static_cast<uint8_t>(VCX_GET(&mkc, VCX_MKC_KEY_7_0));
  key.free = VCX_GET(&mkc, VCX_MKC_FREE) != 0;
  key.qpn = VCX_GET(&mkc, VCX_MKC_QPN);
  key.mode = static_cast<vcx_mkc_access_mode>(ModeOf(mkc));
  key.local_read = VCX_GET(&mkc, VCX_MKC_LR) != 0;
  key.local_write = VCX_GET(&mkc, VCX_MKC_LW) != 0;
  key.remote_read = VCX_GET(&mkc, VCX_MKC_RR) != 0;
  key.remote_write = VCX_GET(&mkc, VCX_MKC_RW) != 0;
  key.remote_atomic = VCX_GET(&mkc, VCX_MKC_A) != 0;
  key.length64 = VCX_GET(&mkc, VCX_MKC_LENGTH64) != 0;
  key.start = VCX_GET64(&mkc, VCX_MKC_START_ADDR);
  key.length = VCX_GET64(&mkc, VCX_MKC_LEN);
  key.log_page_bytes =
      static_cast<uint8_t>(VCX_GET(&mkc, VCX_MKC_LOG_PAGE_SIZE));
  key.context = mkc;
}

}  // namespace

CmdVerdict CreateMkey(Firmware& fw, const vcx_create_mkey_in& in,
                      const Call& call, vcx_number_out& out) {
  const AddressList list(call.list);
  if (const CmdVerdict v = CheckContext(in.mkc); v != VCX_CMD_ACCEPTED)
    return v;
  Pd* pd = fw.objects.pds.Find(VCX_GET(&in.mkc, VCX_MKC_PD));
  if (pd == nullptr) return VCX_REFUSED_PD_NUMBER;
  if (const CmdVerdict v = CheckList(fw, in, list); v != VCX_CMD_ACCEPTED)
    return v;

  const uint32_t wanted = in.input_index.get() & VCX_NUMBER_MASK;
  Mkey* key = wanted == 0 ? fw.objects.mkeys.Allocate()
                          : fw.objects.mkeys.AllocateAt(wanted);
  if (key == nullptr)
    return wanted == 0 ? VCX_REFUSED_MKEY_NONE_LEFT
                       : VCX_REFUSED_MKEY_INPUT_INDEX;

  Load(*key, in.mkc);
  key->pd = pd;
  ++pd->references;
  key->pages.resize(PagesTaken(in.mkc));
  // Whether pg_access announces it or not: the low bits are flags at best.
  for (size_t i = 0; i < key->pages.size(); ++i)
    key->pages[i] = VCX_MTT_ADDRESS(list[i]);
  fw.page_lists.Take(key->pages.size());
  out.number = key->number;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict QueryMkey(Firmware& fw, const vcx_number_in& in, const Call&,
                     vcx_query_mkey_out& out) {
  const Mkey* key = fw.objects.mkeys.Find(in.number.get() & VCX_NUMBER_MASK);
  if (key == nullptr) return VCX_REFUSED_MKEY_NUMBER;

  out.mkc = key->context;
  vcx_be64 first[sizeof(out.translations) / sizeof(vcx_be64)] = {};
  for (size_t i = 0; i < std::min(std::size(first), key->pages.size()); ++i)
    first[i] = key->pages[i];
  std::memcpy(out.translations, first, sizeof(first));
  return VCX_CMD_ACCEPTED;
}

CmdVerdict DestroyMkey(Firmware& fw, const vcx_number_in& in, const Call&,
                       vcx_number_out&) {
  Mkey* key = fw.objects.mkeys.Find(in.number.get() & VCX_NUMBER_MASK);
  if (key == nullptr) return VCX_REFUSED_MKEY_NUMBER;

  fw.page_lists.GiveBack(key->pages.size());
  --key->pd->references;
  fw.objects.mkeys.Free(key);
  return VCX_CMD_ACCEPTED;
}

}  // namespace vcx
