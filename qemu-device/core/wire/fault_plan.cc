/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "wire/fault_plan.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "wire/opcode.h"

namespace vcx {
namespace {

using std::string_view;

constexpr uint64_t Bit(unsigned i) { return uint64_t{1} << i; }

// Reliable packets by their opcode, acknowledgements by what they say, and all
// others together.
constexpr unsigned kNakBit = 32;
constexpr unsigned kRnrNakBit = 33;
constexpr unsigned kOtherBit = 34;

constexpr uint64_t kSends = Bit(kRcSendFirst) | Bit(kRcSendMiddle) |
                            Bit(kRcSendLast) | Bit(kRcSendLastImm) |
                            Bit(kRcSendOnly) | Bit(kRcSendOnlyImm);
constexpr uint64_t kWrites = Bit(kRcWriteFirst) | Bit(kRcWriteMiddle) |
                             Bit(kRcWriteLast) | Bit(kRcWriteLastImm) |
                             Bit(kRcWriteOnly) | Bit(kRcWriteOnlyImm);
constexpr uint64_t kReadResponses =
    Bit(kRcReadResponseFirst) | Bit(kRcReadResponseMiddle) |
    Bit(kRcReadResponseLast) | Bit(kRcReadResponseOnly);
constexpr uint64_t kAnswers =
    kReadResponses | Bit(kRcAck) | Bit(kNakBit) | Bit(kRnrNakBit);
constexpr uint64_t kAny = UINT64_MAX;

constexpr struct {
  string_view name;
  uint64_t packets;
} kPackets[] = {
    {"any", kAny},
    {"request", kSends | kWrites | Bit(kRcReadRequest)},
    {"answer", kAnswers},
    {"send", kSends},
    {"send-first", Bit(kRcSendFirst)},
    {"send-middle", Bit(kRcSendMiddle)},
    {"send-last", Bit(kRcSendLast)},
    {"send-last-imm", Bit(kRcSendLastImm)},
    {"send-only", Bit(kRcSendOnly)},
    {"send-only-imm", Bit(kRcSendOnlyImm)},
    {"write", kWrites},
    {"write-first", Bit(kRcWriteFirst)},
    {"write-middle", Bit(kRcWriteMiddle)},
    {"write-last", Bit(kRcWriteLast)},
    {"write-last-imm", Bit(kRcWriteLastImm)},
    {"write-only", Bit(kRcWriteOnly)},
    {"write-only-imm", Bit(kRcWriteOnlyImm)},
    {"read-request", Bit(kRcReadRequest)},
    {"read-response", kReadResponses},
    {"read-response-first", Bit(kRcReadResponseFirst)},
    {"read-response-middle", Bit(kRcReadResponseMiddle)},
    {"read-response-last", Bit(kRcReadResponseLast)},
    {"read-response-only", Bit(kRcReadResponseOnly)},
    {"ack", Bit(kRcAck)},
    {"nak", Bit(kNakBit)},
    {"rnr-nak", Bit(kRnrNakBit)},
};

constexpr struct {
  string_view name;
  FaultKind kind;
} kKinds[] = {
    {"drop", FaultKind::kDrop},         {"duplicate", FaultKind::kDuplicate},
    {"reorder", FaultKind::kReorder},   {"delay", FaultKind::kDelay},
    {"corrupt", FaultKind::kCorrupt},
};

constexpr struct {
  string_view unit;
  uint64_t ns;
} kUnits[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};

constexpr uint64_t kMaxOvertakers = 1000;
constexpr uint64_t kMaxDelayNs = 60'000'000'000;

// Takes the text up to one of these characters, which stays.
string_view TakeUntil(string_view* text, string_view stops) {
  const size_t end = std::min(text->find_first_of(stops), text->size());
  const string_view taken = text->substr(0, end);
  text->remove_prefix(end);
  return taken;
}

bool Take(string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

// A decimal number of at most 18 digits at the start of the text.
bool TakeNumber(string_view* text, uint64_t* value) {
  size_t digits = 0;
  *value = 0;
  for (; digits < text->size(); ++digits) {
    const char c = (*text)[digits];
    if (c < '0' || c > '9') break;
    if (digits == 18) return false;
    *value = *value * 10 + static_cast<uint64_t>(c - '0');
  }
  text->remove_prefix(digits);
  return digits != 0;
}

// "12", "0.1" or "0.000001" percent as a part of 2^32.
bool TakeRate(string_view* text, uint64_t* rate) {
  constexpr uint64_t kScale = 1'000'000;
  uint64_t whole, parts = 0;
  if (!TakeNumber(text, &whole) || whole > 100) return false;
  if (Take(text, '.')) {
    const size_t before = text->size();
    if (!TakeNumber(text, &parts)) return false;
    size_t digits = before - text->size();
    if (digits > 6) return false;
    for (; digits < 6; ++digits) parts *= 10;
  }
  if (!Take(text, '%')) return false;
  const uint64_t scaled = whole * kScale + parts;
  if (scaled == 0 || scaled > 100 * kScale) return false;
  *rate = (scaled << 32) / (100 * kScale);
  return true;
}

class Parser {
 public:
  Parser(char* error, size_t error_len)
      : error_(error), error_len_(error_len) {}

  bool Plan(string_view text, FaultPlan* plan) {
    if (text.empty()) return true;
    for (;;) {
      if (!Item(TakeUntil(&text, "+"), plan)) return false;
      if (!Take(&text, '+')) return true;
    }
  }

 private:
  bool Refuse(const char* what) {
    snprintf(error_, error_len_, "fault: '%.*s': %s",
             static_cast<int>(item_.size()), item_.data(), what);
    return false;
  }

  bool Item(string_view text, FaultPlan* plan) {
    item_ = text;
    const string_view kind = TakeUntil(&text, "@=#:");
    if (kind == "seed") {
      if (Take(&text, '=') && TakeNumber(&text, &plan->seed) && text.empty())
        return true;
      return Refuse("a seed is a whole number of at most 18 digits");
    }
    if (plan->num_rules == plan->rules.size())
      return Refuse("there are too many faults, 32 may be given");
    FaultRule& rule = plan->rules[plan->num_rules++];
    for (const auto& known : kKinds)
      if (kind == known.name) rule.kind = known.kind;
    if (rule.kind == FaultKind::kNone)
      return Refuse(
          "a fault begins with drop, duplicate, reorder, delay or corrupt");
    return Packets(&text, &rule) && Which(&text, &rule) &&
           Amount(&text, &rule);
  }

  bool Packets(string_view* text, FaultRule* rule) {
    rule->packets = kAny;
    if (!Take(text, '@')) return true;
    const string_view name = TakeUntil(text, "=#:");
    for (const auto& known : kPackets) {
      if (name != known.name) continue;
      rule->packets = known.packets;
      return true;
    }
    return Refuse(
        "after @ stands a kind of packet, such as write-first, read-response, "
        "ack, nak, rnr-nak, request or any");
  }

  bool Which(string_view* text, FaultRule* rule) {
    if (Take(text, '=')) {
      return TakeRate(text, &rule->rate) ||
             Refuse("a rate is a percentage above 0 and at most 100, with its "
                    "sign, such as 0.1%");
    }
    if (!Take(text, '#'))
      return Refuse("a rate (=0.1%) or a position (#3, #3-5) is missing");
    bool good = TakeNumber(text, &rule->first) && rule->first != 0;
    rule->last = rule->first;
    if (good && Take(text, '-'))
      good = TakeNumber(text, &rule->last) && rule->last >= rule->first;
    return good || Refuse("positions are counted from 1 and given as #3 or "
                          "#3-5");
  }

  bool Amount(string_view* text, FaultRule* rule) {
    if (text->empty()) return true;
    if (!Take(text, ':')) return Refuse("there is something after its end");
    uint64_t number;
    const bool has_number = TakeNumber(text, &number);
    if (rule->kind == FaultKind::kReorder) {
      if (!has_number || !text->empty() || number == 0 ||
          number > kMaxOvertakers)
        return Refuse("reorder takes how many packets overtake, 1 to 1000");
      rule->overtaken_by = static_cast<uint32_t>(number);
      return true;
    }
    if (rule->kind != FaultKind::kDelay)
      return Refuse("only reorder and delay take an amount");
    uint64_t unit = 0;
    for (const auto& known : kUnits)
      if (*text == known.unit) unit = known.ns;
    if (!has_number || unit == 0 || number == 0 || number > kMaxDelayNs / unit)
      return Refuse("delay takes a time of at most 60s, with its unit: ns, us, "
                    "ms or s");
    rule->delay_ns = number * unit;
    return true;
  }

  char* const error_;
  const size_t error_len_;
  string_view item_;
};

}  // namespace

uint64_t PacketBit(const Packet& packet) {
  if ((packet.opcode & kServiceMask) != kServiceRc) return Bit(kOtherBit);
  if (packet.opcode != kRcAck) return Bit(packet.opcode);
  switch (packet.syndrome & kAethCodeMask) {
    case kAethNak: return Bit(kNakBit);
    case kAethRnrNak: return Bit(kRnrNakBit);
    default: return Bit(kRcAck);
  }
}

bool ParseFaultPlan(const char* text, FaultPlan* plan, char* error,
                    size_t error_len) {
  *plan = {};
  return Parser(error, error_len).Plan(text == nullptr ? "" : text, plan);
}

}  // namespace vcx
