/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The queues of FakeDriver: WQEs, doorbells, CQEs, EQEs, and data.
#include <algorithm>
#include <cstring>

#include "testing/fake_driver.h"

namespace vcx {
namespace {

template <class T>
void Append(std::vector<uint8_t>& to, const T& value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof(value));
}

void AppendData(std::vector<uint8_t>& to, const Sge& sge) {
  vcx_wqe_data data;
  data.byte_count = sge.bytes;
  data.lkey = sge.lkey;
  data.va = sge.va;
  Append(to, data);
}

void AppendInline(std::vector<uint8_t>& to, const std::vector<uint8_t>& bytes) {
  vcx_wqe_inline head;
  head.byte_count = VCX_WQE_INLINE | static_cast<uint32_t>(bytes.size());
  Append(to, head);
  to.insert(to.end(), bytes.begin(), bytes.end());
  while (to.size() % VCX_WQE_UNIT_BYTES != 0) to.push_back(0);
}

bool HasRemoteAddress(uint8_t opcode) {
  return opcode == VCX_WQE_RDMA_WRITE || opcode == VCX_WQE_RDMA_WRITE_IMM ||
         opcode == VCX_WQE_RDMA_READ || opcode == VCX_WQE_ATOMIC_CS ||
         opcode == VCX_WQE_ATOMIC_FA;
}

std::vector<uint8_t> BuildSendWqe(const FakeQp& qp, const SendWr& wr) {
  std::vector<uint8_t> wqe;
  vcx_wqe_ctrl ctrl{};
  ctrl.opmod_idx_opcode = uint32_t{qp.sq_pi} << 8 | wr.opcode;
  ctrl.fm_ce_se = static_cast<uint8_t>(
      wr.fence | (wr.signaled ? VCX_WQE_CE_ALWAYS : VCX_WQE_CE_ON_ERROR) |
      (wr.solicited ? VCX_WQE_SE : 0));
  ctrl.imm = wr.imm;
  Append(wqe, ctrl);
  if (HasRemoteAddress(wr.opcode)) {
    vcx_wqe_raddr raddr{};
    raddr.va = wr.remote_va;
    raddr.rkey = wr.rkey;
    Append(wqe, raddr);
  }
  if (!wr.inline_data.empty()) AppendInline(wqe, wr.inline_data);
  for (const Sge& sge : wr.sges) AppendData(wqe, sge);
  const vcx_be32 qpn_ds(qp.number << 8 |
                        static_cast<uint32_t>(wqe.size() / VCX_WQE_UNIT_BYTES));
  std::memcpy(&wqe[offsetof(vcx_wqe_ctrl, qpn_ds)], &qpn_ds, sizeof(qpn_ds));
  return wqe;
}

WorkCompletion Decode(const vcx_cqe& cqe) {
  const uint8_t opcode = VCX_CQE_OP(cqe.op_own);
  WorkCompletion c{.opcode = opcode,
                   .solicited = (cqe.op_own & VCX_CQE_OP_SOLICITED) != 0,
                   .syndrome = 0,
                   .vendor_syndrome = 0,
                   .qpn = cqe.sop_qpn.get() & VCX_NUMBER_MASK,
                   .send_opcode = static_cast<uint8_t>(cqe.sop_qpn.get() >> 24),
                   .wqe_counter = cqe.wqe_counter.get(),
                   .byte_count = cqe.byte_count.get(),
                   .imm = cqe.imm_inval_pkey.get(),
                   .user_index = cqe.srqn_uidx.get() & VCX_NUMBER_MASK};
  if (opcode == VCX_CQE_REQ_ERR || opcode == VCX_CQE_RESP_ERR) {
    vcx_err_cqe error;
    std::memcpy(static_cast<void*>(&error), &cqe, sizeof(error));
    c.syndrome = error.syndrome;
    c.vendor_syndrome = error.vendor_syndrome;
    c.byte_count = 0;
    c.imm = 0;
  }
  return c;
}

}  // namespace

uint16_t FakeDriver::PostSend(FakeQp& qp, const SendWr& wr) {
  const std::vector<uint8_t> wqe = BuildSendWqe(qp, wr);
  const uint32_t sq_bytes = VCX_WQE_BB_BYTES << qp.options.log_sq_size;
  const uint32_t start = uint32_t{qp.sq_pi} * VCX_WQE_BB_BYTES;
  for (size_t at = 0; at < wqe.size(); at += VCX_WQE_UNIT_BYTES)
    host_.WriteBuffer(
        qp.buffer,
        qp.rq_bytes() + ((start + static_cast<uint32_t>(at)) & (sq_bytes - 1)),
        &wqe[at], VCX_WQE_UNIT_BYTES);
  const uint16_t index = qp.sq_pi;
  qp.sq_pi = static_cast<uint16_t>(
      qp.sq_pi + (wqe.size() + VCX_WQE_BB_BYTES - 1) / VCX_WQE_BB_BYTES);
  return index;
}

