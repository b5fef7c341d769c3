/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "cmd/cap.h"

#include "testing/command_test.h"

namespace vcx {
namespace {

class CapTest : public ::testing::Test {
 protected:
  explicit CapTest(vcx_core_config config = TestConfig()) : m(config) {
    m.device.SetBusMaster(true);
    d.port().Attach();
    d.MustNumber(VCX_CMD_ENABLE_HCA);
  }

  vcx_hca_cap Query(uint16_t mode) {
    const Reply reply = d.ExecuteNumber(VCX_CMD_QUERY_HCA_CAP, 0,
                                        VCX_CAP_OP_MOD(VCX_CAP_GENERAL, mode),
                                        sizeof(vcx_query_hca_cap_out));
    EXPECT_TRUE(reply.ok());
    return reply.As<vcx_query_hca_cap_out>().cap;
  }
  Input<vcx_set_hca_cap_in> SetInput(const vcx_hca_cap& cap) {
    auto in = MakeInput<vcx_set_hca_cap_in>(VCX_CMD_SET_HCA_CAP);
    in.fixed.cap = cap;
    return in;
  }

  TestMachine m;
  FakeDriver& d = m.driver;
};

TEST_F(CapTest, SaysWhatTheDeviceCanDo) {
  const vcx_hca_cap cap = Query(VCX_CAP_MODE_CURRENT);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_QP), 16u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_CQ), 16u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_MKEY), 20u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_PD), 16u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_EQ), 7u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_MAX_QP_CNT), 64u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_QP_SZ), 15u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_CQ_SZ), 22u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_EQ_SZ), 22u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_MSG), 30u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_PG_SZ), 12u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_MAX_WQE_SZ_SQ), 1008u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_MAX_WQE_SZ_RQ), 512u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_NUM_PORTS), 1u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_PORT_TYPE), VCX_CAP_PORT_TYPE_IB);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_IB_VIRT), 1u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_CQE_VERSION), 1u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_CQ_RESIZE), 1u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_CQ_MODERATION), 1u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_BF_REG_SIZE), 9u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_UMR_SIZE_DISABLED), 1u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_MKEY_BY_NAME), 1u);
}

TEST_F(CapTest, IsHonestAboutWhatIsNotThere) {
  const vcx_hca_cap cap = Query(VCX_CAP_MODE_MAX);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_RC), 1u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_UC), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_UD), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_XRC), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_ATOMIC), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_BF), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_SRQ), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_SRQ_SZ), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_XRCD), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_KLM_LIST), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_CMDIF_CHECKSUM), 0u);
}

TEST_F(CapTest, AcceptsItsOwnCapabilitiesBack) {
  d.Must(SetInput(Query(VCX_CAP_MODE_CURRENT)));
  EXPECT_EQ(0, memcmp(Query(VCX_CAP_MODE_CURRENT).dw,
                      Query(VCX_CAP_MODE_MAX).dw, sizeof(vcx_hca_cap)));
}

TEST_F(CapTest, LetsADriverHaveFewerQps) {
  vcx_hca_cap cap = Query(VCX_CAP_MODE_CURRENT);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_QP, 1);
  d.Must(SetInput(cap));
  const vcx_hca_cap current = Query(VCX_CAP_MODE_CURRENT);
  EXPECT_EQ(VCX_GET(&current, VCX_CAP_LOG_MAX_QP), 1u);
  const vcx_hca_cap max = Query(VCX_CAP_MODE_MAX);
  EXPECT_EQ(VCX_GET(&max, VCX_CAP_LOG_MAX_QP), 16u);
  // And means it.
  d.MustNumber(VCX_CMD_DISABLE_HCA);
  d.MustNumber(VCX_CMD_ENABLE_HCA);
  d.Must(SetInput(cap));
  d.MustNumber(VCX_CMD_INIT_HCA);
  const CqOptions cq_options{
      .eqn = d.NewEq({.uar = d.MustNumber(VCX_CMD_ALLOC_UAR)}).number,
      .uar = VCX_UAR_FIRST_PAGE};
  const FakeCq cq = d.NewCq(cq_options);
  const QpOptions options{.send_cqn = cq.number,
                          .recv_cqn = cq.number,
                          .pd = d.MustNumber(VCX_CMD_ALLOC_PD),
                          .uar = VCX_UAR_FIRST_PAGE};
  d.NewQp(options);
  d.NewQp(options);
  EXPECT_EQ(d.Refusal(d.QpInput(d.PrepareQp(options))),
            VCX_REFUSED_QP_NONE_LEFT);
}

TEST_F(CapTest, RefusesWhatItCannotSet) {
  vcx_hca_cap more = Query(VCX_CAP_MODE_CURRENT);
  VCX_SET(&more, VCX_CAP_LOG_MAX_QP, 17);
  EXPECT_EQ(d.Refusal(SetInput(more)), VCX_REFUSED_CAP_LOG_MAX_QP);

  vcx_hca_cap atomic = Query(VCX_CAP_MODE_CURRENT);
  VCX_SET(&atomic, VCX_CAP_ATOMIC, 1);
  EXPECT_EQ(d.Refusal(SetInput(atomic)), VCX_REFUSED_CAP_READ_ONLY);

  auto type = SetInput(Query(VCX_CAP_MODE_CURRENT));
  type.fixed.hdr.op_mod = uint16_t{4 << 1};
  EXPECT_EQ(d.Refusal(type), VCX_REFUSED_CAP_TYPE);
  type.fixed.hdr.op_mod = uint16_t{1};
  EXPECT_EQ(d.Refusal(type), VCX_REFUSED_CAP_MODE);
}

TEST_F(CapTest, RefusesTypesThatItDoesNotAnnounce) {
  for (const uint16_t type : {1, 2, 3, 4, 7, 0x20})
    for (const uint16_t mode : {0, 1})
      EXPECT_EQ(d.RefusalOf(VCX_CMD_QUERY_HCA_CAP, 0,
                            VCX_CAP_OP_MOD(type, mode), 0x1010),
                VCX_REFUSED_CAP_TYPE)
          << type;
}

class SmallCapTest : public CapTest {
 protected:
  static vcx_core_config Small() {
    vcx_core_config config = TestConfig();
    config.max_qp = 100;  // not a power of two
    config.max_cq = 1;
    config.max_eq = 5;
    config.max_uar = 300;
    return config;
  }
  SmallCapTest() : CapTest(Small()) {}
};

TEST_F(SmallCapTest, RoundsLimitsUpToPowersOfTwo) {
  const vcx_hca_cap cap = Query(VCX_CAP_MODE_CURRENT);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_QP), 7u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_CQ), 0u);
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_LOG_MAX_EQ), 3u);
  // 512 pages and the segment need 1024 pages: 4 MiB.
  EXPECT_EQ(VCX_GET(&cap, VCX_CAP_UAR_SZ), 2u);
  EXPECT_EQ(m.device.bar_bytes(), 4u << 20);
}

}  // namespace
}  // namespace vcx
