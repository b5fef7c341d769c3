/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// pipeline.h - the data path: the stages of a work request, as members in the
// order in which it passes them. This is the table of contents of datapath/;
// Documentation/life-of-a-write.rst walks through it.
#ifndef VCX_CORE_DATAPATH_PIPELINE_H_
#define VCX_CORE_DATAPATH_PIPELINE_H_

#include <cstddef>
#include <cstdint>

#include "datapath/completer.h"
#include "datapath/completion.h"
#include "datapath/control.h"
#include "datapath/doorbell.h"
#include "datapath/event.h"
#include "datapath/flush.h"
#include "datapath/ingress.h"
#include "datapath/receive_queue.h"
#include "datapath/requester.h"
#include "datapath/responder.h"
#include "datapath/response_queue.h"
#include "datapath/retry.h"
#include "datapath/scheduler.h"
#include "datapath/send_queue.h"
#include "memory/dma.h"
#include "memory/translate.h"
#include "port/ib_link.h"
#include "port/port.h"
#include "port/router.h"
#include "resource/objects.h"
#include "stats/counters.h"
#include "stats/trace.h"
#include "timer.h"

namespace vcx {

class Pipeline final : public Control {
 public:
  Pipeline(Host& host, Dma& dma, TimerQueue& timers, Objects& objects,
           Port& port, Counters& counters, Trace& trace,
           const vcx_core_config& config, const FaultPlan& faults);

  // ---- Entry points of the device ------------------------------------------

  // Does at most `budget` units of work; true when more could be done now.
  bool Run(uint32_t budget);
  void TimerExpired(Timer& timer);
  void Receive(const uint8_t* frame, size_t len, bool more);
  void WireReady();
  // Forgets everything; the objects are gone or about to go.
  void Clear();

  // ---- Control: what commands and registers ask
  // ------------------------------

  void UarWrite(uint32_t page, uint32_t at, uint64_t value,
                unsigned size) override;
  void QpEnteredInit(Qp& qp) override;
  void QpEnteredRtr(Qp& qp) override;
  void QpEnteredRts(Qp& qp) override;
  void QpEnteredSqd(Qp& qp, bool event) override;
  void QpEnteredError(Qp& qp) override;
  void QpForget(Qp& qp) override;
  void QpModified(Qp& qp) override;
  void QpSaveContext(Qp& qp) override;
  bool CqResize(Cq& cq, GuestBuffer ring, uint8_t log_size) override;
  void CqModerationChanged(Cq& cq) override;
  void CqForget(Cq& cq) override;
  void RaiseEvent(vcx_event_type type, uint8_t sub_type, const void* data,
                  size_t data_bytes) override;

  // ---- What the stages share
  // --------------------------------------------------

  // The host's clock; within a QP's turn it stands still.
  uint64_t Now() {
    if (!running_) return host.NowNs();
    if (turn_ns_ == kNotRead) turn_ns_ = host.NowNs();
    return turn_ns_;
  }

  // The QP goes to error on its own: engines stop, everything is flushed.
  void FailQp(Qp& qp);
  // The same, with an asynchronous event that says why.
  void FailQp(Qp& qp, vcx_event_type type, uint8_t queue_type);
  // An event about a QP.
  void QpEvent(const Qp& qp, vcx_event_type type, uint8_t queue_type);
  // In SQD: reports when nothing is outstanding any more.
  void CheckDrained(Qp& qp);
  // Counts in the QP's counter set, if it has one.
  static void Count(Qp& qp, vcx_q_counter counter);

  Host& host;
  Dma& dma;
  TimerQueue& timers;
  Objects& objects;
  Port& port;
  Counters& counters;
  Trace& trace;
  Translator translator;

  // ---- The stages
  // ---------------------------------------------------------------

  Doorbell doorbell;           // 1   write or record -> this queue has work
  Scheduler scheduler;         // 2   which QP next
  SendQueue send_queue;        // 3   fetch and decode one WQE
  Requester requester;         // 4   WQE -> request packets
  Retry retry;                 // 4'  acknowledgement and RNR timers, go-back-N
  IbLink ib_link;              // 5   packet <-> frame
  Router router;               // 5   loopback or link
  Ingress ingress;             // 6   packet -> QP
  Responder responder;         // 7   judge, then apply
  ReceiveQueue receive_queue;  // 7'  receive WQE -> memory
  ResponseQueue responses;     // 7'' what is owed for it
  Completer completer;         // 8   answer -> retire send WQEs
  Completion completion;       // 9   CQE, overflow, arming, moderation
  Event event;                 // 10  EQE, MSI-X
  Flush flush;                 // 8'  what is posted on a QP in error

 private:
  // Ends an entry point: does a little work at once, publishes the next
  // deadline, and asks the host for the rest.
  void Settle(uint32_t budget);
  uint32_t Step(Qp& qp, uint32_t budget);

  static constexpr uint64_t kNotRead = UINT64_MAX;

  bool running_ = false;
  uint64_t turn_ns_ = kNotRead;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_PIPELINE_H_
