/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Every kind of packet with lies in every field of its headers, its length and
// its opcode, with checksums that fit. Whatever comes, each frame is accounted
// for, each send has one completion, only memory that was meant is written, and
// both devices go on.
#include <cstring>
#include <functional>
#include <string>

#include "testing/traffic_test.h"
#include "wire/crc.h"
#include "wire/headers.h"

namespace vcx {
namespace {

using ::testing::ElementsAre;

constexpr size_t kEth = 14;
constexpr size_t kBth = kEth + kLrhBytes;
constexpr size_t kExtended = kBth + kBthBytes;

// Makes the length and both checksums right again after a change.
void Seal(Frame& frame) {
  uint8_t* lrh = &frame[kEth];
  const size_t bytes = frame.size() - kEth - kVcrcBytes;
  const uint32_t icrc = InvariantCrc(lrh, bytes - kIcrcBytes, false);
  for (size_t i = 0; i < kIcrcBytes; ++i)
    lrh[bytes - kIcrcBytes + i] = static_cast<uint8_t>(icrc >> (8 * i));
  const uint16_t vcrc = VariantCrc(lrh, bytes);
  lrh[bytes] = static_cast<uint8_t>(vcrc);
  lrh[bytes + 1] = static_cast<uint8_t>(vcrc >> 8);
}

// Cuts or adds payload bytes (a multiple of four), LRH length included.
void Resize(Frame& frame, int by) {
  const size_t trailer = kIcrcBytes + kVcrcBytes;
  if (by > 0)
    frame.insert(frame.end() - trailer, static_cast<size_t>(by), 0x77);
  else
    frame.erase(frame.end() - trailer + by, frame.end() - trailer);
  const size_t words = (frame.size() - kEth - kVcrcBytes) / 4;
  frame[kEth + 4] = static_cast<uint8_t>(words >> 8);
  frame[kEth + 5] = static_cast<uint8_t>(words);
}

// How a kind of packet comes about.
struct Kind {
  const char* name;
  uint8_t wqe;      // the operation that brings it
  uint32_t bytes;   // of the message; the MTU is 256
  bool from_a;
  uint8_t opcode;   // of the packet
  uint8_t code;     // of the AETH, for acknowledgements
};

constexpr uint32_t kLong = 700;  // three packets
constexpr uint32_t kShort = 100;

constexpr Kind kKinds[] = {
    {"SendFirst", VCX_WQE_SEND, kLong, true, kRcSendFirst, 0},
    {"SendMiddle", VCX_WQE_SEND, kLong, true, kRcSendMiddle, 0},
    {"SendLast", VCX_WQE_SEND, kLong, true, kRcSendLast, 0},
    {"SendLastImm", VCX_WQE_SEND_IMM, kLong, true, kRcSendLastImm, 0},
    {"SendOnly", VCX_WQE_SEND, kShort, true, kRcSendOnly, 0},
    {"SendOnlyImm", VCX_WQE_SEND_IMM, kShort, true, kRcSendOnlyImm, 0},
    {"WriteFirst", VCX_WQE_RDMA_WRITE, kLong, true, kRcWriteFirst, 0},
    {"WriteMiddle", VCX_WQE_RDMA_WRITE, kLong, true, kRcWriteMiddle, 0},
    {"WriteLast", VCX_WQE_RDMA_WRITE, kLong, true, kRcWriteLast, 0},
    {"WriteLastImm", VCX_WQE_RDMA_WRITE_IMM, kLong, true, kRcWriteLastImm, 0},
    {"WriteOnly", VCX_WQE_RDMA_WRITE, kShort, true, kRcWriteOnly, 0},
    {"WriteOnlyImm", VCX_WQE_RDMA_WRITE_IMM, kShort, true, kRcWriteOnlyImm, 0},
    {"ReadRequest", VCX_WQE_RDMA_READ, kLong, true, kRcReadRequest, 0},
    {"ReadResponseFirst", VCX_WQE_RDMA_READ, kLong, false,
     kRcReadResponseFirst, 0},
    {"ReadResponseMiddle", VCX_WQE_RDMA_READ, kLong, false,
     kRcReadResponseMiddle, 0},
    {"ReadResponseLast", VCX_WQE_RDMA_READ, kLong, false, kRcReadResponseLast,
     0},
    {"ReadResponseOnly", VCX_WQE_RDMA_READ, kShort, false, kRcReadResponseOnly,
     0},
    {"Ack", VCX_WQE_RDMA_WRITE, kLong, false, kRcAck, kAethAck},
    {"Nak", VCX_WQE_RDMA_WRITE, kLong, false, kRcAck, kAethNak},
    {"RnrNak", VCX_WQE_SEND, kLong, false, kRcAck, kAethRnrNak},
};

struct Field {
  const char* name;
  size_t at;
  size_t bytes;
};

std::vector<Field> FieldsOf(uint8_t opcode) {
  std::vector<Field> fields = {
      {"LRH VL, version", kEth, 1},     {"LRH SL, next header", kEth + 1, 1},
      {"LRH DLID", kEth + 2, 2},        {"LRH length", kEth + 4, 2},
      {"LRH SLID", kEth + 6, 2},        {"BTH opcode", kBth, 1},
      {"BTH SE, M, pad, version", kBth + 1, 1}, {"BTH P_Key", kBth + 2, 2},
      {"BTH reserved", kBth + 4, 1},    {"BTH QP", kBth + 5, 3},
      {"BTH A", kBth + 8, 1},           {"BTH PSN", kBth + 9, 3},
  };
  const OpcodeInfo& info = GetOpcodeInfo(opcode);
  size_t at = kExtended;
  if (info.reth) {
    fields.push_back({"RETH address", at, 8});
    fields.push_back({"RETH key", at + 8, 4});
    fields.push_back({"RETH length", at + 12, 4});
    at += kRethBytes;
  }
  if (info.aeth) {
    fields.push_back({"AETH syndrome", at, 1});
    fields.push_back({"AETH MSN", at + 1, 3});
    at += kAethBytes;
  }
  if (info.imm) fields.push_back({"immediate", at, 4});
  return fields;
}

// What to make of a number of so many bytes.
constexpr struct {
  const char* name;
  uint64_t (*of)(uint64_t);
} kValues[] = {
    {"zero", [](uint64_t) -> uint64_t { return 0; }},
    {"ones", [](uint64_t) -> uint64_t { return UINT64_MAX; }},
    {"one more", [](uint64_t v) -> uint64_t { return v + 1; }},
    {"one less", [](uint64_t v) -> uint64_t { return v - 1; }},
    {"inverted", [](uint64_t v) -> uint64_t { return ~v; }},
    {"half", [](uint64_t v) -> uint64_t { return v / 2; }},
};

void Change(Frame& frame, const Field& field, uint64_t (*of)(uint64_t)) {
  uint64_t value = 0;
  for (size_t i = 0; i < field.bytes; ++i)
    value = value << 8 | frame[field.at + i];
  value = of(value);
  for (size_t i = field.bytes; i-- != 0; value >>= 8)
    frame[field.at + i] = static_cast<uint8_t>(value);
}

const char* const kLinkDrops[] = {"drop_not_ours", "drop_truncated",
                                  "drop_length",   "drop_vcrc",
                                  "drop_icrc",     "drop_header",
                                  "drop_lid",      "drop_gid",
                                  "drop_port_down"};
const char* const kQpDrops[] = {"drop_pkey",         "drop_no_qp",
                                "drop_qp_state",     "drop_service_type",
                                "drop_source",       "drop_path_mtu"};

class MalformedPacketTest : public TrafficTest,
                            public ::testing::WithParamInterface<Kind> {
 protected:
  using Lie = std::function<void(Frame&)>;

  static constexpr size_t kArea = 4096;  // where messages go

  static uint64_t Sum(const TestMachine& m,
                      std::span<const char* const> names) {
    uint64_t sum = 0;
    for (const char* name : names) sum += m.Counter(name);
    return sum;
  }

  bool IsIt(const Frame& frame, bool from_a) const {
    const Kind& k = GetParam();
    if (from_a != k.from_a || frame[kBth] != k.opcode) return false;
    return k.opcode != kRcAck ||
           (frame[kExtended] & kAethCodeMask) == k.code;
  }

  // One message whose packet of this kind is a lie.
  void Tell(const Lie& lie) {
    const Kind& k = GetParam();
    ConnectPair({.mtu_code = 1,
                 .send_psn = 0x1000,
                 .recv_psn = 0x2000,
                 .retry_count = 2,
                 .rnr_retry = 1,
                 .ack_timeout = 10});
    bool told = false, dropped = false;
    delivered_to_a_ = delivered_to_b_ = 0;
    pair_.OnFrame([&](Frame& frame, bool from_a) {
      if (k.code == kAethNak && !dropped && frame[kBth] == kRcWriteMiddle) {
        dropped = true;  // to have a NAK
        return WireAction::kDrop;
      }
      if (!told && IsIt(frame, from_a)) {
        told = true;
        lie(frame);
      }
      ++(from_a ? delivered_to_b_ : delivered_to_a_);
      return WireAction::kDeliver;
    });
    const uint64_t link_a = Link(pair_.a), link_b = Link(pair_.b);
    const uint64_t met_a = Met(pair_.a), met_b = Met(pair_.b);
    const uint64_t whole_a = pair_.a.Counter("frames_received");
    const uint64_t whole_b = pair_.b.Counter("frames_received");

    if (k.code != kAethRnrNak)
      for (int i = 0; i < 2; ++i) PostRecv(kLong, i * 1024);
    local_.driver().Send(local_.qp, Wr(k.wqe, k.bytes));
    pair_.Settle();
    pair_.Advance(5'000 * kMs);

    EXPECT_TRUE(told);
    EXPECT_EQ(Sent().size(), 1u);
    EXPECT_EQ(Link(pair_.a) - link_a, delivered_to_a_);
    EXPECT_EQ(Link(pair_.b) - link_b, delivered_to_b_);
    EXPECT_EQ(Met(pair_.a) - met_a,
              pair_.a.Counter("frames_received") - whole_a);
    EXPECT_EQ(Met(pair_.b) - met_b,
              pair_.b.Counter("frames_received") - whole_b);
    Received();
    pair_.OnFrame(nullptr);
    local_.driver().ToRst(local_.qp);
    remote_.driver().ToRst(remote_.qp);
  }

  // Frames that the link has judged, and packets that met a QP or did not.
  static uint64_t Link(const TestMachine& m) {
    return m.Counter("frames_received") + Sum(m, kLinkDrops);
  }
  static uint64_t Met(const TestMachine& m) {
    return m.Counter("packets_received") + Sum(m, kQpDrops);
  }

  void ExpectNothingElseWritten() {
    for (Side* side : {&local_, &remote_})
      EXPECT_EQ(side->driver().Peek(side->mr, kArea, kMrBytes - kArea),
                std::vector<uint8_t>(kMrBytes - kArea));
  }
  void ExpectAlive() {
    ConnectPair();
    local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_READ, kLong));
    pair_.Settle();
    EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_READ)));
  }

  uint64_t delivered_to_a_ = 0, delivered_to_b_ = 0;
};

