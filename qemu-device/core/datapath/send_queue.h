/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// send_queue.h - stage 3: fetch one send WQE from the guest and decode it into
// a request, or say what is wrong with it.
#ifndef VCX_CORE_DATAPATH_SEND_QUEUE_H_
#define VCX_CORE_DATAPATH_SEND_QUEUE_H_

#include <array>
#include <cstdint>

#include "memory/dma.h"
#include "memory/translate.h"
#include "resource/qp.h"
#include "vcx/cqe.h"
#include "vcx/wqe.h"

namespace vcx {

class Pipeline;

// Why something failed: what the completion will say.
struct Fault {
  vcx_cqe_syndrome syndrome = VCX_SYNDROME_LOCAL_QP_OP;
  vcx_vendor_syndrome vendor = VCX_VENDOR_NONE;
};

// A piece of a message: in guest memory under a key, or inline.
struct DataEntry {
  const uint8_t* inline_bytes;  // null: by key
  uint64_t va;
  uint32_t lkey;
  uint32_t length;
};

// A decoded send WQE. Inline pointers lead into the send queue's scratch
// memory and are good until the next Fetch() or FetchNext(), whichever it was.
struct SendRequest {
  uint16_t index;    // of its first block
  uint16_t counter;  // what the control segment calls it
  uint8_t opcode;
  uint8_t blocks;
  uint8_t completion;  // VCX_WQE_CE_*
  bool fence;          // wait for earlier reads
  bool strong_order;   // wait for everything earlier
  bool solicited;
  uint32_t imm;
  uint64_t remote_va;
  uint32_t rkey;
  uint32_t length;  // of the message
  uint32_t num_entries;
  // Only the first num_entries are set.
  std::array<DataEntry, VCX_WQE_MAX_BYTES / VCX_WQE_UNIT_BYTES> entries;

  void Reset(uint16_t first_block) {
    index = counter = first_block;
    opcode = completion = 0;
    blocks = 1;
    fence = strong_order = solicited = false;
    imm = rkey = length = num_entries = 0;
    remote_va = 0;
  }
  bool reads() const { return opcode == VCX_WQE_RDMA_READ; }
  bool writes() const {
    return opcode == VCX_WQE_RDMA_WRITE || opcode == VCX_WQE_RDMA_WRITE_IMM;
  }
  bool has_imm() const {
    return opcode == VCX_WQE_SEND_IMM || opcode == VCX_WQE_RDMA_WRITE_IMM;
  }
};

// The beginning of a send WQE that is not going to be executed.
struct WqeHead {
  bool readable;
  uint8_t opcode;
  uint8_t blocks;  // at least 1
  uint16_t counter;
};

class SendQueue {
 public:
  explicit SendQueue(Pipeline& p) : p_(p) {}

  // Reads and decodes the WQE whose first block is `index`. On a fault the
  // header members of *request that could be read are set.
  bool Fetch(const Qp& qp, uint16_t index, SendRequest* request, Fault* fault) {
    return Fetch(qp, index, 1, one_, request, fault);
  }

  // The same for the requester, with `posted` blocks from `index` on in hand:
  // several are read at once, and what was read is taken for the WQEs that
  // follow. Each block is read once, and used as it was read.
  bool FetchNext(const Qp& qp, uint16_t index, uint32_t posted,
                 SendRequest* request, Fault* fault) {
    return Fetch(qp, index, posted, ahead_, request, fault);
  }
  // Another queue, or the same one in another turn: what is read ahead is not
  // kept, for the driver may write blocks anew once they are done.
  void BeginTurn() { ahead_.blocks = 0; }

  // Reads only as much as flushing needs.
  WqeHead Peek(const Qp& qp, uint16_t index);

  // Appends the DMA addresses of message bytes [offset, offset + len) to the
  // scratch list, or finds them inline. `access` is kLocalRead for what is
  // sent and kLocalWrite for where a read lands.
  bool Gather(const Qp& qp, const SendRequest& request, uint32_t offset,
              uint32_t len, Access access, Payload* payload, Fault* fault);

 private:
  // Of a WQE, and of what is read ahead.
  static constexpr uint32_t kMaxBlocks =
      (VCX_WQE_MAX_BYTES + VCX_WQE_BB_BYTES - 1) / VCX_WQE_BB_BYTES;

  // Consecutive blocks of a send queue. The longest WQE has room behind the
  // last block that is read ahead.
  struct Window {
    uint16_t first = 0;  // index of the first
    uint32_t blocks = 0;
    alignas(64) std::array<uint8_t, 2 * kMaxBlocks * VCX_WQE_BB_BYTES>
        bytes;
  };

  bool Fetch(const Qp& qp, uint16_t index, uint32_t posted, Window& window,
             SendRequest* request, Fault* fault);
  bool ReadAhead(const Qp& qp, uint16_t index, uint32_t posted, Window& window);
  bool ReadMore(const Qp& qp, uint32_t blocks, Window& window);
  bool ReadBlocks(const Qp& qp, uint16_t index, uint32_t blocks, uint8_t* to);
  bool DecodeControl(const Qp& qp, const vcx_wqe_ctrl& ctrl,
                     SendRequest* request, Fault* fault);
  bool DecodeSegments(const Qp& qp, const uint8_t* wqe, uint32_t bytes,
                      SendRequest* request, Fault* fault);
  bool DecodeData(const uint8_t* wqe, uint32_t at, uint32_t end,
                  SendRequest* request, Fault* fault);
  bool GatherInline(const SendRequest& request, uint32_t offset, uint32_t len,
                    Payload* payload);

  Pipeline& p_;
  Window ahead_;  // what the requester has read
  Window one_;
  std::array<uint8_t, 1024> inline_;
  SegmentList segments_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_SEND_QUEUE_H_
