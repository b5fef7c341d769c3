/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// retry.h - stage 4': acknowledgement and RNR timers, retry counters, going
// back. (IBA vol. 1, 9.7.5.2 and 9.9.2.4)
//
// The acknowledgement deadline moves with every acknowledgement, the timer
// does not: when it goes off early it is armed again for the rest.
#ifndef VCX_CORE_DATAPATH_RETRY_H_
#define VCX_CORE_DATAPATH_RETRY_H_

#include <cstdint>

#include "resource/qp.h"

namespace vcx {

class Pipeline;

enum class RetryReason : uint8_t {
  kTimeout = 1,
  kSequenceNak = 2,   // the responder missed a packet
  kLostResponse = 3,  // a later answer came before a read's (implied NAK)
  kRnr = 4,
};

class Retry {
 public:
  explicit Retry(Pipeline& p) : p_(p) {}

  // The requester has put packets on the wire: the peer has the whole timeout
  // from now on. What was lost before is found by what follows it.
  void Sent(Qp& qp);
  // The peer has answered with progress: counters start anew.
  void Progress(Qp& qp);
  // Goes back to this PSN, or fails the oldest WQE when the retry counter is
  // used up. The PSN must be in flight.
  void GoBack(Qp& qp, Psn psn, RetryReason reason);
  // The receiver was not ready: the same after a pause that it names.
  void ReceiverNotReady(Qp& qp, Psn psn, uint8_t timer_code);

  void AckTimerExpired(Qp& qp);
  void RnrTimerExpired(Qp& qp);
  // Stops all timers of the QP.
  void Stop(Qp& qp);

  // Pause of an RNR NAK in nanoseconds. (IBA vol. 1, table 45)
  static uint64_t RnrPauseNs(uint8_t code);
  // Acknowledgement timeout in nanoseconds; the code must not be zero. A
  // timeout of T is to be found between T and 4 T (IBA vol. 1, 9.7.6.1.3). An
  // emulated peer shares its processor with others: the late end is right.
  static uint64_t AckTimeoutNs(uint8_t code) {
    return 4 * (uint64_t{4096} << code);
  }

 private:
  void MoveTo(Qp& qp, Psn psn);

  Pipeline& p_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_RETRY_H_