TEST_P(MalformedPacketTest, TruthArrives) {
  Tell([](Frame&) {});
  ExpectAlive();
}

TEST_P(MalformedPacketTest, EachFieldMayLie) {
  for (const Field& field : FieldsOf(GetParam().opcode)) {
    for (const auto& value : kValues) {
      SCOPED_TRACE(std::string(field.name) + ", " + value.name);
      Tell([&](Frame& frame) {
        Change(frame, field, value.of);
        Seal(frame);
      });
      if (HasFailure()) return;
    }
  }
  ExpectNothingElseWritten();
  ExpectAlive();
}

TEST_P(MalformedPacketTest, AnyOpcodeMayStandThere) {
  for (uint32_t opcode = 0; opcode < 256; ++opcode) {
    SCOPED_TRACE(opcode);
    Tell([&](Frame& frame) {
      frame[kBth] = static_cast<uint8_t>(opcode);
      Seal(frame);
    });
    if (HasFailure()) return;
  }
  ExpectNothingElseWritten();
  ExpectAlive();
}

TEST_P(MalformedPacketTest, AnyLengthMayCome) {
  for (int by : {-256, -100, -8, -4, 4, 8, 100, 256, 3840}) {
    SCOPED_TRACE(by);
    Tell([&](Frame& frame) {
      const size_t least = kExtended + kIcrcBytes + kVcrcBytes;
      if (by < 0 && frame.size() < least + static_cast<size_t>(-by)) return;
      Resize(frame, by);
      Seal(frame);
    });
    if (HasFailure()) return;
  }
  ExpectNothingElseWritten();
  ExpectAlive();
}

TEST_P(MalformedPacketTest, AnySyndromeMayStandThere) {
  if (!GetOpcodeInfo(GetParam().opcode).aeth) return;
  for (uint32_t syndrome = 0; syndrome < 256; ++syndrome) {
    SCOPED_TRACE(syndrome);
    Tell([&](Frame& frame) {
      frame[kExtended] = static_cast<uint8_t>(syndrome);
      Seal(frame);
    });
    if (HasFailure()) return;
  }
  ExpectAlive();
}

TEST_P(MalformedPacketTest, NoiseIsDropped) {
  FakeHost dice(7);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    Tell([&](Frame& frame) {
      // Past the checksums, all that stands behind the LRH may be noise.
      for (int i = 0; i < 1 + round % 8; ++i)
        frame[kBth + dice.Random() % (frame.size() - kBth)] ^=
            static_cast<uint8_t>(1 + dice.Random() % 255);
      Seal(frame);
    });
    if (HasFailure()) return;
  }
  ExpectAlive();
}

INSTANTIATE_TEST_SUITE_P(All, MalformedPacketTest,
                         ::testing::ValuesIn(kKinds),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace vcx
