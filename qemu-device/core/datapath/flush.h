/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// flush.h - stage 8': a QP in error completes all that is posted with "flushed
// in error", the send queue first, then the receive queue, each in order; and
// goes on to do so for what is posted later. (IBA vol. 1, 10.3.1)
#ifndef VCX_CORE_DATAPATH_FLUSH_H_
#define VCX_CORE_DATAPATH_FLUSH_H_

#include <cstdint>

#include "datapath/scheduler.h"
#include "resource/qp.h"

namespace vcx {

class Pipeline;

class Flush {
 public:
  explicit Flush(Pipeline& p) : p_(p) {}

  // Flushes for at most *budget units, which it takes off.
  StepResult Step(Qp& qp, uint32_t* budget);

  // A receive queue has no doorbell: look again now and then.
  void PollExpired(Qp& qp);
  // Begins to look.
  void StartPolling(Qp& qp);

 private:
  bool FlushSend(Qp& qp);
  void FlushReceive(Qp& qp, uint16_t index);
  bool NextReceive(Qp& qp, uint16_t* index);

  Pipeline& p_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_FLUSH_H_
