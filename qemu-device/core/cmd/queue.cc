/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "cmd/queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cmd/dispatch.h"
#include "vcx/cmd_layout.h"
#include "vcx/eqe.h"
#include "vcx/regs.h"

namespace vcx {
namespace {

static_assert(1u << CommandQueue::kLogStride == sizeof(vcx_cmd_entry));

// The part of a mailbox behind its data.
constexpr uint64_t kMailboxTail = VCX_CMD_MAILBOX_BYTES;
constexpr size_t kMailboxTailBytes = sizeof(vcx_cmd_mailbox) - kMailboxTail;

bool IsMailboxAddress(uint64_t address) {
  return address != 0 && address % VCX_CMD_MAILBOX_ALIGN == 0;
}

size_t MailboxesFor(size_t bytes) {
  if (bytes <= VCX_CMD_INLINE_BYTES) return 0;
  return (bytes - VCX_CMD_INLINE_BYTES + VCX_CMD_MAILBOX_BYTES - 1) /
         VCX_CMD_MAILBOX_BYTES;
}

vcx_cmd_delivery CheckMailbox(const vcx_cmd_mailbox& mailbox, uint8_t token,
                              size_t number) {
  if (mailbox.token != token) return VCX_DELIVERY_TOKEN;
  if (mailbox.block_num.get() != number) return VCX_DELIVERY_BLOCK_NUM;
  return VCX_DELIVERY_OK;
}

bool IsZero(const uint8_t* bytes, size_t len) {
  return std::all_of(bytes, bytes + len, [](uint8_t b) { return b == 0; });
}

}  // namespace

// One command from its entry to its completion.
struct CommandQueue::Command {
  vcx_cmd_entry entry;
  std::vector<uint8_t> in;
  std::vector<uint8_t> out;
  std::vector<uint64_t> out_mailboxes;
  // An event tells about the command only if the queue for it is there before
  // and after: drivers poll for the commands that make and destroy that queue.
  bool had_command_eq = false;
};

void CommandQueue::SetAddressHigh(uint32_t value) {
  address_ = uint64_t{value} << 32 | address_low();
}

void CommandQueue::SetAddressLow(uint32_t value) {
  address_ =
      uint64_t{address_high()} << 32 | (value & ~uint32_t{VCX_PAGE_BYTES - 1});
}

void CommandQueue::Doorbell(uint32_t slots) {
  while (slots != 0) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(slots));
    slots &= slots - 1;
    RunSlot(slot);
  }
}

void CommandQueue::RunSlot(uint32_t slot) {
  Command command;
  vcx_cmd_entry& entry = command.entry;
  // Without a readable entry that is ours there is nowhere to answer.
  if (address_ == 0 ||
      !firmware_.dma.Read(SlotAddress(slot), &entry, sizeof(entry)) ||
      (entry.status_own & VCX_CMD_OWNER_DEVICE) == 0) {
    firmware_.counters.Add(Counter::kCommandsUndeliverable);
    trace_(VCX_TRACE_COMMAND_DELIVERY, slot, VCX_DELIVERY_BAD_DESCRIPTOR);
    return;
  }
  command.had_command_eq = HasCommandEq();
  const vcx_cmd_delivery delivery = Run(command);
  Complete(slot, command, delivery);
}

vcx_cmd_delivery CommandQueue::CheckEntry(const vcx_cmd_entry& entry) const {
  if (entry.type != VCX_CMD_TYPE_PCIE) return VCX_DELIVERY_BAD_DESCRIPTOR;
  if (!IsZero(entry.rsvd_01, sizeof(entry.rsvd_01)) || entry.rsvd_3e != 0)
    return VCX_DELIVERY_RESERVED;
  const size_t in_bytes = entry.in_bytes.get();
  if (in_bytes < sizeof(vcx_cmd_in) ||
      in_bytes > MaxInputBytes(firmware_.limits))
    return VCX_DELIVERY_IN_LENGTH;
  const size_t out_bytes = entry.out_bytes.get();
  if (out_bytes < sizeof(vcx_cmd_out) || out_bytes > kMaxOutputBytes)
    return VCX_DELIVERY_OUT_LENGTH;
  return VCX_DELIVERY_OK;
}

// Copies the input: the bytes in the entry, then mailboxes by the length. An
// input longer than the opcode can use is not copied; one byte too many is what
// Execute() refuses it for.
vcx_cmd_delivery CommandQueue::FetchInput(Command& command) const {
  const vcx_cmd_entry& entry = command.entry;
  const size_t in_bytes = entry.in_bytes.get();
  command.in.assign(entry.in,
                    entry.in + std::min<size_t>(in_bytes, sizeof(entry.in)));
  const auto opcode = static_cast<uint16_t>(entry.in[0] << 8 | entry.in[1]);
  const size_t usable = UsableInputBytes(opcode, firmware_.limits);
  if (in_bytes > usable) {
    command.in.resize(std::max(command.in.size(), usable + 1));
    return VCX_DELIVERY_OK;
  }

  uint64_t address = entry.in_mailbox.get();
  const size_t num = MailboxesFor(in_bytes);
  for (size_t i = 0; i < num; ++i) {
    vcx_cmd_mailbox mailbox;
    if (!IsMailboxAddress(address) ||
        !firmware_.dma.Read(address, &mailbox, sizeof(mailbox)))
      return VCX_DELIVERY_IN_POINTER;
    if (const vcx_cmd_delivery d = CheckMailbox(mailbox, entry.token, i);
        d != VCX_DELIVERY_OK)
      return d;
    const size_t part =
        std::min<size_t>(in_bytes - command.in.size(), sizeof(mailbox.data));
    command.in.insert(command.in.end(), mailbox.data, mailbox.data + part);
    address = mailbox.next.get();
  }
  return VCX_DELIVERY_OK;
}

