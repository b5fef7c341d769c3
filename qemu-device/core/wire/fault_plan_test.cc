/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The language of fault plans, and what is refused with which sentence.
#include "wire/fault_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace vcx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

FaultPlan Parse(const char* text) {
  FaultPlan plan;
  char error[256] = "";
  EXPECT_TRUE(ParseFaultPlan(text, &plan, error, sizeof(error))) << error;
  return plan;
}

std::string Refusal(const char* text) {
  FaultPlan plan;
  char error[256] = "";
  EXPECT_FALSE(ParseFaultPlan(text, &plan, error, sizeof(error))) << text;
  return error;
}

Packet WithOpcode(uint8_t opcode, uint8_t syndrome = 0) {
  Packet packet;
  packet.opcode = opcode;
  packet.syndrome = syndrome;
  return packet;
}

TEST(FaultPlanTest, NothingIsAPlanWithoutRules) {
  EXPECT_EQ(Parse(nullptr).num_rules, 0u);
  EXPECT_EQ(Parse("").num_rules, 0u);
  EXPECT_EQ(Parse("seed=5").num_rules, 0u);
  EXPECT_EQ(Parse("seed=5").seed, 5u);
}

TEST(FaultPlanTest, RulesKeepTheirOrder) {
  const FaultPlan plan = Parse("drop=1%+duplicate=2%+seed=9+corrupt=0.5%");
  ASSERT_EQ(plan.num_rules, 3u);
  EXPECT_EQ(plan.seed, 9u);
  EXPECT_EQ(plan.rules[0].kind, FaultKind::kDrop);
  EXPECT_EQ(plan.rules[1].kind, FaultKind::kDuplicate);
  EXPECT_EQ(plan.rules[2].kind, FaultKind::kCorrupt);
}

TEST(FaultPlanTest, RatesArePartsOfTwoToThe32) {
  EXPECT_EQ(Parse("drop=100%").rules[0].rate, uint64_t{1} << 32);
  EXPECT_EQ(Parse("drop=50%").rules[0].rate, uint64_t{1} << 31);
  EXPECT_EQ(Parse("drop=0.1%").rules[0].rate, 4294967u);
  EXPECT_EQ(Parse("drop=0.000001%").rules[0].rate, 42u);
}

TEST(FaultPlanTest, PositionsAreOneOrARange) {
  EXPECT_EQ(Parse("drop#3").rules[0].first, 3u);
  EXPECT_EQ(Parse("drop#3").rules[0].last, 3u);
  EXPECT_EQ(Parse("drop#3-7").rules[0].last, 7u);
  EXPECT_EQ(Parse("drop#3-7").rules[0].rate, 0u);
}

