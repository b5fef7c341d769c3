/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// qp.h - queue pair: what commands set, and what the engines keep.
#ifndef VCX_CORE_RESOURCE_QP_H_
#define VCX_CORE_RESOURCE_QP_H_

#include <array>
#include <cstdint>
#include <vector>

#include "memory/dma.h"
#include "timer.h"
#include "vcx/context.h"
#include "wire/psn.h"

namespace vcx {

struct Cq;
struct CounterSet;
struct Pd;
struct Uar;

using Gid = std::array<uint8_t, 16>;

struct AddressPath {
  uint16_t dlid = 0;
  uint16_t pkey_index = 0;
  uint8_t path_bits = 0;
  uint8_t sl = 0;
  uint8_t sgid_index = 0;
  uint8_t hop_limit = 0;
  uint8_t tclass = 0;
  uint8_t ack_timeout = 0;  // 4.096 us * 2^n; 0: none
  bool force_loopback = false;
  bool has_grh = false;
  uint32_t flow_label = 0;
  Gid dgid{};
};

// A send WQE that was put on the wire and is not retired. What it says is not
// kept: the WQE is read again when it is needed again.
struct InflightWqe {
  uint16_t index;    // of its first block, as the send queue counts
  uint16_t counter;  // what its control segment calls it, for the CQE
  uint8_t blocks;
  uint8_t opcode;      // enum vcx_wqe_opcode
  uint8_t completion;  // VCX_WQE_CE_*
  Psn first_psn;
  uint32_t psns;  // how many it takes; 0: a NOP, never on the wire
  uint32_t length;
};

// FIFO of the above that grows to the size of the send queue and no further.
class InflightQueue {
 public:
  bool empty() const { return count_ == 0; }
  uint32_t size() const { return count_; }
  InflightWqe& front() { return ring_[head_]; }
  InflightWqe& operator[](uint32_t i) {
    return ring_[(head_ + i) & (ring_.size() - 1)];
  }
  InflightWqe& back() { return (*this)[count_ - 1]; }
  void PushBack(const InflightWqe& wqe);
  void PopFront() {
    head_ = (head_ + 1) & (static_cast<uint32_t>(ring_.size()) - 1);
    --count_;
  }
  void Clear();  // gives the memory back too
  // Where the next one goes, for prefetching.
  const void* back_slot() const {
    return ring_.data() + ((head_ + count_) & (ring_.size() - 1));
  }

 private:
  std::vector<InflightWqe> ring_;  // size is a power of two, or zero
  uint32_t head_ = 0;
  uint32_t count_ = 0;
};

struct RequesterState {
  // Counters of 64-byte blocks, 16 bits as the doorbell record has them.
  uint16_t producer = 0;
  uint16_t next = 0;      // first block of the WQE to be sent (on)
  uint16_t consumer = 0;  // first block of the oldest WQE not retired
  uint32_t offset = 0;    // bytes of WQE `next` that were sent
  bool mid_message = false;

  Psn next_psn;  // of the next request packet, when going forward
  Psn max_psn;   // the furthest ever used, plus one
  Psn unacked;   // oldest PSN not acknowledged
  uint32_t psns_since_ack_request = 0;

  InflightQueue inflight;
  uint32_t resend = 0;  // inflight entries before this one are on the wire
  uint32_t reads = 0;   // inflight reads
  Psn restart;          // what the requester went back to last

  // Where the requester stands, to go back to when a packet was not taken.
  struct Position {
    uint16_t next;
    bool mid_message;
    uint32_t offset;
    uint32_t resend;
    uint32_t psns_since_ack_request;
    Psn next_psn;
    Psn max_psn;
  };
  Position position() const {
    return {next,     mid_message, offset, resend, psns_since_ack_request,
            next_psn, max_psn};
  }
  void set_position(const Position& p) {
    next = p.next;
    mid_message = p.mid_message;
    offset = p.offset;
    resend = p.resend;
    psns_since_ack_request = p.psns_since_ack_request;
    next_psn = p.next_psn;
    max_psn = p.max_psn;
  }

