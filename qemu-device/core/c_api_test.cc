/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// vcx_core.h as a C host uses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vcx_core.h"

namespace vcx {
namespace {

using ::testing::HasSubstr;

struct CHost {
  int traces = 0;
  uint64_t now = 1'000'000'000;
};

vcx_host_ops Ops() {
  vcx_host_ops ops{};
  ops.version = VCX_CORE_API_VERSION;
  ops.dma_read = [](void*, uint64_t, void*, size_t) { return false; };
  ops.dma_write = [](void*, uint64_t, const void*, size_t) { return false; };
  ops.raise_msix = [](void*, unsigned) {};
  ops.now_ns = [](void* host) { return static_cast<CHost*>(host)->now; };
  ops.random = [](void*) -> uint64_t { return 4; };
  ops.set_timer = [](void*, uint64_t) {};
  ops.kick = [](void*) {};
  ops.trace = [](void* host, vcx_trace_point, const uint64_t*) {
    ++static_cast<CHost*>(host)->traces;
  };
  return ops;
}

vcx_core_config Config() {
  vcx_core_config config;
  vcx_core_config_init(&config);
  config.guid = 1;
  return config;
}

std::string ErrorOf(const vcx_core_config& config,
                    const vcx_host_ops& ops = Ops()) {
  CHost host;
  char error[256] = "";
  vcx_core* core = vcx_core_new(&config, &ops, &host, error, sizeof(error));
  if (core == nullptr) return error;
  vcx_core_free(core);
  return "";
}

TEST(CApiTest, DefaultsMakeADevice) { EXPECT_EQ(ErrorOf(Config()), ""); }

TEST(CApiTest, FaultPlanIsTakenOrRefusedWithItsSentence) {
  vcx_core_config config = Config();
  config.fault = "seed=3+drop=1%+corrupt@ack#2";
  EXPECT_EQ(ErrorOf(config), "");
  config.fault = "";
  EXPECT_EQ(ErrorOf(config), "");
  config.fault = "drop=1%+dorp=1%";
  EXPECT_THAT(ErrorOf(config), HasSubstr("fault: 'dorp=1%': a fault begins"));
}

TEST(CApiTest, LimitsAreNamedInTheRefusal) {
  const struct {
    const char* name;
    uint32_t vcx_core_config::*member;
    uint32_t min;
    uint32_t max;
  } limits[] = {
      {"num_vectors", &vcx_core_config::num_vectors, 1, 2048},
      {"max_qp", &vcx_core_config::max_qp, 1, 1u << 18},
      {"max_cq", &vcx_core_config::max_cq, 1, 1u << 20},
      {"max_srq", &vcx_core_config::max_srq, 1, 1u << 20},
      {"max_mr", &vcx_core_config::max_mr, 1, 1u << 22},
      {"max_pd", &vcx_core_config::max_pd, 1, 1u << 20},
      {"max_eq", &vcx_core_config::max_eq, 4, 128},
      {"max_uar", &vcx_core_config::max_uar, 1, 1u << 16},
      {"boot_pages", &vcx_core_config::boot_pages, 0, 1u << 16},
      {"init_pages", &vcx_core_config::init_pages, 0, 1u << 16},
  };
  for (const auto& limit : limits) {
    vcx_core_config config = Config();
    config.*limit.member = limit.min;
    EXPECT_EQ(ErrorOf(config), "") << limit.name;
    config.*limit.member = limit.max;
    EXPECT_EQ(ErrorOf(config), "") << limit.name;
    config.*limit.member = limit.max + 1;
    EXPECT_THAT(ErrorOf(config), HasSubstr(limit.name));
    EXPECT_THAT(ErrorOf(config), HasSubstr(std::to_string(limit.max)));
    if (limit.min == 0) continue;
    config.*limit.member = limit.min - 1;
    EXPECT_THAT(ErrorOf(config), HasSubstr(limit.name));
  }
}

TEST(CApiTest, OtherMembersAreNamedToo) {
  vcx_core_config config = Config();
  config.guid = 0;
  EXPECT_THAT(ErrorOf(config), HasSubstr("guid"));
  config = Config();
  config.lid = 0xbfff;
  EXPECT_EQ(ErrorOf(config), "");
  config.lid = 0xc000;
  EXPECT_THAT(ErrorOf(config), HasSubstr("lid"));
  for (const uint32_t mtu : {0u, 128u, 1500u, 8192u}) {
    config = Config();
    config.mtu_bytes = mtu;
    EXPECT_THAT(ErrorOf(config), HasSubstr("mtu"));
  }
  config = Config();
  config.version = VCX_CORE_API_VERSION + 1;
  EXPECT_THAT(ErrorOf(config), HasSubstr("version"));
}

TEST(CApiTest, EthernetIsRefusedPlainly) {
  vcx_core_config config = Config();
  config.link = VCX_LINK_ETH;
  EXPECT_THAT(ErrorOf(config), HasSubstr("Ethernet is not implemented"));
}

TEST(CApiTest, AHostMustGiveWhatIsNeeded) {
  vcx_host_ops ops = Ops();
  ops.version = 0;
  EXPECT_THAT(ErrorOf(Config(), ops), HasSubstr("version"));
  ops = Ops();
  ops.dma_read = nullptr;
  EXPECT_THAT(ErrorOf(Config(), ops), HasSubstr("dma_read"));
  ops = Ops();
  ops.kick = nullptr;
  EXPECT_THAT(ErrorOf(Config(), ops), HasSubstr("kick"));
  vcx_core_config wired = Config();
  wired.has_wire = true;
  EXPECT_THAT(ErrorOf(wired), HasSubstr("send_frame"));
  ops = Ops();
  ops.dma_map = [](void*, uint64_t, size_t*) -> const void* { return nullptr; };
  EXPECT_THAT(ErrorOf(Config(), ops), HasSubstr("dma_unmap"));
}

TEST(CApiTest, ALongSentenceIsCut) {
  vcx_core_config config = Config();
  config.max_qp = 0;
  const vcx_host_ops ops = Ops();
  char error[8] = "zzzzzzz";
  EXPECT_EQ(vcx_core_new(&config, &ops, nullptr, error, sizeof(error)),
            nullptr);
  EXPECT_STREQ(error, "max_qp ");
}

TEST(CApiTest, PassesEverythingOn) {
  CHost host;
  const vcx_core_config config = Config();
  const vcx_host_ops ops = Ops();
  char error[256];
  vcx_core* core = vcx_core_new(&config, &ops, &host, error, sizeof(error));
  ASSERT_NE(core, nullptr);
  EXPECT_EQ(vcx_core_bar_bytes(core), 8u << 20);
  EXPECT_EQ(vcx_core_bar_read(core, 4, 4), 0x00000500u);
  vcx_core_set_trace(core, UINT64_MAX);
  vcx_core_set_bus_master(core, true);
  vcx_core_bar_write(core, 0x18, UINT64_C(0x01000000), 4);
  EXPECT_GT(host.traces, 0);
  EXPECT_FALSE(vcx_core_run(core, 10));
  vcx_core_timer(core);
  vcx_core_wire_ready(core);
  vcx_core_set_link(core, false);
  const uint8_t frame[60] = {};
  vcx_core_receive(core, frame, sizeof(frame));
  vcx_core_reset(core, VCX_RESET_SYSTEM);
  EXPECT_GT(vcx_core_counters(core, nullptr, 0), 8u);
  vcx_core_free(core);
}

TEST(CApiTest, NamesOpcodes) {
  EXPECT_STREQ(vcx_core_opcode_name(0x500), "CREATE_QP");
  EXPECT_STREQ(vcx_core_opcode_name(0xfff), "UNKNOWN");
}

}  // namespace
}  // namespace vcx
