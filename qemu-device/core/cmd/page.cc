/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// QUERY_PAGES, MANAGE_PAGES.
#include <unordered_set>

#include "cmd/handlers.h"
#include "cmd/list.h"
#include "vcx/regs.h"

namespace vcx {
namespace {

CmdVerdict GivePages(Firmware& fw, std::span<const uint8_t> list,
                     uint32_t num_pages) {
  const AddressList pages(list);
  if (num_pages > pages.size()) return VCX_REFUSED_LIST_LENGTH;
  if (num_pages > fw.pages.OwedForInit()) return VCX_REFUSED_PAGES_UNASKED;
  std::unordered_set<uint64_t> seen;
  for (uint32_t i = 0; i < num_pages; ++i) {
    if (pages[i] % VCX_PAGE_BYTES != 0) return VCX_REFUSED_PAGE_ALIGN;
    if (fw.pages.Has(pages[i]) || !seen.insert(pages[i]).second)
      return VCX_REFUSED_PAGE_TWICE;
  }
  for (uint32_t i = 0; i < num_pages; ++i) fw.pages.Give(pages[i]);
  return VCX_CMD_ACCEPTED;
}

CmdVerdict TakePages(Firmware& fw, std::span<uint8_t> room, uint32_t num_pages,
                     vcx_manage_pages_out& out) {
  if (fw.state == HcaState::kInitialized) return VCX_REFUSED_PAGES_IN_USE;
  const uint32_t taken = std::min(num_pages, fw.pages.held());
  if (taken > room.size() / sizeof(vcx_be64))
    return VCX_REFUSED_OUT_LIST_LENGTH;
  auto* pages = reinterpret_cast<vcx_be64*>(room.data());
  for (uint32_t i = 0; i < taken; ++i) pages[i] = fw.pages.Take();
  out.num_pages = taken;
  return VCX_CMD_ACCEPTED;
}

}  // namespace

CmdVerdict QueryPages(Firmware& fw, const vcx_number_in& in, const Call& call,
                      vcx_query_pages_out& out) {
  if (in.number.get() != 0) return VCX_REFUSED_FUNCTION;
  switch (call.op_mod) {
    case VCX_QUERY_PAGES_BOOT:
      out.num_pages = fw.pages.OwedForBoot();
      return VCX_CMD_ACCEPTED;
    case VCX_QUERY_PAGES_INIT:
      out.num_pages = fw.pages.OwedForInit();
      return VCX_CMD_ACCEPTED;
    case VCX_QUERY_PAGES_REGULAR: out.num_pages = 0u; return VCX_CMD_ACCEPTED;
    default: return VCX_REFUSED_OP_MOD;
  }
}

CmdVerdict ManagePages(Firmware& fw, const vcx_manage_pages_in& in,
                       const Call& call, vcx_manage_pages_out& out) {
  if (in.function_id.get() != 0) return VCX_REFUSED_FUNCTION;
  switch (call.op_mod) {
    case VCX_MANAGE_PAGES_CANT_GIVE:
      // Nothing to undo: INIT_HCA tells the driver what is missing.
      return VCX_CMD_ACCEPTED;
    case VCX_MANAGE_PAGES_GIVE:
      return GivePages(fw, call.list, in.num_pages.get());
    case VCX_MANAGE_PAGES_TAKE:
      return TakePages(fw, call.room, in.num_pages.get(), out);
    default: return VCX_REFUSED_OP_MOD;
  }
}

}  // namespace vcx
