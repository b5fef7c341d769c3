/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "datapath/send_queue.h"

#include <algorithm>
#include <cstring>

#include "datapath/pipeline.h"

namespace vcx {
namespace {

constexpr uint32_t kUnitsPerBlock = VCX_WQE_BB_BYTES / VCX_WQE_UNIT_BYTES;
constexpr uint32_t kMinUnits = 1;  // the control segment alone

template <class T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

bool Refuse(Fault* fault, vcx_vendor_syndrome vendor) {
  *fault = {VCX_SYNDROME_LOCAL_QP_OP, vendor};
  return false;
}

}  // namespace

bool SendQueue::Fetch(const Qp& qp, uint16_t index, SendRequest* request,
                      Fault* fault) {
  const uint32_t blocks = 1u << qp.log_sq_size;
  const uint32_t ring_bytes = blocks * VCX_WQE_BB_BYTES;
  const uint32_t at = (index & (blocks - 1)) * VCX_WQE_BB_BYTES;
  request->Reset(index);
  if (!qp.buffer.Read(p_.dma, qp.sq_offset + at, wqe_.data(),
                      VCX_WQE_BB_BYTES)) {
    p_.counters.Add(Counter::kDmaErrors);
    return Refuse(fault, VCX_VENDOR_WQE_UNREADABLE);
  }
  if (!DecodeControl(qp, request, fault)) return false;

  // The rest of a long WQE may continue at the start of the ring.
  uint32_t have = VCX_WQE_BB_BYTES;
  const uint32_t want = request->blocks * uint32_t{VCX_WQE_BB_BYTES};
  while (have < want) {
    const uint32_t from = (at + have) & (ring_bytes - 1);
    const uint32_t n = std::min(want - have, ring_bytes - from);
    if (!qp.buffer.Read(p_.dma, qp.sq_offset + from, &wqe_[have], n)) {
      p_.counters.Add(Counter::kDmaErrors);
      return Refuse(fault, VCX_VENDOR_WQE_UNREADABLE);
    }
    have += n;
  }
  const auto ctrl = Load<vcx_wqe_ctrl>(wqe_.data());
  const uint32_t bytes =
      VCX_WQE_CTRL_DS(ctrl.qpn_ds.get()) * VCX_WQE_UNIT_BYTES;
  if (!DecodeSegments(qp, bytes, request, fault)) return false;
  p_.trace(VCX_TRACE_SEND_QUEUE, qp.number, index, request->opcode,
           request->length);
  return true;
}

WqeHead SendQueue::Peek(const Qp& qp, uint16_t index) {
  const uint32_t at = (index & ((1u << qp.log_sq_size) - 1)) * VCX_WQE_BB_BYTES;
  vcx_wqe_ctrl ctrl;
  if (!qp.buffer.Read(p_.dma, qp.sq_offset + at, &ctrl, sizeof(ctrl))) {
    p_.counters.Add(Counter::kDmaErrors);
    return {.readable = false, .opcode = 0, .blocks = 1, .counter = index};
  }
  const uint32_t first = ctrl.opmod_idx_opcode.get();
  const uint32_t units = VCX_WQE_CTRL_DS(ctrl.qpn_ds.get());
  const uint32_t blocks = (units + kUnitsPerBlock - 1) / kUnitsPerBlock;
  return {.readable = true,
          .opcode = static_cast<uint8_t>(VCX_WQE_CTRL_OPCODE(first)),
          .blocks = static_cast<uint8_t>(std::max(1u, blocks)),
          .counter = static_cast<uint16_t>(VCX_WQE_CTRL_INDEX(first))};
}

bool SendQueue::DecodeControl(const Qp& qp, SendRequest* request,
                              Fault* fault) {
  const auto ctrl = Load<vcx_wqe_ctrl>(wqe_.data());
  const uint32_t first = ctrl.opmod_idx_opcode.get();
  const uint32_t units = VCX_WQE_CTRL_DS(ctrl.qpn_ds.get());
  request->opcode = VCX_WQE_CTRL_OPCODE(first);
  request->counter = VCX_WQE_CTRL_INDEX(first);
  request->completion = ctrl.fm_ce_se & VCX_WQE_CE_MASK;
  request->solicited = (ctrl.fm_ce_se & VCX_WQE_SE) != 0;
  const uint8_t fence = ctrl.fm_ce_se & VCX_WQE_FM_MASK;
  request->strong_order = fence == VCX_WQE_FM_STRONG_ORDER;
  request->fence =
      fence == VCX_WQE_FM_FENCE || fence == VCX_WQE_FM_SMALL_AND_FENCE;
  request->imm = ctrl.imm.get();

  const uint32_t blocks = (units + kUnitsPerBlock - 1) / kUnitsPerBlock;
  if (units < kMinUnits || blocks > 1u << qp.log_sq_size)
    return Refuse(fault, VCX_VENDOR_WQE_SIZE);
  request->blocks = static_cast<uint8_t>(blocks);
  if (VCX_WQE_CTRL_QPN(ctrl.qpn_ds.get()) != qp.number)
    return Refuse(fault, VCX_VENDOR_WQE_SEGMENT);
  return true;
}

bool SendQueue::DecodeSegments(const Qp& qp, uint32_t bytes,
                               SendRequest* request, Fault* fault) {
  uint32_t at = sizeof(vcx_wqe_ctrl);
  switch (request->opcode) {
    case VCX_WQE_NOP: return true;
    case VCX_WQE_SEND:
    case VCX_WQE_SEND_IMM: break;
    case VCX_WQE_RDMA_WRITE:
    case VCX_WQE_RDMA_WRITE_IMM:
    case VCX_WQE_RDMA_READ: {
      if (at + sizeof(vcx_wqe_raddr) > bytes)
        return Refuse(fault, VCX_VENDOR_WQE_SIZE);
      const auto raddr = Load<vcx_wqe_raddr>(&wqe_[at]);
      request->remote_va = raddr.va.get();
      request->rkey = raddr.rkey.get();
      at += sizeof(raddr);
      break;
    }
    default: return Refuse(fault, VCX_VENDOR_WQE_OPCODE);
  }
  if (!DecodeData(at, bytes, request, fault)) return false;
  if (request->length > 1u << std::min<unsigned>(qp.log_msg_max, 30)) {
    *fault = {VCX_SYNDROME_LOCAL_LENGTH, VCX_VENDOR_MESSAGE_TOO_LONG};
    return false;
  }
  return true;
}

bool SendQueue::DecodeData(uint32_t at, uint32_t end, SendRequest* request,
                           Fault* fault) {
  uint64_t total = 0;
  while (at < end) {
    DataEntry& entry = request->entries[request->num_entries];
    const uint32_t count = Load<vcx_be32>(&wqe_[at]).get();
    if ((count & VCX_WQE_INLINE) != 0) {
      const uint32_t len = count & VCX_WQE_INLINE_MASK;
      const uint32_t data = at + static_cast<uint32_t>(sizeof(vcx_wqe_inline));
      // A read has nowhere to put its data, and the bytes must be there.
      if (request->reads() || len > end - data)
        return Refuse(fault, VCX_VENDOR_WQE_SEGMENT);
      entry = {&wqe_[data], 0, 0, len};
      at = (data + len + VCX_WQE_UNIT_BYTES - 1) & ~(VCX_WQE_UNIT_BYTES - 1u);
    } else {
      const auto data = Load<vcx_wqe_data>(&wqe_[at]);
      // A byte count of zero would mean 2^31, more than a message may have;
      // software writes it for an empty entry.
      entry = {nullptr, data.va.get(), data.lkey.get(), count};
      at += sizeof(data);
    }
    total += entry.length;
    if (entry.length != 0) ++request->num_entries;
  }
  if (total > UINT32_MAX) {
    *fault = {VCX_SYNDROME_LOCAL_LENGTH, VCX_VENDOR_MESSAGE_TOO_LONG};
    return false;
  }
  request->length = static_cast<uint32_t>(total);
  return true;
}

bool SendQueue::Gather(const Qp& qp, const SendRequest& request,
                       uint32_t offset, uint32_t len, Access access,
                       Payload* payload, Fault* fault) {
  *payload = {};
  if (len == 0) return true;
  if (GatherInline(request, offset, len, payload)) return true;

  segments_.clear();
  uint32_t left = len;
  for (uint32_t i = 0; i < request.num_entries && left != 0; ++i) {
    const DataEntry& entry = request.entries[i];
    if (offset >= entry.length) {
      offset -= entry.length;
      continue;
    }
    const uint32_t n = std::min(left, entry.length - offset);
    // By key and inline in one message: no software builds it.
    if (entry.inline_bytes != nullptr)
      return Refuse(fault, VCX_VENDOR_WQE_SEGMENT);
    const vcx_vendor_syndrome why_not = p_.translator.Translate(
        qp, entry.lkey, entry.va + offset, n, access, &segments_);
    if (why_not != VCX_VENDOR_NONE) {
      *fault = {VCX_SYNDROME_LOCAL_PROTECTION, why_not};
      return false;
    }
    offset = 0;
    left -= n;
  }
  *payload = {.bytes = nullptr, .segments = segments_, .length = len};
  return true;
}

// True when the message is inline: its bytes are then made contiguous.
bool SendQueue::GatherInline(const SendRequest& request, uint32_t offset,
                             uint32_t len, Payload* payload) {
  if (request.entries[0].inline_bytes == nullptr) return false;
  uint32_t end = 0;
  for (uint32_t i = 0; i < request.num_entries; ++i) {
    const DataEntry& entry = request.entries[i];
    if (entry.inline_bytes == nullptr) return false;
    std::memcpy(&inline_[end], entry.inline_bytes, entry.length);
    end += entry.length;
  }
  *payload = {.bytes = &inline_[offset], .segments = {}, .length = len};
  return true;
}

}  // namespace vcx
