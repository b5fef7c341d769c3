/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Checksums against known answers, PSN arithmetic, headers there and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "wire/crc.h"
#include "wire/headers.h"
#include "wire/opcode.h"
#include "wire/psn.h"

namespace vcx {
namespace {

std::vector<uint8_t> FromHex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(
        static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

// The sample packet of the specification, with the fields masked that the
// invariant CRC does not see.
TEST(CrcTest, InvariantCrcOfTheSamplePacket) {
  std::vector<uint8_t> packet = FromHex(
      "f012375c000e17d20a202487ff87b1b3000dec2a01710a1c015d400238f27a05"
      "0000000ebb884d85fd5cfba4728bc0690ed40000");
  EXPECT_EQ(InvariantCrc(packet.data(), packet.size(), false), 0x5ab72596u);
  // Lane, FECN and BECN may change on the way.
  packet[0] = 0x70;
  packet[12] = 0x00;
  EXPECT_EQ(InvariantCrc(packet.data(), packet.size(), false), 0x5ab72596u);
  packet[3] ^= 1;
  EXPECT_NE(InvariantCrc(packet.data(), packet.size(), false), 0x5ab72596u);
}

// Bit by bit, as the polynomial is written down.
uint16_t SlowVcrc(const std::vector<uint8_t>& bytes) {
  uint16_t crc = 0xffff;
  for (uint8_t byte : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      const bool out = ((crc ^ (byte >> bit)) & 1) != 0;
      crc = static_cast<uint16_t>(crc >> 1 ^ (out ? 0xd008 : 0));
    }
  return static_cast<uint16_t>(~crc);
}

TEST(CrcTest, VariantCrcOfEveryLength) {
  std::vector<uint8_t> bytes;
  // Long ones are cut into blocks of 64 and 16 bytes, and what is left.
  for (unsigned i = 0; i < 700; ++i) {
    EXPECT_EQ(VariantCrc(bytes.data(), bytes.size()), SlowVcrc(bytes)) << i;
    bytes.push_back(static_cast<uint8_t>(i * 37 + 11));
  }
}

TEST(PsnTest, ComparesInAWindow) {
  EXPECT_EQ(Psn(5).Ahead(Psn(3)), 2);
  EXPECT_EQ(Psn(3).Ahead(Psn(5)), -2);
  EXPECT_EQ(Psn(1).Ahead(Psn(0xffffff)), 2);
  EXPECT_EQ((Psn(0xffffff) + 1).value(), 0u);
  EXPECT_EQ((Psn(0) - 1).value(), 0xffffffu);
  EXPECT_EQ(Psn(0x7fffff).Ahead(Psn(0)), 0x7fffff);
  EXPECT_LT(Psn(0x800000).Ahead(Psn(0)), 0);
}

TEST(HeadersTest, EveryOpcodeThereAndBack) {
  const std::vector<uint8_t> payload = {1, 2, 3, 4, 5};
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& info = GetOpcodeInfo(static_cast<uint8_t>(opcode));
    if (!info.known()) continue;
    Packet out;
    out.opcode = static_cast<uint8_t>(opcode);
    out.solicited = true;
    out.ack_request = true;
    out.pkey = 0x8123;
    out.dest_qpn = 0xabcdef;
    out.psn = Psn(0x123456);
    out.va = 0x1122334455667788;
    out.rkey = 0xdeadbeef;
    out.dma_length = 77;
    out.syndrome = 0x65;
    out.msn = 0x654321;
    out.imm = 0x01020304;
    if (info.payload)
      out.payload = {payload.data(), {}, static_cast<uint32_t>(payload.size())};

    std::vector<uint8_t> bytes(TransportHeaderBytes(out.opcode));
    EXPECT_EQ(PutTransportHeaders(bytes.data(), out),
              bytes.data() + bytes.size());
    if (info.payload) {
      bytes.insert(bytes.end(), payload.begin(), payload.end());
      bytes.resize(bytes.size() + PadBytes(out.payload.length));
    }
    Packet in;
    ASSERT_TRUE(GetTransportHeaders(bytes, &in)) << opcode;
    EXPECT_EQ(in.opcode, out.opcode);
    EXPECT_EQ(in.dest_qpn, out.dest_qpn);
    EXPECT_EQ(in.psn, out.psn);
    EXPECT_EQ(in.pkey, out.pkey);
    EXPECT_TRUE(in.solicited && in.ack_request);
    if (info.reth) {
      EXPECT_EQ(in.va, out.va);
      EXPECT_EQ(in.rkey, out.rkey);
      EXPECT_EQ(in.dma_length, out.dma_length);
    }
    if (info.aeth) {
      EXPECT_EQ(in.syndrome, out.syndrome);
      EXPECT_EQ(in.msn, out.msn);
    }
    if (info.imm) {
      EXPECT_EQ(in.imm, out.imm);
    }
    EXPECT_EQ(in.payload.length, out.payload.length);
    // No prefix is read beyond its end.
    for (size_t n = 0; n < TransportHeaderBytes(out.opcode); ++n) {
      const std::vector<uint8_t> cut(bytes.begin(),
                                     bytes.begin() + static_cast<long>(n));
      EXPECT_FALSE(GetTransportHeaders(cut, &in)) << opcode << " " << n;
    }
  }
}

TEST(HeadersTest, PadLargerThanThePayloadIsRefused) {
  std::vector<uint8_t> bytes(TransportHeaderBytes(kRcSendOnly));
  Packet packet;
  packet.opcode = kRcSendOnly;
  PutTransportHeaders(bytes.data(), packet);
  bytes[1] |= 3 << 4;
  EXPECT_FALSE(GetTransportHeaders(bytes, &packet));
}

TEST(HeadersTest, GrhThereAndBack) {
  Grh out;
  std::fill(out.sgid.begin(), out.sgid.end(), uint8_t{0x11});
  std::fill(out.dgid.begin(), out.dgid.end(), uint8_t{0x22});
  out.flow_label = 0xabcde;
  out.tclass = 0x5a;
  out.hop_limit = 64;
  std::vector<uint8_t> bytes(kGrhBytes);
  PutGrh(bytes.data(), out, 100);
  Grh in;
  ASSERT_TRUE(GetGrh(bytes, &in, 100));
  EXPECT_EQ(in.sgid, out.sgid);
  EXPECT_EQ(in.dgid, out.dgid);
  EXPECT_EQ(in.flow_label, out.flow_label);
  EXPECT_EQ(in.tclass, out.tclass);
  EXPECT_EQ(in.hop_limit, out.hop_limit);
  EXPECT_FALSE(GetGrh(bytes, &in, 101));
}

}  // namespace
}  // namespace vcx
