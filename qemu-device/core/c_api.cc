/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// vcx_core.h over class Device.
#include <cstdio>

#include "cmd/dispatch.h"
#include "device.h"
#include "vcx_core.h"

namespace vcx {
namespace {

// A host that is a table of C functions.
class CallbackHost final : public Host {
 public:
  CallbackHost(const vcx_host_ops& ops, void* host) : ops_(ops), host_(host) {}

  bool DmaRead(uint64_t addr, void* buf, size_t len) override {
    return ops_.dma_read(host_, addr, buf, len);
  }
  bool DmaWrite(uint64_t addr, const void* buf, size_t len) override {
    return ops_.dma_write(host_, addr, buf, len);
  }
  bool DmaWriteEntries(uint64_t addr, const void* entries,
                       size_t count) override {
    if (ops_.dma_write_entries == nullptr)
      return Host::DmaWriteEntries(addr, entries, count);
    return ops_.dma_write_entries(host_, addr, entries, count);
  }
  const void* DmaMap(uint64_t addr, size_t* len) override {
    if (ops_.dma_map == nullptr) return nullptr;
    return ops_.dma_map(host_, addr, len);
  }
  void DmaUnmap(const void* ptr, size_t len) override {
    ops_.dma_unmap(host_, ptr, len);
  }
  void RaiseMsix(unsigned vector) override { ops_.raise_msix(host_, vector); }
  uint64_t NowNs() override { return ops_.now_ns(host_); }
  uint64_t Random() override { return ops_.random(host_); }
  void SetTimer(uint64_t deadline_ns) override {
    ops_.set_timer(host_, deadline_ns);
  }
  void Kick() override { ops_.kick(host_); }
  bool SendFrame(const void* frame, size_t len) override {
    return ops_.send_frame(host_, frame, len);
  }
  void Trace(vcx_trace_point point, const uint64_t args[4]) override {
    if (ops_.trace != nullptr) ops_.trace(host_, point, args);
  }

 private:
  const vcx_host_ops ops_;
  void* const host_;
};

bool CheckOps(const vcx_host_ops& ops, bool has_wire, char* error,
              size_t error_len) {
  if (ops.version != VCX_CORE_API_VERSION) {
    snprintf(error, error_len, "version of the host is %u, this core has %d",
             ops.version, VCX_CORE_API_VERSION);
    return false;
  }
  const struct {
    const char* name;
    bool missing;
  } members[] = {
      {"dma_read", ops.dma_read == nullptr},
      {"dma_write", ops.dma_write == nullptr},
      {"dma_unmap", ops.dma_map != nullptr && ops.dma_unmap == nullptr},
      {"raise_msix", ops.raise_msix == nullptr},
      {"now_ns", ops.now_ns == nullptr},
      {"random", ops.random == nullptr},
      {"set_timer", ops.set_timer == nullptr},
      {"kick", ops.kick == nullptr},
      {"send_frame", has_wire && ops.send_frame == nullptr},
  };
  for (const auto& member : members) {
    if (!member.missing) continue;
    snprintf(error, error_len, "the host gives no %s", member.name);
    return false;
  }
  return true;
}

bool CheckFaultPlan(const char* text, char* error, size_t error_len) {
  FaultPlan plan;
  return ParseFaultPlan(text, &plan, error, error_len);
}

}  // namespace
}  // namespace vcx

struct vcx_core {
  vcx_core(const vcx_core_config& config, const vcx_host_ops& ops, void* opaque)
      : host(ops, opaque), device(config, host) {}

  vcx::CallbackHost host;
  vcx::Device device;
};

void vcx_core_config_init(vcx_core_config* config) { vcx::InitConfig(config); }

vcx_core* vcx_core_new(const vcx_core_config* config, const vcx_host_ops* ops,
                       void* host, char* error, size_t error_len) {
  if (!vcx::CheckConfig(*config, error, error_len) ||
      !vcx::CheckFaultPlan(config->fault, error, error_len) ||
      !vcx::CheckOps(*ops, config->has_wire, error, error_len))
    return nullptr;
  return new vcx_core(*config, *ops, host);
}

void vcx_core_free(vcx_core* core) { delete core; }

uint64_t vcx_core_bar_bytes(const vcx_core* core) {
  return core->device.bar_bytes();
}

uint64_t vcx_core_bar_read(vcx_core* core, uint64_t offset, unsigned size) {
  return core->device.BarRead(offset, size);
}

void vcx_core_bar_write(vcx_core* core, uint64_t offset, uint64_t value,
                        unsigned size) {
  core->device.BarWrite(offset, value, size);
}

bool vcx_core_run(vcx_core* core, uint32_t budget) {
  return core->device.Run(budget);
}

void vcx_core_timer(vcx_core* core) { core->device.TimerFired(); }

void vcx_core_receive(vcx_core* core, const void* frame, size_t len) {
  core->device.Receive(static_cast<const uint8_t*>(frame), len);
}

void vcx_core_receive_one_of(vcx_core* core, const void* frame, size_t len) {
  core->device.Receive(static_cast<const uint8_t*>(frame), len, true);
}

void vcx_core_wire_ready(vcx_core* core) { core->device.WireReady(); }

void vcx_core_set_link(vcx_core* core, bool up) { core->device.SetLink(up); }

void vcx_core_reset(vcx_core* core, vcx_reset_reason reason) {
  core->device.Reset(reason);
}

void vcx_core_set_bus_master(vcx_core* core, bool enabled) {
  core->device.SetBusMaster(enabled);
}

void vcx_core_set_trace(vcx_core* core, uint64_t mask) {
  core->device.SetTrace(mask);
}

void vcx_core_fail_command(vcx_core* core, uint32_t nth) {
  core->device.FailCommand(nth);
}

const char* vcx_core_opcode_name(uint16_t opcode) {
  return vcx::OpcodeName(opcode);
}

size_t vcx_core_counters(const vcx_core* core, vcx_core_counter* out,
                         size_t max) {
  return core->device.ReadCounters(out, max);
}
