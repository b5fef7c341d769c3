/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// verbs.h - the device, its completion queues, and what is needed to connect a
// queue pair. On an error everything is left to the end of the process, which
// the kernel must cope with; Close() is the tidy way, and checks each step.
#ifndef VCX_TOOLS_XFER_VERBS_H_
#define VCX_TOOLS_XFER_VERBS_H_

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <vector>

#include "xfer/options.h"

namespace xfer {

// Where a queue pair can be reached, and its memory.
struct Address {
  uint32_t qpn = 0;
  uint32_t psn = 0;
  uint16_t lid = 0;
  ibv_gid gid{};
  uint64_t source = 0;
  uint32_t source_rkey = 0;
  uint64_t target = 0;
  uint32_t target_rkey = 0;
};

std::string ToText(const Address& address);
Address AddressFromText(const std::string& text);

class Device {
 public:
  explicit Device(const Options& options);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  ibv_context* context() const { return context_; }
  ibv_pd* pd() const { return pd_; }
  const Options& options() const { return options_; }
  uint16_t lid() const { return port_.lid; }
  ibv_gid gid() const { return gid_; }
  const char* name() const { return ibv_get_device_name(context_->device); }

  // A completion queue, with events if the options say so. Receivers are woken
  // by solicited completions only, if the options say so.
  ibv_cq* MakeCq(uint32_t entries, bool for_receives);

  // To RTR with the peer's address, and to RTS.
  void Connect(ibv_qp* qp, const Address& self, const Address& peer) const;

  // Sleeps until some queue may have completions, a second at most. Without
  // events it returns at once.
  void Wait();

  // Up to `max` completions of any queue; how many there were.
  int Poll(ibv_wc* completions, int max);

  // Events that nobody expected, as text.
  std::string AsyncEvents() const;

  void Close();

 private:
  struct Queue {
    ibv_cq* cq;
    bool solicited_only;
    unsigned events;
  };

  void FindDevice();
  void FindGid();
  void Arm(Queue& queue);

  const Options& options_;
  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_port_attr port_{};
  ibv_gid gid_{};
  int gid_index_ = -1;
  std::vector<Queue> queues_;
  size_t next_queue_ = 0;
};

}  // namespace xfer

#endif  // VCX_TOOLS_XFER_VERBS_H_
