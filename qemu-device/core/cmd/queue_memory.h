/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// queue_memory.h - the memory of an EQ, CQ or QP, as a command gives it: page
// size, offset in the first page, list of pages.
#ifndef VCX_CORE_CMD_QUEUE_MEMORY_H_
#define VCX_CORE_CMD_QUEUE_MEMORY_H_

#include <cstdint>
#include <span>

#include "cmd/firmware.h"
#include "memory/dma.h"

namespace vcx {

struct QueueMemory {
  uint64_t bytes;
  uint32_t log_page_size;  // relative to 4 KiB
  uint32_t page_offset;    // in 1/64 of a page
  uint32_t entry_bytes;    // the queue begins at a multiple of this
  std::span<const uint8_t> list;
};

// `held` addresses will be given back before these are taken (a resize).
CmdVerdict CheckQueueMemory(const Firmware& fw, const QueueMemory& memory,
                            uint64_t held = 0);

// Of checked memory; takes its part of the budget, which ReleaseQueueMemory()
// gives back.
GuestBuffer TakeQueueMemory(Firmware& fw, const QueueMemory& memory);
void ReleaseQueueMemory(Firmware& fw, const GuestBuffer& buffer);

}  // namespace vcx

#endif  // VCX_CORE_CMD_QUEUE_MEMORY_H_
