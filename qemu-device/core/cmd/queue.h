/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// queue.h - the command queue: takes commands out of guest memory, runs them,
// puts the outputs back.
//
// A command is executed within the doorbell write that hands it over, slots of
// one write in ascending order. What the guest wrote is copied once before it
// is looked at. Completion order is a contract: output mailboxes, output in the
// entry, owner bit, event.
#ifndef VCX_CORE_CMD_QUEUE_H_
#define VCX_CORE_CMD_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cmd/firmware.h"
#include "stats/trace.h"
#include "vcx/cmd.h"

namespace vcx {

class CommandQueue {
 public:
  static constexpr uint32_t kLogSlots = 5;
  static constexpr uint32_t kLogStride = 6;

  CommandQueue(Firmware& firmware, Trace& trace)
      : firmware_(firmware), trace_(trace) {}

  // The two halves of the queue's address. The low 12 bits are not address.
  void SetAddressHigh(uint32_t value);
  void SetAddressLow(uint32_t value);
  uint32_t address_high() const {
    return static_cast<uint32_t>(address_ >> 32);
  }
  uint32_t address_low() const { return static_cast<uint32_t>(address_); }

  // Bit i hands over slot i.
  void Doorbell(uint32_t slots);

  // The address is forgotten.
  void Reset() { address_ = 0; }

 private:
  struct Command;

  void RunSlot(uint32_t slot);
  vcx_cmd_delivery Run(Command& command);
  vcx_cmd_delivery CheckEntry(const vcx_cmd_entry& entry) const;
  vcx_cmd_delivery FetchInput(Command& command) const;
  vcx_cmd_delivery FindOutput(Command& command) const;
  vcx_cmd_delivery WriteOutput(const Command& command) const;
  void Complete(uint32_t slot, Command& command, vcx_cmd_delivery delivery);
  bool HasCommandEq() const;
  uint64_t SlotAddress(uint32_t slot) const {
    return address_ + (uint64_t{slot} << kLogStride);
  }

  Firmware& firmware_;
  Trace& trace_;
  uint64_t address_ = 0;  // 0: not set
};

}  // namespace vcx

#endif  // VCX_CORE_CMD_QUEUE_H_
