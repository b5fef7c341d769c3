/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// ACCESS_REG.
#include "testing/command_test.h"

namespace vcx {
namespace {

class RegisterTest : public CommandTest {
 protected:
  Reply Access(uint16_t op_mod, uint32_t id, std::vector<uint8_t> data,
               size_t room) {
    auto in = MakeInput<vcx_access_reg_in>(VCX_CMD_ACCESS_REG, op_mod);
    in.fixed.register_id = id;
    in.tail = std::move(data);
    return d.Execute(in, sizeof(vcx_access_reg_out) + room);
  }
  // A register that is a structure of words, read for a port.
  template <class T>
  Reply ReadPort(uint32_t id, uint8_t port, uint8_t low = 0) {
    std::vector<uint8_t> data(sizeof(T));
    data[1] = port;
    data[3] = low;
    return Access(VCX_ACCESS_REG_READ, id, data, data.size());
  }
  template <class T>
  static T Data(const Reply& reply) {
    T value{};
    EXPECT_TRUE(reply.ok());
    if (reply.ok())
      memcpy(static_cast<void*>(&value), &reply.out[sizeof(vcx_access_reg_out)],
             sizeof(value));
    return value;
  }
};

TEST_F(RegisterTest, KeepsTheNodeDescription) {
  const Reply first = Access(VCX_ACCESS_REG_READ, VCX_REG_NODE_DESC,
                             std::vector<uint8_t>(64), 64);
  ASSERT_TRUE(first.ok());
  EXPECT_STREQ(reinterpret_cast<const char*>(&first.out[16]),
               "vcx 0002c90300123456");
  std::vector<uint8_t> text(64, 'x');
  EXPECT_TRUE(Access(VCX_ACCESS_REG_WRITE, VCX_REG_NODE_DESC, text, 64).ok());
  const Reply second = Access(VCX_ACCESS_REG_READ, VCX_REG_NODE_DESC,
                              std::vector<uint8_t>(64), 64);
  EXPECT_EQ(std::vector<uint8_t>(second.out.begin() + 16, second.out.end()),
            text);
}

TEST_F(RegisterTest, AcceptsTheEndiannessOfTheHost) {
  for (const uint8_t value : {0x00, 0x80}) {
    std::vector<uint8_t> data(16);
    data[0] = value;
    EXPECT_TRUE(
        Access(VCX_ACCESS_REG_WRITE, VCX_REG_HOST_ENDIANNESS, data, 16).ok());
    const Reply reply =
        Access(VCX_ACCESS_REG_READ, VCX_REG_HOST_ENDIANNESS, data, 16);
    EXPECT_EQ(reply.out[16], value);
  }
  EXPECT_EQ(Access(VCX_ACCESS_REG_WRITE, VCX_REG_HOST_ENDIANNESS,
                   std::vector<uint8_t>(16, 0x11), 16)
                .syndrome,
            VCX_REFUSED_REG_VALUE);
}

TEST_F(RegisterTest, SaysSpeedAndWidthOfTheLink) {
  const auto ptys = Data<vcx_reg_ptys>(
      ReadPort<vcx_reg_ptys>(VCX_REG_PTYS, 1, VCX_PTYS_PROTO_IB));
  EXPECT_EQ(VCX_GET(&ptys, VCX_PTYS_IB_WIDTH_OPER), VCX_PTYS_WIDTH_4X);
  EXPECT_EQ(VCX_GET(&ptys, VCX_PTYS_IB_PROTO_OPER), VCX_PTYS_SPEED_EDR);
  // An InfiniBand port has no Ethernet side.
  EXPECT_EQ(ReadPort<vcx_reg_ptys>(VCX_REG_PTYS, 1, 4).syndrome,
            VCX_REFUSED_REG_VALUE);
}

TEST_F(RegisterTest, SaysTheMtus) {
  const auto pmtu = Data<vcx_reg_pmtu>(ReadPort<vcx_reg_pmtu>(VCX_REG_PMTU, 1));
  EXPECT_EQ(VCX_GET(&pmtu, VCX_PMTU_MAX), 4096u);
  EXPECT_EQ(VCX_GET(&pmtu, VCX_PMTU_ADMIN), 4096u);
  EXPECT_EQ(VCX_GET(&pmtu, VCX_PMTU_OPER), 4096u);
}

TEST_F(RegisterTest, HasOneVirtualLane) {
  const auto pvlc = Data<vcx_reg_pvlc>(ReadPort<vcx_reg_pvlc>(VCX_REG_PVLC, 1));
  EXPECT_EQ(VCX_GET(&pvlc, VCX_PVLC_HW_CAP), 1u);
  EXPECT_EQ(VCX_GET(&pvlc, VCX_PVLC_OPERATIONAL), 1u);
}

TEST_F(RegisterTest, RefusesOtherPortsAndWrites) {
  const struct {
    uint32_t id;
    size_t bytes;
  } registers[] = {{VCX_REG_PTYS, 64}, {VCX_REG_PMTU, 16}, {VCX_REG_PVLC, 16}};
  for (const auto& r : registers) {
    std::vector<uint8_t> data(r.bytes);
    data[1] = 2;
    EXPECT_EQ(Access(VCX_ACCESS_REG_READ, r.id, data, r.bytes).syndrome,
              VCX_REFUSED_REG_PORT);
    data[1] = 1;
    EXPECT_EQ(Access(VCX_ACCESS_REG_WRITE, r.id, data, r.bytes).syndrome,
              VCX_REFUSED_REG_READ_ONLY);
  }
}

TEST_F(RegisterTest, RefusesRegistersThatAreNotThere) {
  for (const uint32_t id : {uint32_t{VCX_REG_DTOR}, 0x5006u, 0u, 0xffffu}) {
    const Reply reply =
        Access(VCX_ACCESS_REG_READ, id, std::vector<uint8_t>(64), 64);
    EXPECT_EQ(reply.status, VCX_STATUS_BAD_PARAM) << id;
    EXPECT_EQ(reply.syndrome, VCX_REFUSED_REG_ID) << id;
  }
}

TEST_F(RegisterTest, RefusesLengthsBelowTheRegister) {
  EXPECT_EQ(Access(VCX_ACCESS_REG_READ, VCX_REG_NODE_DESC,
                   std::vector<uint8_t>(63), 64)
                .syndrome,
            VCX_REFUSED_LIST_LENGTH);
  EXPECT_EQ(Access(VCX_ACCESS_REG_READ, VCX_REG_NODE_DESC,
                   std::vector<uint8_t>(64), 63)
                .syndrome,
            VCX_REFUSED_OUT_LIST_LENGTH);
  EXPECT_EQ(Access(2, VCX_REG_NODE_DESC, std::vector<uint8_t>(64), 64).syndrome,
            VCX_REFUSED_OP_MOD);
}

}  // namespace
}  // namespace vcx
