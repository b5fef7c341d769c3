/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "config.h"

#include <bit>
#include <cinttypes>
#include <cstdio>

namespace vcx {
namespace {

struct Count {
  const char* name;
  uint32_t vcx_core_config::*member;
  uint32_t initial;
  uint32_t min;
  uint32_t max;
};

// Bounds come from the widths of numbers and capability fields, and from what
// stock drivers need: at least a command, an asynchronous, a page and a
// completion EQ; log_max_qp at most 18. Tables grow as they are used, so large
// limits cost nothing.
constexpr Count kCounts[] = {
    {"num_vectors", &vcx_core_config::num_vectors, 64, 1, 2048},
    {"max_qp", &vcx_core_config::max_qp, 1u << 16, 1, 1u << 18},
    {"max_cq", &vcx_core_config::max_cq, 1u << 16, 1, 1u << 20},
    {"max_srq", &vcx_core_config::max_srq, 1u << 15, 1, 1u << 20},
    {"max_mr", &vcx_core_config::max_mr, 1u << 20, 1, 1u << 22},
    {"max_pd", &vcx_core_config::max_pd, 1u << 16, 1, 1u << 20},
    {"max_eq", &vcx_core_config::max_eq, 128, 4, 128},
    {"max_uar", &vcx_core_config::max_uar, 1024, 1, 1u << 16},
    {"boot_pages", &vcx_core_config::boot_pages, 0, 0, 1u << 16},
    {"init_pages", &vcx_core_config::init_pages, 0, 0, 1u << 16},
};

constexpr uint32_t kMinMtu = 256;
constexpr uint32_t kMaxMtu = 4096;
// 15 of the largest MTU, so that the frame fits into a UDP datagram too.
constexpr uint32_t kMaxPayload = 15 * kMaxMtu;
constexpr uint16_t kLastUnicastLid = 0xbfff;

uint8_t Log2Up(uint32_t count) {
  return static_cast<uint8_t>(std::bit_width(count - 1));
}

}  // namespace

void InitConfig(vcx_core_config* config) {
  *config = {};
  config->version = VCX_CORE_API_VERSION;
  config->link = VCX_LINK_IB;
  config->mtu_bytes = kMaxMtu;
  config->max_payload_bytes = kMaxPayload;
  for (const Count& count : kCounts) config->*count.member = count.initial;
}

bool CheckConfig(const vcx_core_config& config, char* error, size_t error_len) {
  if (config.version != VCX_CORE_API_VERSION) {
    snprintf(error, error_len, "version is %" PRIu32 ", this core has %d",
             config.version, VCX_CORE_API_VERSION);
    return false;
  }
  if (config.link != VCX_LINK_IB) {
    snprintf(error, error_len,
             "link: Ethernet is not implemented, only InfiniBand is");
    return false;
  }
  if (config.guid == 0) {
    snprintf(error, error_len, "guid must not be zero");
    return false;
  }
  if (config.lid > kLastUnicastLid) {
    snprintf(error, error_len,
             "lid is 0x%x, it must be at most 0x%x (0: derived from the guid)",
             config.lid, kLastUnicastLid);
    return false;
  }
  if (!std::has_single_bit(config.mtu_bytes) || config.mtu_bytes < kMinMtu ||
      config.mtu_bytes > kMaxMtu) {
    snprintf(error, error_len,
             "mtu_bytes is %" PRIu32
             ", it must be 256, 512, 1024, 2048 or 4096",
             config.mtu_bytes);
    return false;
  }
  if (config.max_payload_bytes < kMinMtu ||
      config.max_payload_bytes > kMaxPayload) {
    snprintf(error, error_len,
             "max_payload_bytes is %" PRIu32
             ", it must be from %" PRIu32 " to %" PRIu32,
             config.max_payload_bytes, kMinMtu, kMaxPayload);
    return false;
  }
  for (const Count& count : kCounts) {
    const uint32_t value = config.*count.member;
    if (value >= count.min && value <= count.max) continue;
    snprintf(error, error_len,
             "%s is %" PRIu32 ", it must be from %" PRIu32 " to %" PRIu32,
             count.name, value, count.min, count.max);
    return false;
  }
  return true;
}

Limits LimitsFromConfig(const vcx_core_config& config) {
  return {
      .log_max_qp = Log2Up(config.max_qp),
      .log_max_cq = Log2Up(config.max_cq),
      .log_max_srq = Log2Up(config.max_srq),
      .log_max_mkey = Log2Up(config.max_mr),
      .log_max_pd = Log2Up(config.max_pd),
      .log_max_eq = Log2Up(config.max_eq),
      .log_max_uar = Log2Up(config.max_uar),
  };
}

}  // namespace vcx
