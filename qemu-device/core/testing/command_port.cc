/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "testing/command_port.h"

#include <algorithm>
#include <cstddef>

#include "vcx/regs.h"

namespace vcx {
namespace {

constexpr uint64_t kMailboxAlign = 1024;  // as stock drivers allocate them
constexpr uint8_t kStale = 0xa5;  // what output memory holds before the reply

}  // namespace

uint32_t CommandPort::ReadRegister(uint64_t offset) {
  return __builtin_bswap32(
      static_cast<uint32_t>(device_.BarRead(offset, sizeof(uint32_t))));
}

void CommandPort::WriteRegister(uint64_t offset, uint32_t value) {
  device_.BarWrite(offset, __builtin_bswap32(value), sizeof(value));
}

void CommandPort::Attach() {
  queue_ = host_.Alloc(VCX_PAGE_BYTES, VCX_PAGE_BYTES);
  WriteRegister(offsetof(vcx_init_seg, cmdq_addr_h),
                static_cast<uint32_t>(queue_ >> 32));
  WriteRegister(offsetof(vcx_init_seg, cmdq_addr_l_sz),
                static_cast<uint32_t>(queue_));
}

// Fills mailboxes with data, or with stale bytes when there is none; returns
// the address of the first, 0 when none is needed.
uint64_t CommandPort::WriteChain(std::vector<uint64_t>& chain,
                                 const uint8_t* data, size_t bytes,
                                 uint8_t token) {
  const size_t num =
      (bytes + VCX_CMD_MAILBOX_BYTES - 1) / VCX_CMD_MAILBOX_BYTES;
  while (chain.size() < num)
    chain.push_back(host_.Alloc(sizeof(vcx_cmd_mailbox), kMailboxAlign));
  for (size_t i = 0; i < chain.size(); ++i) {
    vcx_cmd_mailbox mailbox{};
    const size_t at = std::min(i * VCX_CMD_MAILBOX_BYTES, bytes);
    const size_t part = std::min<size_t>(bytes - at, VCX_CMD_MAILBOX_BYTES);
    std::fill(std::begin(mailbox.data), std::end(mailbox.data), kStale);
    if (data != nullptr) std::copy_n(data + at, part, mailbox.data);
    mailbox.next = i + 1 < chain.size() ? chain[i + 1] : 0;
    mailbox.block_num = static_cast<uint32_t>(i);
    mailbox.token = token;
    host_.Put(chain[i], mailbox);
  }
  return num != 0 ? chain[0] : 0;
}

void CommandPort::Post(uint32_t slot, const std::vector<uint8_t>& in,
                       size_t out_bytes) {
  constexpr size_t kInline = VCX_CMD_INLINE_BYTES;
  Slot& s = slots_[slot];
  s.out_bytes = out_bytes;
  const uint8_t token = ++token_;
  vcx_cmd_entry entry{};
  entry.type = VCX_CMD_TYPE_PCIE;
  entry.in_bytes = static_cast<uint32_t>(in.size());
  entry.out_bytes = static_cast<uint32_t>(out_bytes);
  entry.token = token;
  std::copy_n(in.begin(), std::min(in.size(), kInline), entry.in);
  std::fill(std::begin(entry.out), std::end(entry.out), kStale);
  entry.in_mailbox =
      in.size() <= kInline
          ? 0
          : WriteChain(s.in, in.data() + kInline, in.size() - kInline, token);
  entry.out_mailbox =
      out_bytes <= kInline
          ? 0
          : WriteChain(s.out, nullptr, out_bytes - kInline, token);
  entry.status_own = VCX_CMD_OWNER_DEVICE;
  host_.Put(EntryAddress(slot), entry);
}

void CommandPort::Ring(uint32_t slots) {
  WriteRegister(offsetof(vcx_init_seg, cmd_dbell), slots);
}

Reply CommandPort::Collect(uint32_t slot) {
  const auto entry = host_.Get<vcx_cmd_entry>(EntryAddress(slot));
  const Slot& s = slots_[slot];
  Reply reply;
  reply.completed = (entry.status_own & VCX_CMD_OWNER_DEVICE) == 0;
  reply.delivery = static_cast<uint8_t>(entry.status_own >> 1);
  if (!reply.completed || reply.delivery != VCX_DELIVERY_OK) return reply;
  reply.out.assign(entry.out,
                   entry.out + std::min(s.out_bytes, sizeof(entry.out)));
  for (size_t i = 0; reply.out.size() < s.out_bytes; ++i) {
    const auto mailbox = host_.Get<vcx_cmd_mailbox>(s.out[i]);
    const size_t part =
        std::min<size_t>(s.out_bytes - reply.out.size(), sizeof(mailbox.data));
    reply.out.insert(reply.out.end(), mailbox.data, mailbox.data + part);
  }
  const auto header = reply.As<vcx_cmd_out>();
  reply.status = header.status;
  reply.syndrome = header.syndrome.get();
  return reply;
}

}  // namespace vcx
