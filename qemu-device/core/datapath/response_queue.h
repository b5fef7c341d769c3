/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// response_queue.h - stage 7'': what a responder owes its requester, in order:
// acknowledgements, NAKs, read responses. (IBA vol. 1, 9.7.5.1)
//
// Answers are not sent where requests arrive, but in the QP's turn: so many
// requests share an acknowledgement, a busy wire delays it, and nothing
// recurses.
#ifndef VCX_CORE_DATAPATH_RESPONSE_QUEUE_H_
#define VCX_CORE_DATAPATH_RESPONSE_QUEUE_H_

#include <cstdint>

#include "datapath/scheduler.h"
#include "memory/dma.h"
#include "resource/qp.h"
#include "wire/wire.h"

namespace vcx {

class Pipeline;

class ResponseQueue {
 public:
  explicit ResponseQueue(Pipeline& p) : p_(p) {}

  // The QP enters RTR: room for all that it may come to owe at a time.
  static void Prepare(Qp& qp);

  // Owes an answer; false and counted when there is no room (the requester
  // will ask again).
  bool Owe(Qp& qp, const Response& response);
  // A read was asked for again. While its answer is still owed that starts anew
  // from there; else it is answered once more, if there is room.
  bool OweAgain(Qp& qp, const Response& read);
  void OweAck(Qp& qp, Psn psn);
  void OweNak(Qp& qp, uint8_t syndrome);
  void OweRnrNak(Qp& qp);
  // A NAK with which the QP goes to error.
  void OweFatalNak(Qp& qp, uint8_t syndrome);

  // Sends what the QP owes, for at most *budget units, which it takes off.
  StepResult Step(Qp& qp, uint32_t* budget);

 private:
  SendResult SendAnswer(Qp& qp, const Response& response);
  StepResult SendReadResponse(Qp& qp, Response& response, uint32_t* budget);
  SendResult SendReadPacket(Qp& qp, const Response& response, uint32_t bytes,
                            Wire& wire, bool* allowed);
  void Pop(Qp& qp);
  // The counter that an owed read is part of.
  static uint32_t& ReadsLike(ResponderState& r, const Response& response) {
    return response.repeated ? r.repeated_reads : r.reads;
  }

  Pipeline& p_;
  SegmentList segments_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_RESPONSE_QUEUE_H_
