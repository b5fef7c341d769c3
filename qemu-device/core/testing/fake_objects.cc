/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The objects of FakeDriver: memory for them, and the commands that make them.
#include <algorithm>

#include "testing/fake_driver.h"

namespace vcx {
namespace {

constexpr uint8_t kEmptyEqe =
    0x01;  // owner bit of a queue before its first lap
constexpr uint8_t kEmptyCqe = VCX_CQE_OP_OWN(VCX_CQE_INVALID, 0, 0);

uint32_t PageOffsetField(const FakeBuffer& buffer) {
  return static_cast<uint32_t>(uint64_t{buffer.offset} * 64 >> buffer.log_page);
}

uint32_t LogPageField(const FakeBuffer& buffer) {
  return buffer.log_page - VCX_LOG_PAGE_BYTES;
}

}  // namespace

FakeEq FakeDriver::PrepareEq(EqOptions options) {
  if (options.uar == 0) options.uar = uar_;
  FakeEq eq{.options = options, .ring = {}};
  const uint64_t entries = uint64_t{1} << options.log_size;
  eq.ring = host_.AllocBuffer(entries * sizeof(vcx_eqe), options.log_page);
  for (uint64_t i = 0; i < entries; ++i)
    host_.Put(eq.ring.At(i * sizeof(vcx_eqe) + offsetof(vcx_eqe, owner)),
              kEmptyEqe);
  return eq;
}

Input<vcx_create_eq_in> FakeDriver::EqInput(const FakeEq& eq) {
  auto in = MakeInput<vcx_create_eq_in>(VCX_CMD_CREATE_EQ);
  vcx_eqc* eqc = &in.fixed.eqc;
  VCX_SET(eqc, VCX_EQC_LOG_SIZE, eq.options.log_size);
  VCX_SET(eqc, VCX_EQC_UAR_PAGE, eq.options.uar);
  VCX_SET(eqc, VCX_EQC_INTR, eq.options.vector);
  VCX_SET(eqc, VCX_EQC_LOG_PAGE_SIZE, LogPageField(eq.ring));
  VCX_SET(eqc, VCX_EQC_PAGE_OFFSET, PageOffsetField(eq.ring));
  in.fixed.event_bitmask[0] = eq.options.events;
  in.list = eq.ring.pages;
  return in;
}

FakeEq FakeDriver::NewEq(EqOptions options) {
  FakeEq eq = PrepareEq(options);
  eq.number = Must(EqInput(eq));
  return eq;
}

FakeCq FakeDriver::PrepareCq(CqOptions options) {
  if (options.uar == 0) options.uar = uar_;
  if (options.eqn == 0) options.eqn = completion_eq_.number;
  FakeCq cq{.options = options, .ring = {}};
  const uint64_t entries = uint64_t{1} << options.log_size;
  const uint64_t stride = options.cqe128 ? 128 : 64;
  cq.ring = host_.AllocBuffer(entries * stride, options.log_page);
  for (uint64_t i = 1; i <= entries; ++i)
    host_.Put(cq.ring.At(i * stride - 1), kEmptyCqe);
  cq.doorbell_record = host_.Alloc(8);
  return cq;
}

Input<vcx_create_cq_in> FakeDriver::CqInput(const FakeCq& cq) {
  auto in = MakeInput<vcx_create_cq_in>(VCX_CMD_CREATE_CQ);
  vcx_cqc* cqc = &in.fixed.cqc;
  VCX_SET(cqc, VCX_CQC_LOG_SIZE, cq.options.log_size);
  VCX_SET(cqc, VCX_CQC_CQE_SZ,
          cq.options.cqe128 ? VCX_CQE_SZ_128 : VCX_CQE_SZ_64);
  VCX_SET(cqc, VCX_CQC_OI, cq.options.ignore_overrun);
  VCX_SET(cqc, VCX_CQC_UAR_PAGE, cq.options.uar);
  VCX_SET(cqc, VCX_CQC_EQN, cq.options.eqn);
  VCX_SET(cqc, VCX_CQC_PERIOD, cq.options.period_us);
  VCX_SET(cqc, VCX_CQC_PERIOD_MODE, cq.options.period_from_entry ? 1 : 0);
  VCX_SET(cqc, VCX_CQC_MAX_COUNT, cq.options.max_count);
  VCX_SET(cqc, VCX_CQC_LOG_PAGE_SIZE, LogPageField(cq.ring));
  VCX_SET(cqc, VCX_CQC_PAGE_OFFSET, PageOffsetField(cq.ring));
  VCX_SET64(cqc, VCX_CQC_DBR_ADDR, cq.doorbell_record);
  in.list = cq.ring.pages;
  return in;
}

FakeCq FakeDriver::NewCq(CqOptions options) {
  FakeCq cq = PrepareCq(options);
  cq.number = Must(CqInput(cq));
  return cq;
}

FakeMr FakeDriver::PrepareMr(MrOptions options) {
  if (options.pd == 0) options.pd = pd_;
  FakeMr mr{.options = options, .buffer = {}};
  const uint64_t page = uint64_t{1} << options.log_page;
  mr.buffer = host_.AllocBuffer(options.bytes, options.log_page,
                                static_cast<uint32_t>(options.va & (page - 1)));
  return mr;
}

Input<vcx_create_mkey_in> FakeDriver::MrInput(const FakeMr& mr) {
  auto in = MakeInput<vcx_create_mkey_in>(VCX_CMD_CREATE_MKEY);
  vcx_mkc* mkc = &in.fixed.mkc;
  VCX_SET(mkc, VCX_MKC_ACCESS_MODE, VCX_MKC_MODE_MTT);
  VCX_SET(mkc, VCX_MKC_LR, 1);
  VCX_SET(mkc, VCX_MKC_LW, mr.options.local_write);
  VCX_SET(mkc, VCX_MKC_RR, mr.options.remote_read);
  VCX_SET(mkc, VCX_MKC_RW, mr.options.remote_write);
  VCX_SET(mkc, VCX_MKC_QPN, VCX_MKC_ANY_QP);
  VCX_SET(mkc, VCX_MKC_KEY_7_0, mr.options.variant);
  VCX_SET(mkc, VCX_MKC_PD, mr.options.pd);
  VCX_SET64(mkc, VCX_MKC_START_ADDR, mr.options.va);
  VCX_SET64(mkc, VCX_MKC_LEN, mr.options.bytes);
  VCX_SET(mkc, VCX_MKC_LOG_PAGE_SIZE, mr.options.log_page);
  in.list = mr.buffer.pages;
  const auto octwords = static_cast<uint32_t>((in.list.size() + 1) / 2);
  VCX_SET(mkc, VCX_MKC_TRANSLATIONS, octwords);
  in.fixed.translations_octwords = octwords;
  in.list.resize(size_t{octwords} * 2);
  return in;
}

FakeMr FakeDriver::NewMr(MrOptions options) {
  FakeMr mr = PrepareMr(options);
  mr.index = Must(MrInput(mr));
  return mr;
}

Input<vcx_create_mkey_in> FakeDriver::PhysicalInput() {
  auto in = MakeInput<vcx_create_mkey_in>(VCX_CMD_CREATE_MKEY);
  vcx_mkc* mkc = &in.fixed.mkc;
  VCX_SET(mkc, VCX_MKC_ACCESS_MODE, VCX_MKC_MODE_PA);
  VCX_SET(mkc, VCX_MKC_LR, 1);
  VCX_SET(mkc, VCX_MKC_LW, 1);
  VCX_SET(mkc, VCX_MKC_RR, 1);
  VCX_SET(mkc, VCX_MKC_RW, 1);
  VCX_SET(mkc, VCX_MKC_QPN, VCX_MKC_ANY_QP);
  VCX_SET(mkc, VCX_MKC_LENGTH64, 1);
  VCX_SET(mkc, VCX_MKC_PD, pd_);
  return in;
}

uint32_t FakeQp::rq_bytes() const {
  return options.has_rq ? 1u << (options.log_rq_size + options.log_rq_stride)
                        : 0;
}

FakeQp FakeDriver::PrepareQp(QpOptions options) {
  if (options.uar == 0) options.uar = uar_;
  if (options.pd == 0) options.pd = pd_;
  FakeQp qp{.options = options, .buffer = {}};
  const uint64_t sq_bytes =
      options.has_sq ? uint64_t{VCX_WQE_BB_BYTES} << options.log_sq_size : 0;
  qp.buffer = host_.AllocBuffer(qp.rq_bytes() + sq_bytes);
  qp.doorbell_record = host_.Alloc(8);
  return qp;
}

Input<vcx_qp_in> FakeDriver::QpInput(const FakeQp& qp) {
  const QpOptions& o = qp.options;
  auto in = MakeInput<vcx_qp_in>(VCX_CMD_CREATE_QP);
  vcx_qpc* qpc = &in.fixed.qpc;
  VCX_SET(qpc, VCX_QPC_ST, VCX_QP_ST_RC);
  VCX_SET(qpc, VCX_QPC_PM_STATE, VCX_QP_PM_MIGRATED);
  VCX_SET(qpc, VCX_QPC_PD, o.pd);
  VCX_SET(qpc, VCX_QPC_RQ_TYPE, o.has_rq ? VCX_QP_RQ_REGULAR : VCX_QP_RQ_NONE);
  if (o.has_rq) {
    VCX_SET(qpc, VCX_QPC_LOG_RQ_SIZE, o.log_rq_size);
    VCX_SET(qpc, VCX_QPC_LOG_RQ_STRIDE, o.log_rq_stride - 4u);
  }
  VCX_SET(qpc, VCX_QPC_NO_SQ, !o.has_sq);
  if (o.has_sq) VCX_SET(qpc, VCX_QPC_LOG_SQ_SIZE, o.log_sq_size);
  VCX_SET(qpc, VCX_QPC_COUNTER_SET_ID, o.counter_set);
  VCX_SET(qpc, VCX_QPC_UAR_PAGE, o.uar);
  VCX_SET(qpc, VCX_QPC_USER_INDEX, o.user_index);
  VCX_SET(qpc, VCX_QPC_LOG_PAGE_SIZE, LogPageField(qp.buffer));
  VCX_SET(qpc, VCX_QPC_PAGE_OFFSET, PageOffsetField(qp.buffer));
  VCX_SET(qpc, VCX_QPC_CQN_SND, o.send_cqn);
  VCX_SET(qpc, VCX_QPC_CQN_RCV, o.recv_cqn);
  VCX_SET64(qpc, VCX_QPC_DBR_ADDR, qp.doorbell_record);
  in.list = qp.buffer.pages;
  return in;
}

FakeQp FakeDriver::NewQp(QpOptions options) {
  FakeQp qp = PrepareQp(options);
  qp.number = Must(QpInput(qp));
  return qp;
}

}  // namespace vcx
