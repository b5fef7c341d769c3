/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// bar.h - BAR 0: the initialization segment, then UAR pages. (include/vcx/
// regs.h has the layout)
#ifndef VCX_CORE_MMIO_BAR_H_
#define VCX_CORE_MMIO_BAR_H_

#include <cstdint>
#include <unordered_map>

#include "cmd/queue.h"
#include "config.h"
#include "datapath/control.h"
#include "host.h"
#include "memory/dma.h"
#include "resource/objects.h"
#include "stats/counters.h"
#include "stats/trace.h"

namespace vcx {

class Bar {
 public:
  Bar(Host& host, const Limits& limits, const Dma& dma, const Objects& objects,
      CommandQueue& commands, Control& control, Counters& counters,
      Trace& trace);

  uint64_t bytes() const { return bytes_; }

  // As the PCI bus moves them: byte 0 of the access in bits 7..0.
  uint64_t Read(uint64_t offset, unsigned size);
  void Write(uint64_t offset, uint64_t value, unsigned size);

  void Reset() { first_halves_.clear(); }

 private:
  uint32_t ReadRegister(uint32_t offset, uint64_t now_ns) const;
  // False: no such register.
  bool WriteRegister(uint32_t offset, uint32_t value);
  void WriteUar(uint32_t page, uint32_t at, uint64_t value, unsigned size);
  void WriteUarHalf(uint32_t page, uint32_t at, uint32_t value);
  void Refuse(uint32_t page, uint32_t at, uint64_t value, uint64_t reason);
  void Unknown(uint64_t offset, unsigned size, uint64_t value, bool write);

  Host& host_;
  const uint64_t bytes_;
  const Dma& dma_;
  const Objects& objects_;
  CommandQueue& commands_;
  Control& control_;
  Counters& counters_;
  Trace& trace_;

  // First words of 8-byte doorbells whose second words are to come, by their
  // offset in the BAR. 32-bit software writes them one after the other; only
  // doorbell registers of allocated pages get here, which bounds the map.
  std::unordered_map<uint64_t, uint32_t> first_halves_;
};

}  // namespace vcx

#endif  // VCX_CORE_MMIO_BAR_H_
