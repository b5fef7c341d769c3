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

bool SendQueue::Fetch(const Qp& qp, uint16_t index, uint32_t posted,
                      Window& window, SendRequest* request, Fault* fault) {
  request->Reset(index);
  const auto behind = static_cast<uint16_t>(index - window.first);
  const bool have =
      &window == &ahead_ && behind < window.blocks && behind <= kMaxBlocks;
  if (!have && !ReadAhead(qp, index, posted, window)) {
    p_.counters.Add(Counter::kDmaErrors);
    return Refuse(fault, VCX_VENDOR_WQE_UNREADABLE);
  }
  const uint32_t at = have ? behind : 0;
  const uint8_t* wqe = &window.bytes[at * VCX_WQE_BB_BYTES];
  const auto ctrl = Load<vcx_wqe_ctrl>(wqe);
  if (!DecodeControl(qp, ctrl, request, fault)) return false;
  if (at + request->blocks > window.blocks &&
      !ReadMore(qp, at + request->blocks - window.blocks, window)) {
    p_.counters.Add(Counter::kDmaErrors);
    return Refuse(fault, VCX_VENDOR_WQE_UNREADABLE);
  }
  const uint32_t bytes =
      VCX_WQE_CTRL_DS(ctrl.qpn_ds.get()) * VCX_WQE_UNIT_BYTES;
  if (!DecodeSegments(qp, wqe, bytes, request, fault)) return false;
  p_.trace(VCX_TRACE_SEND_QUEUE, qp.number, index, request->opcode,
           request->length);
  return true;
}

// Starts the window at this block. What is unreadable behind the first block
// does not concern the WQE there.
bool SendQueue::ReadAhead(const Qp& qp, uint16_t index, uint32_t posted,
                          Window& window) {
  window.first = index;
  window.blocks = std::clamp(posted, 1u, kMaxBlocks);
  if (window.blocks > 1 &&
      ReadBlocks(qp, index, window.blocks, window.bytes.data()))
    return true;
  window.blocks = 1;
  if (ReadBlocks(qp, index, 1, window.bytes.data())) return true;
  window.blocks = 0;
  return false;
}

// Blocks behind those in the window; its memory has room for a whole WQE there.
bool SendQueue::ReadMore(const Qp& qp, uint32_t blocks, Window& window) {
  const auto index = static_cast<uint16_t>(window.first + window.blocks);
  if (!ReadBlocks(qp, index, blocks,
                  &window.bytes[window.blocks * VCX_WQE_BB_BYTES]))
    return false;
  window.blocks += blocks;
  return true;
}

// A run of blocks may continue at the start of the ring.
bool SendQueue::ReadBlocks(const Qp& qp, uint16_t index, uint32_t blocks,
                           uint8_t* to) {
  const uint32_t size = 1u << qp.log_sq_size;
  while (blocks != 0) {
    const uint32_t at = index & (size - 1);
    const uint32_t n = std::min(blocks, size - at);
    if (!qp.buffer.Read(p_.dma, qp.sq_offset + at * VCX_WQE_BB_BYTES, to,
                        n * VCX_WQE_BB_BYTES))
      return false;
    to += n * VCX_WQE_BB_BYTES;
    index = static_cast<uint16_t>(index + n);
    blocks -= n;
  }
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

bool SendQueue::DecodeControl(const Qp& qp, const vcx_wqe_ctrl& ctrl,
                              SendRequest* request, Fault* fault) {
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

bool SendQueue::DecodeSegments(const Qp& qp, const uint8_t* wqe, uint32_t bytes,
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
      const auto raddr = Load<vcx_wqe_raddr>(&wqe[at]);
      request->remote_va = raddr.va.get();
      request->rkey = raddr.rkey.get();
      at += sizeof(raddr);
      break;
    }
    default: return Refuse(fault, VCX_VENDOR_WQE_OPCODE);
  }
  if (!DecodeData(wqe, at, bytes, request, fault)) return false;
  if (request->length > 1u << std::min<unsigned>(qp.log_msg_max, 30)) {
    *fault = {VCX_SYNDROME_LOCAL_LENGTH, VCX_VENDOR_MESSAGE_TOO_LONG};
    return false;
  }
  return true;
}

bool SendQueue::DecodeData(const uint8_t* wqe, uint32_t at, uint32_t end,
                           SendRequest* request, Fault* fault) {
  uint64_t total = 0;
  while (at < end) {
    DataEntry& entry = request->entries[request->num_entries];
    const uint32_t count = Load<vcx_be32>(&wqe[at]).get();
    if ((count & VCX_WQE_INLINE) != 0) {
      const uint32_t len = count & VCX_WQE_INLINE_MASK;
      const uint32_t data = at + static_cast<uint32_t>(sizeof(vcx_wqe_inline));
      // A read has nowhere to put its data, and the bytes must be there.
      if (request->reads() || len > end - data)
        return Refuse(fault, VCX_VENDOR_WQE_SEGMENT);
      entry = {&wqe[data], 0, 0, len};
      at = (data + len + VCX_WQE_UNIT_BYTES - 1) & ~(VCX_WQE_UNIT_BYTES - 1u);
    } else {
      const auto data = Load<vcx_wqe_data>(&wqe[at]);
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
