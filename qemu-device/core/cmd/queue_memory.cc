/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "cmd/queue_memory.h"

#include <utility>
#include <vector>

#include "cmd/list.h"
#include "vcx/regs.h"

namespace vcx {
namespace {

constexpr uint32_t kLogMaxPageBytes = 31;
constexpr uint32_t kOffsetUnitsPerPage = 64;

uint8_t LogPageBytes(const QueueMemory& memory) {
  return static_cast<uint8_t>(VCX_LOG_PAGE_BYTES + memory.log_page_size);
}

uint32_t Offset(const QueueMemory& memory) {
  const uint32_t unit = (1u << LogPageBytes(memory)) / kOffsetUnitsPerPage;
  return memory.page_offset * unit;
}

uint64_t PagesNeeded(const QueueMemory& memory) {
  if (memory.bytes == 0) return 0;
  return GuestBuffer::PagesFor(memory.bytes, LogPageBytes(memory),
                               Offset(memory));
}

}  // namespace

CmdVerdict CheckQueueMemory(const Firmware& fw, const QueueMemory& memory,
                            uint64_t held) {
  if (VCX_LOG_PAGE_BYTES + memory.log_page_size > kLogMaxPageBytes)
    return VCX_REFUSED_QUEUE_PAGE_SIZE;
  if (Offset(memory) % memory.entry_bytes != 0) return VCX_REFUSED_QUEUE_OFFSET;

  // Drivers list whole buffers, which may be larger than the queue in them.
  const AddressList pages(memory.list);
  const uint64_t needed = PagesNeeded(memory);
  if (needed > pages.size()) return VCX_REFUSED_QUEUE_PAGES;
  const uint64_t low_bits = (uint64_t{1} << LogPageBytes(memory)) - 1;
  for (size_t i = 0; i < needed; ++i)
    if ((pages[i] & low_bits) != 0) return VCX_REFUSED_QUEUE_PAGE_ALIGN;
  if (needed > held && !fw.page_lists.Fits(needed - held))
    return VCX_REFUSED_PAGE_LISTS;
  return VCX_CMD_ACCEPTED;
}

GuestBuffer TakeQueueMemory(Firmware& fw, const QueueMemory& memory) {
  const AddressList list(memory.list);
  std::vector<uint64_t> pages(PagesNeeded(memory));
  for (size_t i = 0; i < pages.size(); ++i) pages[i] = list[i];
  fw.page_lists.Take(pages.size());
  return GuestBuffer(std::move(pages), LogPageBytes(memory), Offset(memory));
}

void ReleaseQueueMemory(Firmware& fw, const GuestBuffer& buffer) {
  fw.page_lists.GiveBack(buffer.pages().size());
}

}  // namespace vcx
