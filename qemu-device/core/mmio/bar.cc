/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "mmio/bar.h"

#include <bit>
#include <cstddef>

#include "vcx/regs.h"
#include "version.h"

namespace vcx {
namespace {

constexpr uint64_t kInitSegBytes =
    uint64_t{VCX_UAR_FIRST_PAGE} * VCX_PAGE_BYTES;
constexpr uint32_t kDoorbellBytes = 8;
// Software alternates between the two halves of a send doorbell register.
constexpr uint32_t kSqHalfBytes = 1u << (VCX_UAR_SQ_LOG_BYTES - 1);

// The counter moves about 120 times a second while the clock does.
constexpr unsigned kHealthShift = 23;

// Reasons of VCX_TRACE_DOORBELL_REFUSED for pages that the data path never
// sees; its own reasons are small numbers.
constexpr uint64_t kNotAllocated = 0x100;
constexpr uint64_t kHalfWithoutStart = 0x101;
constexpr uint64_t kBusMasterOff = 0x102;

#define VCX_REGISTER(member) \
  static_cast<uint32_t>(offsetof(vcx_init_seg, member))

uint64_t BarBytes(const Limits& limits) {
  const uint64_t pages =
      uint64_t{VCX_UAR_FIRST_PAGE} + (uint64_t{1} << limits.log_max_uar);
  return std::bit_ceil(pages) * VCX_PAGE_BYTES;
}

bool IsAccess(uint64_t offset, unsigned size, uint64_t bytes) {
  return (size == 1 || size == 2 || size == 4 || size == 8) &&
         offset % size == 0 && offset < bytes;
}

// Bytes of a bus access as the big-endian number that they are.
uint64_t BigEndian(uint64_t value, unsigned size) {
  return __builtin_bswap64(value) >> (64 - 8 * size);
}

}  // namespace

Bar::Bar(Host& host, const Limits& limits, const Dma& dma,
         const Objects& objects, CommandQueue& commands, Control& control,
         Counters& counters, Trace& trace)
    : host_(host),
      bytes_(BarBytes(limits)),
      dma_(dma),
      objects_(objects),
      commands_(commands),
      control_(control),
      counters_(counters),
      trace_(trace) {}

void Bar::Unknown(uint64_t offset, unsigned size, uint64_t value, bool write) {
  counters_.Add(Counter::kMmioUnknown);
  trace_(VCX_TRACE_MMIO_UNKNOWN, offset, size, value, write);
}

uint32_t Bar::ReadRegister(uint32_t offset, uint64_t now_ns) const {
  switch (offset) {
    case VCX_REGISTER(fw_rev):
      return uint32_t{kFirmwareMinor} << 16 | kFirmwareMajor;
    case VCX_REGISTER(cmdif_rev_fw_sub):
      return uint32_t{VCX_CMDIF_REV} << 16 | kFirmwareSubminor;
    case VCX_REGISTER(cmdq_addr_h): return commands_.address_high();
    case VCX_REGISTER(cmdq_addr_l_sz):
      return commands_.address_low() | VCX_NIC_STATE_FULL << 8 |
             CommandQueue::kLogSlots << 4 | CommandQueue::kLogStride;
    case VCX_REGISTER(health) + offsetof(vcx_health_buffer, fw_ver):
      return kFirmwareVersion;
    case VCX_REGISTER(internal_timer_h):
      return static_cast<uint32_t>(now_ns >> 32);
    case VCX_REGISTER(internal_timer_l): return static_cast<uint32_t>(now_ns);
    case VCX_REGISTER(health_counter):
      return static_cast<uint32_t>(now_ns >> kHealthShift) + 1;
    default:
      // Reserved, write-only, or zero because all is well: not initializing,
      // nothing in the health buffer, default timeouts.
      return 0;
  }
}

uint64_t Bar::Read(uint64_t offset, unsigned size) {
  if (!IsAccess(offset, size, bytes_) || offset >= sizeof(vcx_init_seg)) {
    Unknown(offset, size, 0, false);
    return 0;
  }
  const uint64_t now_ns = host_.NowNs();
  const auto word = static_cast<uint32_t>(offset & ~uint64_t{3});
  uint64_t bytes = ReadRegister(word, now_ns);
  if (size == 8)
    bytes = bytes << 32 | ReadRegister(word + 4, now_ns);
  else
    bytes >>= 8 * (4 - size - (offset & 3));
  return BigEndian(bytes, size);
}

bool Bar::WriteRegister(uint32_t offset, uint32_t value) {
  switch (offset) {
    case VCX_REGISTER(cmdq_addr_h):
      commands_.SetAddressHigh(value);
      return true;
    case VCX_REGISTER(cmdq_addr_l_sz):
      commands_.SetAddressLow(value);
      // A request to leave the full driver state, which does not exist here.
      return VCX_CMDQ_NIC_STATE(value) == VCX_NIC_STATE_FULL;
    case VCX_REGISTER(cmd_dbell): commands_.Doorbell(value); return true;
    default: return false;
  }
}

void Bar::Write(uint64_t offset, uint64_t value, unsigned size) {
  if (!IsAccess(offset, size, bytes_) || size < 4)
    return Unknown(offset, size, value, true);
  const uint64_t bytes = BigEndian(value, size);
  if (offset >= kInitSegBytes) {
    WriteUar(static_cast<uint32_t>(offset / VCX_PAGE_BYTES),
             static_cast<uint32_t>(offset % VCX_PAGE_BYTES), bytes, size);
    return;
  }
  const auto at = static_cast<uint32_t>(offset);
  bool known;
  if (size == 8) {
    known = WriteRegister(at, static_cast<uint32_t>(bytes >> 32));
    known &= WriteRegister(at + 4, static_cast<uint32_t>(bytes));
  } else {
    known = WriteRegister(at, static_cast<uint32_t>(bytes));
  }
  if (!known) Unknown(offset, size, value, true);
}

void Bar::Refuse(uint32_t page, uint32_t at, uint64_t value, uint64_t reason) {
  counters_.Add(Counter::kDoorbellsRefused);
  trace_(VCX_TRACE_DOORBELL_REFUSED, page, at, value, reason);
}

void Bar::WriteUar(uint32_t page, uint32_t at, uint64_t value, unsigned size) {
  if (objects_.uars.Find(page) == nullptr)
    return Refuse(page, at, value, kNotAllocated);
  if (!dma_.enabled()) return Refuse(page, at, value, kBusMasterOff);
  if (size == 4 && at != VCX_UAR_EQ_ARM && at != VCX_UAR_EQ_CI)
    return WriteUarHalf(page, at, static_cast<uint32_t>(value));
  control_.UarWrite(page, at, value, size);
}

void Bar::WriteUarHalf(uint32_t page, uint32_t at, uint32_t value) {
  const uint32_t start = at & ~(kDoorbellBytes - 1);
  const uint64_t key = uint64_t{page} * VCX_PAGE_BYTES + start;
  if (at == start) {
    if (start == VCX_UAR_CQ_ARM ||
        (start >= VCX_UAR_SQ && start % kSqHalfBytes == 0))
      first_halves_[key] = value;
    else
      control_.UarWrite(page, at, value, 4);  // which knows that it is nothing
    return;
  }
  const auto first = first_halves_.find(key);
  if (first == first_halves_.end())
    return Refuse(page, at, value, kHalfWithoutStart);
  const uint64_t whole = uint64_t{first->second} << 32 | value;
  first_halves_.erase(first);
  control_.UarWrite(page, start, whole, kDoorbellBytes);
}

}  // namespace vcx
