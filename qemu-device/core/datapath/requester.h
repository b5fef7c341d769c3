/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// requester.h - stage 4: send WQEs become request packets.
//
// The requester keeps no decoded WQE. It fetches the one at `next`, sends from
// `offset` on until the WQE, the budget or the window ends, and goes on. Going
// back after a loss only moves `next`, `offset` and the PSN.
#ifndef VCX_CORE_DATAPATH_REQUESTER_H_
#define VCX_CORE_DATAPATH_REQUESTER_H_

#include <cstdint>

#include "datapath/scheduler.h"
#include "datapath/send_queue.h"
#include "resource/qp.h"
#include "wire/wire.h"

namespace vcx {

class Pipeline;

class Requester {
 public:
  explicit Requester(Pipeline& p) : p_(p) {}

  // Sends what the QP may send, for at most *budget units, which it takes off.
  StepResult Step(Qp& qp, uint32_t* budget);

  // A send WQE ends in error, and with it the queue: completes it with the
  // fault, fails the QP. The WQE must be the oldest.
  void FailWqe(Qp& qp, uint16_t counter, uint8_t opcode, const Fault& fault);

 private:
  // Sends on in the message of request_; kIdle when the WQE is done.
  StepResult SendMessage(Qp& qp, uint32_t* budget);
  StepResult SendNext(Qp& qp, uint32_t* budget);
  bool MayBegin(const Qp& qp) const;
  bool Begin(Qp& qp, Fault* fault);
  void BuildPacket(const Qp& qp, const InflightWqe& wqe, uint32_t max_payload,
                   Packet* packet) const;
  void Advance(Qp& qp, const InflightWqe& wqe, const Packet& packet);
  void FinishWqe(Qp& qp, const InflightWqe& wqe);
  StepResult Fail(Qp& qp, const Fault& fault);

  Pipeline& p_;
  SendRequest request_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_REQUESTER_H_