  uint8_t retries_left = 0;
  uint8_t rnr_retries_left = 0;
  bool rnr_wait = false;    // paused until the RNR timer
  bool recovering = false;  // went back for a loss; no progress since
  uint64_t retry_deadline = VCX_CORE_NO_DEADLINE;  // the timer may be earlier
  bool drained_event = false;  // SQD: an event was asked for
  bool drained = false;        // SQD: nothing is outstanding any more
};

// What a responder owes the requester, in order.
struct Response {
  enum class Kind : uint8_t { kAck, kNak, kRead };
  Kind kind;
  uint8_t syndrome;  // AETH syndrome of kAck, kNak
  bool fatal;        // kNak: the QP goes to error when it is sent
  Psn psn;           // kRead: of the next response packet
  uint32_t msn;
  uint32_t rkey;  // kRead
  uint64_t va;    // kRead: of the next byte
  uint32_t left;  // kRead: bytes
  bool first;     // kRead: nothing of it was sent
  bool repeated;  // kRead: the request came again, after it was answered
  bool again = false;  // kRead: the answer, or a part of it, was lost
};

struct ResponderState {
  Psn expected;
  uint32_t msn = 0;
  uint16_t rq_producer = 0;  // as last read from the doorbell record
  uint16_t rq_next = 0;      // receive WQE to be taken next

  // The message that is arriving.
  enum class Message : uint8_t {
    kNone,
    kSend,
    kWrite
  } message = Message::kNone;
  bool rq_taken = false;  // kSend: WQE rq_current holds it
  uint16_t rq_current = 0;
  uint32_t received = 0;  // bytes of it
  uint64_t va = 0;        // kWrite: of the next byte
  uint32_t rkey = 0;
  uint32_t left = 0;

  bool nak_sent = false;  // no second NAK until the expected PSN arrives
  bool dead = false;      // a fatal NAK is owed; requests are ignored

  std::vector<Response> responses;  // FIFO; grows to what may be owed
  uint32_t head = 0;
  uint32_t count = 0;
  uint32_t reads = 0;  // kRead entries among them, without
  uint32_t repeated_reads = 0;  // those that are repeated
};

// What every message touches comes first, in whole cache lines: with many QPs
// their number is what a message costs.
struct alignas(64) Qp {
  uint32_t number = 0;
  vcx_qp_state state = VCX_QP_STATE_RST;
  vcx_qp_st st = VCX_QP_ST_RC;
  Pd* pd = nullptr;
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;
  Uar* uar = nullptr;
  CounterSet* counters = nullptr;  // may be null

  // Queues: receive WQEs from offset 0 of the buffer, send blocks behind them.
  GuestBuffer buffer;
  uint64_t doorbell_record = 0;
  uint32_t user_index = VCX_QP_NO_USER_INDEX;
  uint8_t log_rq_size = 0;
  uint8_t log_rq_stride = 4;  // bytes
  uint8_t log_sq_size = 0;    // blocks
  bool has_rq = false;
  bool has_sq = false;
  uint32_t sq_offset = 0;  // bytes

  // Connection.
  AddressPath path;
  uint32_t remote_qpn = 0;
  uint8_t log_mtu = 12;  // bytes
  uint8_t log_msg_max = 30;
  uint8_t log_sra_max = 0;
  uint8_t log_rra_max = 0;
  bool remote_read = false;
  bool remote_write = false;
  bool remote_atomic = false;
  uint8_t min_rnr_nak = 0;  // code of the RNR timer table
  uint8_t retry_count = 0;
  uint8_t rnr_retry = 0;     // 7: without end
  bool established = false;  // the first packet has come (event)
  uint8_t flush_reason = 0;  // VCX_VENDOR_*: why it went to error by itself
  uint32_t peer_payload = 0;  // that the peer takes in a packet; 0: an MTU

  RequesterState requester;
  ResponderState responder;
  Timer retry_timer{TimerKind::kRetry, this};

  // Scheduler.
  Qp* scheduled_next = nullptr;
  bool scheduled = false;

  // ---- From here on not touched by every message ----

  Timer rnr_timer{TimerKind::kRnr, this};
  Timer error_poll_timer{TimerKind::kErrorPoll, this};
  uint32_t error_poll_ms = 0;  // grows while nothing is found

  vcx_qpc context{};  // as created and modified, for QUERY_QP

  uint32_t mtu() const { return 1u << log_mtu; }

  // Begins to load what a message touches, all at once: a QP that was idle is in
  // no cache, and its lines would else be waited for one after the other.
  void Prefetch() const {
    constexpr size_t kHotBytes = 448;
    const auto* bytes = reinterpret_cast<const char*>(this);
    for (size_t i = 0; i < kHotBytes; i += 64) __builtin_prefetch(bytes + i, 1);
  }
  // The same for what it points to.
  void PrefetchQueues() const {
    __builtin_prefetch(buffer.pages().data());
    __builtin_prefetch(requester.inflight.back_slot(), 1);
    __builtin_prefetch(responder.responses.data() + responder.head, 1);
  }
};

}  // namespace vcx

#endif  // VCX_CORE_RESOURCE_QP_H_
