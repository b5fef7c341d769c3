/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// command_port.h - the driver's side of the command queue, for tests.
//
//   CommandPort port(host, device);
//   port.Attach();                               // queue memory, its address
//   Input<vcx_number_in> in = MakeInput<vcx_number_in>(VCX_CMD_ALLOC_PD);
//   const Reply reply = port.Execute(in, sizeof(vcx_number_out));
//   EXPECT_EQ(reply.syndrome, VCX_CMD_ACCEPTED);
//   reply.As<vcx_number_out>().number.get();
//
// Execute() is Post(), Ring(), Collect() on slot 0; a test that wants several
// slots at once, or lies in entry or mailboxes, calls these itself and tampers
// with host memory in between (EntryAddress(), mailboxes).
#ifndef VCX_CORE_TESTING_COMMAND_PORT_H_
#define VCX_CORE_TESTING_COMMAND_PORT_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "device.h"
#include "testing/fake_host.h"
#include "vcx/cmd_layout.h"
#include "vcx/syndrome.h"

namespace vcx {

// A command's structure, and the addresses that it goes on with.
template <class T>
struct Input {
  T fixed{};
  std::vector<uint64_t> list;
  std::vector<uint8_t> tail;  // instead of a list: registers

  std::vector<uint8_t> Bytes() const {
    std::vector<uint8_t> bytes(sizeof(T) + list.size() * sizeof(vcx_be64));
    std::memcpy(bytes.data(), &fixed, sizeof(T));
    auto* to = bytes.data() + sizeof(T);
    for (const uint64_t address : list) {
      const vcx_be64 be(address);
      std::memcpy(to, &be, sizeof(be));
      to += sizeof(be);
    }
    bytes.insert(bytes.end(), tail.begin(), tail.end());
    return bytes;
  }
};

template <class T>
Input<T> MakeInput(uint16_t opcode, uint16_t op_mod = 0) {
  Input<T> in;
  in.fixed.hdr.opcode = opcode;
  in.fixed.hdr.op_mod = op_mod;
  return in;
}

struct Reply {
  bool completed = false;  // the owner bit is clear
  uint8_t delivery = 0;    // enum vcx_cmd_delivery
  uint8_t status = 0;      // enum vcx_cmd_status
  uint32_t syndrome = 0;   // enum vcx_cmd_syndrome
  std::vector<uint8_t> out;

  bool ok() const {
    return completed && delivery == VCX_DELIVERY_OK && status == VCX_STATUS_OK;
  }
  template <class T>
  T As() const {
    T value{};
    std::memcpy(static_cast<void*>(&value), out.data(),
                std::min(out.size(), sizeof(T)));
    return value;
  }
  // Address or other word i behind a structure of `fixed` bytes.
  uint64_t ListAt(size_t fixed, size_t i) const {
    vcx_be64 be;
    std::memcpy(&be, &out[fixed + i * sizeof(be)], sizeof(be));
    return be.get();
  }
};

class CommandPort {
 public:
  static constexpr uint32_t kSlots = 1u << CommandQueue::kLogSlots;

  CommandPort(FakeHost& host, Device& device) : host_(host), device_(device) {}

  // Gives the device a fresh command queue.
  void Attach();

  // Writes entry and mailboxes of a slot; nothing happens before Ring().
  void Post(uint32_t slot, const std::vector<uint8_t>& in, size_t out_bytes);
  void Ring(uint32_t slots);
  Reply Collect(uint32_t slot);

  Reply Execute(const std::vector<uint8_t>& in, size_t out_bytes) {
    Post(0, in, out_bytes);
    Ring(1);
    return Collect(0);
  }
  template <class T>
  Reply Execute(const Input<T>& in, size_t out_bytes) {
    return Execute(in.Bytes(), out_bytes);
  }

  uint64_t EntryAddress(uint32_t slot) const {
    return queue_ + slot * sizeof(vcx_cmd_entry);
  }
  const std::vector<uint64_t>& in_mailboxes(uint32_t slot) const {
    return slots_[slot].in;
  }
  const std::vector<uint64_t>& out_mailboxes(uint32_t slot) const {
    return slots_[slot].out;
  }

  // Registers of the initialization segment.
  uint32_t ReadRegister(uint64_t offset);
  void WriteRegister(uint64_t offset, uint32_t value);

 private:
  struct Slot {
    std::vector<uint64_t> in;   // mailbox addresses; reused, may be longer
    std::vector<uint64_t> out;  // than the last command needed
    size_t out_bytes = 0;
  };

  uint64_t WriteChain(std::vector<uint64_t>& chain, const uint8_t* data,
                      size_t bytes, uint8_t token);

  FakeHost& host_;
  Device& device_;
  uint64_t queue_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  uint8_t token_ = 0;
};

}  // namespace vcx

#endif  // VCX_CORE_TESTING_COMMAND_PORT_H_
