/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// control.h - all that firmware commands and the register space may ask of
// the data path. Implemented by the pipeline.
//
// Objects passed in are live and stay so until the call that says otherwise.
#ifndef VCX_CORE_DATAPATH_CONTROL_H_
#define VCX_CORE_DATAPATH_CONTROL_H_

#include <cstdint>

#include "resource/cq.h"
#include "resource/eq.h"
#include "resource/qp.h"
#include "vcx/eqe.h"

namespace vcx {

class Control {
 public:
  virtual ~Control() = default;

  // A doorbell register in a UAR page was written. `page` is the page of BAR
  // 0, `at` the offset in it, `value` the bytes in big-endian order of size 4
  // or 8. Everything wrong with it is counted and traced, never fatal.
  virtual void UarWrite(uint32_t page, uint32_t at, uint64_t value,
                        unsigned size) = 0;

  // The command has put the QP (state, attributes, queues) into its new state.
  // kInit: nothing moves, receives may be posted. kRtr: the responder begins at
  // `responder.expected`. kRts: the requester begins at `requester.next_psn`,
  // or goes on after SQD.
  virtual void QpEnteredInit(Qp& qp) = 0;
  virtual void QpEnteredRtr(Qp& qp) = 0;
  virtual void QpEnteredRts(Qp& qp) = 0;

  // RTS2SQD: finish what was begun; then, if asked for, report SQ_DRAINED.
  virtual void QpEnteredSqd(Qp& qp, bool event) = 0;

  // 2ERR: everything posted is flushed, now and later.
  virtual void QpEnteredError(Qp& qp) = 0;

  // 2RST and before destruction: engines, timers and scheduler forget it. What
  // is outstanding is gone without a completion.
  virtual void QpForget(Qp& qp) = 0;

  // Attributes changed in RTS (retry counters, access, timers).
  virtual void QpModified(Qp& qp) = 0;

  // What QUERY_QP reports of the engines' state goes into qp.context here.
  virtual void QpSaveContext(Qp& qp) = 0;

  // The resize was accepted: writes the RESIZE entry into the old ring and
  // goes on in the new one. False: a DMA error, nothing has changed.
  virtual bool CqResize(Cq& cq, GuestBuffer ring, uint8_t log_size) = 0;
  // Moderation was set in the object.
  virtual void CqModerationChanged(Cq& cq) = 0;
  // Before destruction.
  virtual void CqForget(Cq& cq) = 0;

  // Reports an event to every EQ whose mask has it; `sub_type` and `data` as
  // struct vcx_eqe has them.
  virtual void RaiseEvent(vcx_event_type type, uint8_t sub_type,
                          const void* data, size_t data_bytes) = 0;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_CONTROL_H_
