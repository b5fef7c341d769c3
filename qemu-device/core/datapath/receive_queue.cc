/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/receive_queue.h"

#include <algorithm>
#include <cstring>

#include "datapath/pipeline.h"
#include "vcx/regs.h"
#include "vcx/wqe.h"

namespace vcx {

bool ReceiveQueue::ReadRecord(Qp& qp) {
  vcx_be32 word;
  if (!p_.dma.Read(qp.doorbell_record + VCX_DBR_RQ * sizeof(word), &word,
                   sizeof(word))) {
    p_.counters.Add(Counter::kDmaErrors);
    return false;
  }
  const auto producer = static_cast<uint16_t>(word.get());
  const auto ahead = static_cast<uint16_t>(producer - qp.responder.rq_next);
  if (ahead > 1u << qp.log_rq_size) return false;
  qp.responder.rq_producer = producer;
  return true;
}

ReceiveQueue::Result ReceiveQueue::Take(Qp& qp) {
  ResponderState& r = qp.responder;
  if (!qp.has_rq) return Result::kEmpty;
  if (r.rq_next == r.rq_producer) {
    if (!ReadRecord(qp)) return Result::kFailed;
    if (r.rq_next == r.rq_producer) return Result::kEmpty;
  }
  r.rq_current = r.rq_next++;
  r.rq_taken = true;
  return Result::kTaken;
}

bool ReceiveQueue::Scatter(Qp& qp, uint32_t offset, const Payload& payload,
                           Fault* fault) {
  if (payload.length == 0) return true;
  if (!FindSegments(qp, offset, payload.length, fault)) return false;
  if (CopyToGuest(p_.dma, segments_, payload)) return true;
  p_.counters.Add(Counter::kDmaErrors);
  *fault = {VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_DMA};
  return false;
}

bool ReceiveQueue::FindSegments(Qp& qp, uint32_t offset, uint32_t length,
                                Fault* fault) {
  const uint32_t stride = 1u << qp.log_rq_stride;
  const uint32_t index = qp.responder.rq_current & ((1u << qp.log_rq_size) - 1);
  if (!qp.buffer.Read(p_.dma, uint64_t{index} * stride, wqe_.data(), stride)) {
    p_.counters.Add(Counter::kDmaErrors);
    *fault = {VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_UNREADABLE};
    return false;
  }
  segments_.clear();
  for (uint32_t at = 0; at < stride && length != 0;
       at += static_cast<uint32_t>(sizeof(vcx_wqe_data))) {
    vcx_wqe_data data;
    std::memcpy(&data, &wqe_[at], sizeof(data));
    const uint32_t bytes = data.byte_count.get();
    if (bytes == 0 && data.lkey.get() == VCX_WQE_LKEY_TERMINATE) break;
    if (offset >= bytes) {
      offset -= bytes;
      continue;
    }
    const uint32_t n = std::min(length, bytes - offset);
    const vcx_vendor_syndrome why_not =
        p_.translator.Translate(qp, data.lkey.get(), data.va.get() + offset, n,
                                Access::kLocalWrite, &segments_);
    if (why_not != VCX_VENDOR_NONE) {
      *fault = {VCX_SYNDROME_LOCAL_PROTECTION, why_not};
      return false;
    }
    offset = 0;
    length -= n;
  }
  if (length == 0) return true;
  *fault = {VCX_SYNDROME_LOCAL_LENGTH, VCX_VENDOR_RECEIVE_TOO_SHORT};
  return false;
}

}  // namespace vcx
