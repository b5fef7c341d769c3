/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// firmware.h - what the command handlers work on: the device's parts, and the
// state that exists only because of commands.
//
// A handler checks everything before its first side effect, so a refused
// command leaves no trace and needs no unwinding.
#ifndef VCX_CORE_CMD_FIRMWARE_H_
#define VCX_CORE_CMD_FIRMWARE_H_

#include <array>
#include <cstdint>
#include <span>

#include "cmd/page_supply.h"
#include "config.h"
#include "datapath/control.h"
#include "memory/dma.h"
#include "port/port.h"
#include "resource/objects.h"
#include "stats/counters.h"
#include "stats/trace.h"
#include "vcx/cap.h"
#include "vcx/syndrome.h"

namespace vcx {

// VCX_CMD_ACCEPTED, or the check that refused the command. The status of the
// output follows from it.
using CmdVerdict = vcx_cmd_syndrome;

// What a command brings and takes besides the structures of cmd_layout.h.
struct Call {
  uint16_t op_mod = 0;
  std::span<const uint8_t> list;  // input after the structure
  std::span<uint8_t> room;        // output after the structure, zeroed
};

enum class HcaState : uint8_t {
  kDisabled,     // until ENABLE_HCA
  kEnabled,      // until INIT_HCA, and again after TEARDOWN_HCA
  kInitialized,  // objects can exist
};

// Bounds what a guest can make the device remember in lists of page addresses:
// this many addresses over all queues and memory keys. Enough for 128 GiB of
// registered 4 KiB pages, at most 256 MiB of host memory.
class PageListBudget {
 public:
  bool Fits(uint64_t addresses) const { return addresses <= left_; }
  void Take(uint64_t addresses) { left_ -= addresses; }
  void GiveBack(uint64_t addresses) { left_ += addresses; }
  void Reset() { left_ = kAddresses; }

 private:
  static constexpr uint64_t kAddresses = uint64_t{1} << 25;
  uint64_t left_ = kAddresses;
};

struct Firmware {
  Firmware(const vcx_core_config& config, const Limits& limits, Dma& dma,
           Objects& objects, Port& port, Control& control, Counters& counters,
           const Trace& trace);

  // As after power-on. The data path has forgotten the objects already.
  void Reset();

  // TEARDOWN_HCA: the data path forgets all objects, then they go.
  void DropObjects();

  const vcx_core_config& config;
  const Limits& limits;
  Dma& dma;
  Objects& objects;
  Port& port;
  Control& control;
  Counters& counters;
  const Trace& trace;

  HcaState state = HcaState::kDisabled;
  uint16_t issi = 0;
  PageSupply pages;
  PageListBudget page_lists;
  vcx_hca_cap cap_max;
  vcx_hca_cap cap_current;
  uint8_t host_endianness = 0;
  std::array<uint8_t, VCX_NODE_DESC_BYTES> node_desc{};

  // Tests only: how many commands until one is refused; 0: none is.
  uint32_t commands_to_fault = 0;
};

}  // namespace vcx

#endif  // VCX_CORE_CMD_FIRMWARE_H_
