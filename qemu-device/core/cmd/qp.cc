/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Queue pairs: create, destroy, query.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cmd/handlers.h"
#include "cmd/qp_attr.h"
#include "cmd/queue_memory.h"
#include "vcx/wqe.h"

namespace vcx {
namespace {

constexpr uint32_t kLogMinStride = 4;
constexpr AttrMask kAttrsAtCreation = kAttrCounterSet | kAttrDoorbellRecord;

bool HasRq(const vcx_qpc& qpc) {
  return VCX_GET(&qpc, VCX_QPC_RQ_TYPE) == VCX_QP_RQ_REGULAR;
}

bool HasSq(const vcx_qpc& qpc) { return VCX_GET(&qpc, VCX_QPC_NO_SQ) == 0; }

uint32_t RqBytes(const vcx_qpc& qpc) {
  if (!HasRq(qpc)) return 0;
  return 1u << (VCX_GET(&qpc, VCX_QPC_LOG_RQ_SIZE) + kLogMinStride +
                VCX_GET(&qpc, VCX_QPC_LOG_RQ_STRIDE));
}

uint32_t SqBytes(const vcx_qpc& qpc) {
  if (!HasSq(qpc)) return 0;
  return uint32_t{VCX_WQE_BB_BYTES} << VCX_GET(&qpc, VCX_QPC_LOG_SQ_SIZE);
}

QueueMemory MemoryOf(const vcx_qpc& qpc, std::span<const uint8_t> list) {
  return {.bytes = uint64_t{RqBytes(qpc)} + SqBytes(qpc),
          .log_page_size = VCX_GET(&qpc, VCX_QPC_LOG_PAGE_SIZE),
          .page_offset = VCX_GET(&qpc, VCX_QPC_PAGE_OFFSET),
          .entry_bytes = VCX_WQE_BB_BYTES,
          .list = list};
}

CmdVerdict CheckQueues(const Firmware& fw, const vcx_qpc& qpc) {
  const uint32_t rq_type = VCX_GET(&qpc, VCX_QPC_RQ_TYPE);
  if (rq_type != VCX_QP_RQ_REGULAR && rq_type != VCX_QP_RQ_NONE)
    return VCX_REFUSED_QP_RQ_TYPE;
  if (HasRq(qpc)) {
    if (VCX_GET(&qpc, VCX_QPC_LOG_RQ_SIZE) > fw.limits.log_max_qp_sz)
      return VCX_REFUSED_QP_RQ_SIZE;
    if (1u << (kLogMinStride + VCX_GET(&qpc, VCX_QPC_LOG_RQ_STRIDE)) >
        fw.limits.max_rq_wqe_bytes)
      return VCX_REFUSED_QP_RQ_STRIDE;
  }
  if (HasSq(qpc)) {
    if (VCX_GET(&qpc, VCX_QPC_LOG_SQ_SIZE) > fw.limits.log_max_qp_sz)
      return VCX_REFUSED_QP_SQ_SIZE;
    if (RqBytes(qpc) % VCX_WQE_BB_BYTES != 0) return VCX_REFUSED_QP_SQ_OFFSET;
  }
  return VCX_CMD_ACCEPTED;
}

// The other objects that the context names. A CQ may be left out, as zero,
// where there is no queue that needs it.
struct Parts {
  Pd* pd;
  Uar* uar;
  Cq* send_cq;
  Cq* recv_cq;
};

CmdVerdict FindParts(const Firmware& fw, const vcx_qpc& qpc, Parts& parts) {
  const uint32_t send_cqn = VCX_GET(&qpc, VCX_QPC_CQN_SND);
  const uint32_t recv_cqn = VCX_GET(&qpc, VCX_QPC_CQN_RCV);
  parts = {.pd = fw.objects.pds.Find(VCX_GET(&qpc, VCX_QPC_PD)),
           .uar = fw.objects.uars.Find(VCX_GET(&qpc, VCX_QPC_UAR_PAGE)),
           .send_cq = fw.objects.cqs.Find(send_cqn),
           .recv_cq = fw.objects.cqs.Find(recv_cqn)};
  if (parts.pd == nullptr) return VCX_REFUSED_PD_NUMBER;
  if (parts.uar == nullptr) return VCX_REFUSED_UAR_NUMBER;
  if (parts.send_cq == nullptr && (HasSq(qpc) || send_cqn != 0))
    return VCX_REFUSED_QP_SEND_CQ;
  if (parts.recv_cq == nullptr && (HasRq(qpc) || recv_cqn != 0))
    return VCX_REFUSED_QP_RECV_CQ;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict CheckCreate(const Firmware& fw, const vcx_qp_in& in,
                       const QueueMemory& memory, Parts& parts) {
  const vcx_qpc& qpc = in.qpc;
  if ((in.qpn.get() & VCX_NUMBER_MASK) != 0) return VCX_REFUSED_QP_INPUT_NUMBER;
  if (VCX_GET(&qpc, VCX_QPC_ST) != VCX_QP_ST_RC)
    return VCX_REFUSED_QP_SERVICE_TYPE;
  if (const CmdVerdict v = CheckQueues(fw, qpc); v != VCX_CMD_ACCEPTED)
    return v;
  if (const CmdVerdict v = FindParts(fw, qpc, parts); v != VCX_CMD_ACCEPTED)
    return v;
  if (const CmdVerdict v = CheckAttrs(fw, kAttrsAtCreation, qpc);
      v != VCX_CMD_ACCEPTED)
    return v;
  if (const CmdVerdict v = CheckQueueMemory(fw, memory); v != VCX_CMD_ACCEPTED)
    return v;
  // SET_HCA_CAP may have asked for fewer than the table holds.
  const uint32_t max = 1u << VCX_GET(&fw.cap_current, VCX_CAP_LOG_MAX_QP);
  if (fw.objects.qps.count() >= max) return VCX_REFUSED_QP_NONE_LEFT;
  return VCX_CMD_ACCEPTED;
}

void AttachParts(Qp& qp, const Parts& parts) {
  qp.pd = parts.pd;
  ++qp.pd->references;
  qp.uar = parts.uar;
  ++qp.uar->references;
  qp.send_cq = parts.send_cq;
  if (qp.send_cq != nullptr) ++qp.send_cq->references;
  qp.recv_cq = parts.recv_cq;
  if (qp.recv_cq != nullptr) ++qp.recv_cq->references;
}

void DetachParts(Qp& qp) {
  --qp.pd->references;
  --qp.uar->references;
  if (qp.send_cq != nullptr) --qp.send_cq->references;
  if (qp.recv_cq != nullptr) --qp.recv_cq->references;
  if (qp.counters != nullptr) --qp.counters->references;
}

void LoadQueues(Qp& qp, const vcx_qpc& qpc) {
  qp.st = VCX_QP_ST_RC;
  qp.user_index = VCX_GET(&qpc, VCX_QPC_USER_INDEX);
  qp.has_rq = HasRq(qpc);
  qp.log_rq_size = static_cast<uint8_t>(VCX_GET(&qpc, VCX_QPC_LOG_RQ_SIZE));
  qp.log_rq_stride = static_cast<uint8_t>(kLogMinStride +
                                          VCX_GET(&qpc, VCX_QPC_LOG_RQ_STRIDE));
  qp.has_sq = HasSq(qpc);
  qp.log_sq_size = static_cast<uint8_t>(VCX_GET(&qpc, VCX_QPC_LOG_SQ_SIZE));
  qp.sq_offset = RqBytes(qpc);
}

}  // namespace

CmdVerdict CreateQp(Firmware& fw, const vcx_qp_in& in, const Call& call,
                    vcx_number_out& out) {
  const QueueMemory memory = MemoryOf(in.qpc, call.list);
  Parts parts;
  if (const CmdVerdict v = CheckCreate(fw, in, memory, parts);
      v != VCX_CMD_ACCEPTED)
    return v;

  Qp* qp = fw.objects.qps.Allocate();
  if (qp == nullptr) return VCX_REFUSED_QP_NONE_LEFT;

  // What the transitions set is not valid before they do.
  constexpr vcx_qpc kNothing{};
  qp->context = in.qpc;
  CopyAttrs(kAttrAll & ~kAttrsAtCreation, kNothing, qp->context);
  AttachParts(*qp, parts);
  LoadQueues(*qp, in.qpc);
  LoadAttrs(fw, kAttrsAtCreation, *qp);
  qp->buffer = TakeQueueMemory(fw, memory);
  out.number = qp->number;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict DestroyQp(Firmware& fw, const vcx_number_in& in, const Call&,
                     vcx_number_out&) {
  Qp* qp = fw.objects.qps.Find(in.number.get() & VCX_NUMBER_MASK);
  if (qp == nullptr) return VCX_REFUSED_QP_NUMBER;

  fw.control.QpForget(*qp);
  ReleaseQueueMemory(fw, qp->buffer);
  DetachParts(*qp);
  fw.objects.qps.Free(qp);
  return VCX_CMD_ACCEPTED;
}

CmdVerdict QueryQp(Firmware& fw, const vcx_number_in& in, const Call& call,
                   vcx_query_qp_out& out) {
  Qp* qp = fw.objects.qps.Find(in.number.get() & VCX_NUMBER_MASK);
  if (qp == nullptr) return VCX_REFUSED_QP_NUMBER;

  fw.control.QpSaveContext(*qp);
  out.qpc = qp->context;
  // Drivers that do not want the pages leave no room for them.
  const std::vector<uint64_t>& pages = qp->buffer.pages();
  const size_t num =
      std::min(pages.size(), call.room.size() / sizeof(vcx_be64));
  for (size_t i = 0; i < num; ++i) {
    const vcx_be64 page(pages[i]);
    std::memcpy(&call.room[i * sizeof(page)], &page, sizeof(page));
  }
  return VCX_CMD_ACCEPTED;
}

}  // namespace vcx
