/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// receive_queue.h - stage 7': receive WQEs. A receive queue has no doorbell
// register: its record is read when a WQE is needed and none is known.
#ifndef VCX_CORE_DATAPATH_RECEIVE_QUEUE_H_
#define VCX_CORE_DATAPATH_RECEIVE_QUEUE_H_

#include <array>
#include <cstdint>

#include "datapath/send_queue.h"
#include "memory/dma.h"
#include "resource/qp.h"

namespace vcx {

class Pipeline;

class ReceiveQueue {
 public:
  enum class Result : uint8_t { kTaken, kEmpty, kFailed };

  explicit ReceiveQueue(Pipeline& p) : p_(p) {}

  // Takes the next posted WQE: responder.rq_current. kFailed: the record is
  // unreadable or absurd, the queue cannot be trusted.
  Result Take(Qp& qp);

  // Reads the doorbell record. False as for kFailed.
  bool ReadRecord(Qp& qp);

  // Puts the payload at byte `offset` of the WQE that was taken.
  bool Scatter(Qp& qp, uint32_t offset, const Payload& payload, Fault* fault);

 private:
  bool FindSegments(Qp& qp, uint32_t offset, uint32_t length, Fault* fault);

  Pipeline& p_;
  alignas(16) std::array<uint8_t, 512> wqe_;  // max_rq_wqe_bytes
  SegmentList segments_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_RECEIVE_QUEUE_H_
