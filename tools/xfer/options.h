/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// options.h - the command line.
#ifndef VCX_TOOLS_XFER_OPTIONS_H_
#define VCX_TOOLS_XFER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace xfer {

enum class Op : uint8_t { kWrite, kWriteImm, kRead, kSend, kSendImm };

const char* OpName(Op op);
inline bool HasImm(Op op) { return op == Op::kWriteImm || op == Op::kSendImm; }
inline bool IsSend(Op op) { return op == Op::kSend || op == Op::kSendImm; }
// Does it take a work request from the responder's receive queue?
inline bool UsesReceive(Op op) { return IsSend(op) || op == Op::kWriteImm; }

// What is transferred; the client decides for both sides.
struct Traffic {
  std::vector<Op> ops;
  uint64_t bytes = 16 << 20;  // of all QPs together; each moves its share
  uint64_t rounds = 0;        // if not 0: so many rounds instead of bytes
  uint32_t max_size = 256 << 10;
  uint32_t fixed_size = 0;  // if fixed: every message has max_size
  uint32_t area = 0;        // bytes of a QP's source and of its target
  uint32_t qps = 1;
  uint32_t depth = 16;
  uint32_t sges = 4;
  uint32_t max_inline = 64;
  uint64_t seed = 1;
  uint32_t both = 0;   // every second QP is driven by the server
  uint32_t spoil = 0;  // damage a received byte before it is checked
};

std::string ToText(const Traffic& traffic);
Traffic TrafficFromText(const std::string& text);

enum class Role { kSelf, kServe, kClient };

struct Options {
  Role role = Role::kSelf;
  std::string peer;
  std::string device;  // the first one, when empty
  int port = 1;
  int gid_index = -1;  // -1: none on InfiniBand, a fitting one on Ethernet
  int mtu = 0;         // 0: the port's
  bool events = false;
  bool solicited = false;
  bool wr_api = false;
  int tcp_port = 18600;
  int timeout = 30;  // seconds without any progress
  Traffic traffic;
};

// Prints the help and exits, or throws UsageError, when it must.
Options ParseOptions(int argc, char** argv);

}  // namespace xfer

#endif  // VCX_TOOLS_XFER_OPTIONS_H_
