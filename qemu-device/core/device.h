/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// device.h - one HCA: owns every part, in the order in which they depend on
// each other, and passes on what comes from outside.
//
//   registers -> Bar -> CommandQueue -> Firmware -> Objects
//                 |                        |
//                 +------> Control <-------+     (implemented by the pipeline)
//   frames, timers, device thread -> Pipeline -> Dma, Port, Objects, Host
//
// While bus mastering is off nothing of this moves: there is no memory access
// and no interrupt, and what arrives is dropped.
#ifndef VCX_CORE_DEVICE_H_
#define VCX_CORE_DEVICE_H_

#include <cstddef>
#include <cstdint>

#include "cmd/firmware.h"
#include "cmd/queue.h"
#include "config.h"
#include "datapath/pipeline.h"
#include "host.h"
#include "memory/dma.h"
#include "mmio/bar.h"
#include "port/port.h"
#include "resource/objects.h"
#include "stats/counters.h"
#include "stats/trace.h"
#include "timer.h"
#include "wire/fault_plan.h"

namespace vcx {

class Device {
 public:
  // The configuration was checked; the host outlives the device.
  Device(const vcx_core_config& config, Host& host);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  uint64_t bar_bytes() const { return bar_.bytes(); }
  uint64_t BarRead(uint64_t offset, unsigned size);
  void BarWrite(uint64_t offset, uint64_t value, unsigned size);

  // True when work remains that can go on now.
  bool Run(uint32_t budget);
  void TimerFired();
  // `more`: others arrive now, and Run() follows them.
  void Receive(const uint8_t* frame, size_t len, bool more = false);
  void WireReady();
  void SetLink(bool up);

  void Reset(vcx_reset_reason reason);
  void SetBusMaster(bool enabled);
  void SetTrace(uint64_t mask) { trace_.set_mask(mask); }
  void FailCommand(uint32_t nth) { firmware_.commands_to_fault = nth; }

  // Writes at most max counters, object counts first; returns how many there
  // are.
  size_t ReadCounters(vcx_core_counter* out, size_t max) const;

  // For tests and tools: what is inside.
  const Objects& objects() const { return objects_; }
  const Counters& counters() const { return counters_; }
  Pipeline& pipeline() { return pipeline_; }

 private:
  const vcx_core_config config_;
  const Limits limits_;
  Host& host_;
  Counters counters_;
  Trace trace_;
  Dma dma_;
  TimerQueue timers_;
  Objects objects_;
  Port port_;
  FaultPlan faults_;
  Pipeline pipeline_;
  Firmware firmware_;
  CommandQueue commands_;
  Bar bar_;
};

}  // namespace vcx

#endif  // VCX_CORE_DEVICE_H_