// Walks the mailboxes of the output before the command runs: what cannot be
// answered must not have an effect.
vcx_cmd_delivery CommandQueue::FindOutput(Command& command) const {
  const vcx_cmd_entry& entry = command.entry;
  const size_t num = MailboxesFor(entry.out_bytes.get());
  uint64_t address = entry.out_mailbox.get();
  for (size_t i = 0; i < num; ++i) {
    vcx_cmd_mailbox mailbox;
    if (!IsMailboxAddress(address) ||
        !firmware_.dma.Read(address + kMailboxTail,
                            reinterpret_cast<uint8_t*>(&mailbox) + kMailboxTail,
                            kMailboxTailBytes))
      return VCX_DELIVERY_OUT_POINTER;
    if (const vcx_cmd_delivery d = CheckMailbox(mailbox, entry.token, i);
        d != VCX_DELIVERY_OK)
      return d;
    command.out_mailboxes.push_back(address);
    address = mailbox.next.get();
  }
  command.out.assign(entry.out_bytes.get(), 0);
  return VCX_DELIVERY_OK;
}

vcx_cmd_delivery CommandQueue::Run(Command& command) {
  vcx_cmd_delivery delivery = CheckEntry(command.entry);
  if (delivery == VCX_DELIVERY_OK) delivery = FetchInput(command);
  if (delivery == VCX_DELIVERY_OK) delivery = FindOutput(command);
  if (delivery != VCX_DELIVERY_OK) return delivery;

  const CmdVerdict verdict = Execute(firmware_, command.in, command.out);
  firmware_.counters.Add(Counter::kCommands);
  if (verdict != VCX_CMD_ACCEPTED)
    firmware_.counters.Add(Counter::kCommandsFailed);
  const auto& header = *reinterpret_cast<const vcx_cmd_in*>(command.in.data());
  trace_(VCX_TRACE_COMMAND, header.opcode.get(), header.op_mod.get(),
         static_cast<uint64_t>(VCX_REFUSAL_STATUS(verdict)),
         static_cast<uint64_t>(verdict));
  return WriteOutput(command);
}

vcx_cmd_delivery CommandQueue::WriteOutput(const Command& command) const {
  size_t at = VCX_CMD_INLINE_BYTES;
  for (const uint64_t address : command.out_mailboxes) {
    const size_t part =
        std::min<size_t>(command.out.size() - at, VCX_CMD_MAILBOX_BYTES);
    if (!firmware_.dma.Write(address, &command.out[at], part))
      return VCX_DELIVERY_OUT_POINTER;
    at += part;
  }
  return VCX_DELIVERY_OK;
}

void CommandQueue::Complete(uint32_t slot, Command& command,
                            vcx_cmd_delivery delivery) {
  const vcx_cmd_entry& entry = command.entry;
  if (delivery != VCX_DELIVERY_OK) {
    firmware_.counters.Add(Counter::kCommandsUndeliverable);
    trace_(VCX_TRACE_COMMAND_DELIVERY, slot, delivery, entry.in_bytes.get(),
           entry.out_bytes.get());
  }
  const uint64_t address = SlotAddress(slot);
  const size_t in_entry =
      std::min<size_t>(command.out.size(), sizeof(entry.out));
  const auto status_own = static_cast<uint8_t>(delivery << 1);
  // The owner bit goes last: software may look at the rest once it is clear.
  if ((in_entry != 0 &&
       !firmware_.dma.Write(address + offsetof(vcx_cmd_entry, out),
                            command.out.data(), in_entry)) ||
      !firmware_.dma.Write(address + offsetof(vcx_cmd_entry, status_own),
                           &status_own, sizeof(status_own))) {
    firmware_.counters.Add(Counter::kDmaErrors);
    return;
  }
  if (!command.had_command_eq || !HasCommandEq()) return;
  vcx_eqe_command event;
  event.slots = 1u << slot;
  firmware_.control.RaiseEvent(VCX_EVENT_COMMAND, 0, &event, sizeof(event));
}

bool CommandQueue::HasCommandEq() const {
  bool found = false;
  firmware_.objects.eqs.ForEach([&found](const Eq& eq) {
    found |= (eq.event_mask >> VCX_EVENT_COMMAND & 1) != 0;
  });
  return found;
}

}  // namespace vcx