TEST(FaultPlanTest, Amounts) {
  EXPECT_EQ(Parse("reorder=5%").rules[0].overtaken_by, 1u);
  EXPECT_EQ(Parse("reorder=5%:4").rules[0].overtaken_by, 4u);
  EXPECT_EQ(Parse("delay=5%").rules[0].delay_ns, 1'000'000u);
  EXPECT_EQ(Parse("delay#1:7ns").rules[0].delay_ns, 7u);
  EXPECT_EQ(Parse("delay#1:200us").rules[0].delay_ns, 200'000u);
  EXPECT_EQ(Parse("delay#1:60s").rules[0].delay_ns, 60'000'000'000u);
}

TEST(FaultPlanTest, EveryKindOfPacketHasItsName) {
  const struct {
    const char* name;
    uint8_t opcode;
    uint8_t syndrome;
  } kinds[] = {
      {"send-first", kRcSendFirst, 0},
      {"send-middle", kRcSendMiddle, 0},
      {"send-last", kRcSendLast, 0},
      {"send-last-imm", kRcSendLastImm, 0},
      {"send-only", kRcSendOnly, 0},
      {"send-only-imm", kRcSendOnlyImm, 0},
      {"write-first", kRcWriteFirst, 0},
      {"write-middle", kRcWriteMiddle, 0},
      {"write-last", kRcWriteLast, 0},
      {"write-last-imm", kRcWriteLastImm, 0},
      {"write-only", kRcWriteOnly, 0},
      {"write-only-imm", kRcWriteOnlyImm, 0},
      {"read-request", kRcReadRequest, 0},
      {"read-response-first", kRcReadResponseFirst, 0},
      {"read-response-middle", kRcReadResponseMiddle, 0},
      {"read-response-last", kRcReadResponseLast, 0},
      {"read-response-only", kRcReadResponseOnly, 0},
      {"ack", kRcAck, kAethNoCredits},
      {"nak", kRcAck, kNakSequence},
      {"rnr-nak", kRcAck, kAethRnrNak | 5},
  };
  uint64_t seen = 0;
  for (const auto& kind : kinds) {
    const uint64_t bit = PacketBit(WithOpcode(kind.opcode, kind.syndrome));
    EXPECT_EQ(seen & bit, 0u) << kind.name;
    seen |= bit;
    const std::string text = std::string("drop@") + kind.name + "#1";
    EXPECT_EQ(Parse(text.c_str()).rules[0].packets, bit) << kind.name;
  }
  EXPECT_EQ(Parse("drop@request#1").rules[0].packets |
                Parse("drop@answer#1").rules[0].packets,
            seen);
  EXPECT_EQ(Parse("drop@any#1").rules[0].packets, UINT64_MAX);
}

TEST(FaultPlanTest, RefusalsNameTheItemAndTheReason) {
  const struct {
    const char* text;
    const char* item;
    const char* reason;
  } refusals[] = {
      {"dorp=1%", "'dorp=1%'", "begins with drop, duplicate"},
      {"drop=1%+", "''", "begins with drop"},
      {"+drop=1%", "''", "begins with drop"},
      {"drop=1%+lose#2", "'lose#2'", "begins with drop"},
      {"drop", "'drop'", "a rate (=0.1%) or a position"},
      {"drop=", "'drop='", "percentage"},
      {"drop=1", "'drop=1'", "percentage"},
      {"drop=0%", "'drop=0%'", "percentage"},
      {"drop=100.1%", "'drop=100.1%'", "percentage"},
      {"drop=101%", "'drop=101%'", "percentage"},
      {"drop=0.0000001%", "'drop=0.0000001%'", "percentage"},
      {"drop=-1%", "'drop=-1%'", "percentage"},
      {"drop=.5%", "'drop=.5%'", "percentage"},
      {"drop=1%x", "'drop=1%x'", "after its end"},
      {"drop#0", "'drop#0'", "counted from 1"},
      {"drop#5-4", "'drop#5-4'", "counted from 1"},
      {"drop#", "'drop#'", "counted from 1"},
      {"drop#9999999999999999999", "'drop#9999999999999999999'", "from 1"},
      {"drop@nothing=1%", "'drop@nothing=1%'", "kind of packet"},
      {"drop=1%:2", "'drop=1%:2'", "only reorder and delay"},
      {"reorder=1%:0", "'reorder=1%:0'", "1 to 1000"},
      {"reorder=1%:1001", "'reorder=1%:1001'", "1 to 1000"},
      {"reorder=1%:2ms", "'reorder=1%:2ms'", "1 to 1000"},
      {"delay=1%:5", "'delay=1%:5'", "its unit"},
      {"delay=1%:61s", "'delay=1%:61s'", "its unit"},
      {"delay=1%:0ms", "'delay=1%:0ms'", "its unit"},
      {"delay=1%:ms", "'delay=1%:ms'", "its unit"},
      {"seed", "'seed'", "whole number"},
      {"seed=", "'seed='", "whole number"},
      {"seed=x", "'seed=x'", "whole number"},
      {"seed=1 ", "'seed=1 '", "whole number"},
  };
  for (const auto& refusal : refusals)
    EXPECT_THAT(Refusal(refusal.text),
                AllOf(StartsWith("fault: "), HasSubstr(refusal.item),
                      HasSubstr(refusal.reason)))
        << refusal.text;
}

TEST(FaultPlanTest, ThirtyTwoRulesAndNoMore) {
  std::string text = "drop#1";
  for (int i = 1; i < 32; ++i) text += "+drop#1";
  EXPECT_EQ(Parse(text.c_str()).num_rules, 32u);
  EXPECT_THAT(Refusal((text + "+drop#1").c_str()), HasSubstr("too many"));
}

TEST(FaultPlanTest, SentenceIsCutToTheRoomForIt) {
  FaultPlan plan;
  char error[12];
  EXPECT_FALSE(ParseFaultPlan("dorp", &plan, error, sizeof(error)));
  EXPECT_STREQ(error, "fault: 'dor");
}

}  // namespace
}  // namespace vcx