void FakeDriver::RingSend(const FakeQp& qp) {
  host_.Put(qp.doorbell_record + VCX_DBR_SQ * sizeof(vcx_be32),
            vcx_be32(qp.sq_pi));
  // The first two words of the control segment; only the number counts.
  WriteUar64(qp.options.uar, VCX_UAR_SQ, uint64_t{qp.number} << 8);
}

uint16_t FakeDriver::Send(FakeQp& qp, const SendWr& wr) {
  const uint16_t index = PostSend(qp, wr);
  RingSend(qp);
  return index;
}

void FakeDriver::PostRecv(FakeQp& qp, const std::vector<Sge>& sges) {
  std::vector<uint8_t> wqe;
  for (const Sge& sge : sges) AppendData(wqe, sge);
  const uint32_t stride = 1u << qp.options.log_rq_stride;
  if (wqe.size() < stride) AppendData(wqe, {VCX_WQE_LKEY_TERMINATE, 0, 0});
  const uint32_t slot = qp.rq_pi & ((1u << qp.options.log_rq_size) - 1);
  host_.WriteBuffer(qp.buffer, uint64_t{slot} * stride, wqe.data(), wqe.size());
  ++qp.rq_pi;
  host_.Put(qp.doorbell_record + VCX_DBR_RQ * sizeof(vcx_be32),
            vcx_be32(qp.rq_pi));
}

std::optional<WorkCompletion> FakeDriver::Poll(FakeCq& cq) {
  const uint64_t stride = cq.options.cqe128 ? 128 : 64;
  const uint32_t slot = cq.ci & ((1u << cq.options.log_size) - 1);
  vcx_cqe cqe;
  host_.ReadBuffer(cq.ring, (slot + 1) * stride - sizeof(cqe), &cqe,
                   sizeof(cqe));
  const uint32_t lap = cq.ci >> cq.options.log_size & 1;
  if ((cqe.op_own & VCX_CQE_OP_OWNER) != lap ||
      VCX_CQE_OP(cqe.op_own) == VCX_CQE_INVALID)
    return std::nullopt;
  ++cq.ci;
  host_.Put(cq.doorbell_record + VCX_DBR_CQ_CI * sizeof(vcx_be32),
            vcx_be32(cq.ci & 0xffffff));
  return Decode(cqe);
}

std::vector<WorkCompletion> FakeDriver::PollAll(FakeCq& cq) {
  std::vector<WorkCompletion> all;
  while (std::optional<WorkCompletion> c = Poll(cq)) all.push_back(*c);
  return all;
}

void FakeDriver::Arm(FakeCq& cq, bool solicited_only) {
  const uint32_t word = VCX_CQ_ARM_SN(cq.arm_sn) |
                        (solicited_only ? VCX_CQ_ARM_SOLICITED : 0) |
                        VCX_CQ_ARM_CI(cq.ci);
  host_.Put(cq.doorbell_record + VCX_DBR_CQ_ARM * sizeof(vcx_be32),
            vcx_be32(word));
  WriteUar64(cq.options.uar, VCX_UAR_CQ_ARM, uint64_t{word} << 32 | cq.number);
}

std::optional<vcx_eqe> FakeDriver::NextEvent(FakeEq& eq) {
  const uint32_t slot = eq.ci & ((1u << eq.options.log_size) - 1);
  vcx_eqe eqe;
  host_.ReadBuffer(eq.ring, slot * sizeof(eqe), &eqe, sizeof(eqe));
  const uint32_t lap = eq.ci >> eq.options.log_size & 1;
  if ((eqe.owner & VCX_EQE_OWNER) != lap) return std::nullopt;
  ++eq.ci;
  return eqe;
}

void FakeDriver::ArmEq(const FakeEq& eq, bool arm) {
  WriteUar32(eq.options.uar, arm ? VCX_UAR_EQ_ARM : VCX_UAR_EQ_CI,
             eq.number << 24 | (eq.ci & 0xffffff));
}

void FakeDriver::WriteUar32(uint32_t page, uint32_t at, uint32_t value) {
  device_.BarWrite(uint64_t{page} * VCX_PAGE_BYTES + at,
                   __builtin_bswap32(value), sizeof(value));
}

void FakeDriver::WriteUar64(uint32_t page, uint32_t at, uint64_t value) {
  device_.BarWrite(uint64_t{page} * VCX_PAGE_BYTES + at,
                   __builtin_bswap64(value), sizeof(value));
}

void FakeDriver::Poke(const FakeMr& mr, uint64_t at,
                      const std::vector<uint8_t>& bytes) {
  host_.WriteBuffer(mr.buffer, at, bytes.data(), bytes.size());
}

std::vector<uint8_t> FakeDriver::Peek(const FakeMr& mr, uint64_t at,
                                      size_t bytes) {
  std::vector<uint8_t> data(bytes);
  host_.ReadBuffer(mr.buffer, at, data.data(), bytes);
  return data;
}

std::vector<uint8_t> Pattern(size_t bytes, uint8_t seed) {
  std::vector<uint8_t> data(bytes);
  uint32_t x = 0x9e3779b9u * seed + 1;
  for (uint8_t& byte : data) {
    x = x * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(x >> 24);
  }
  return data;
}

}  // namespace vcx
