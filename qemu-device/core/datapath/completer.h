/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// completer.h - stage 8: acknowledgements, NAKs and read responses retire send
// WQEs in order. (IBA vol. 1, 9.7.5.2 and 9.7.6)
#ifndef VCX_CORE_DATAPATH_COMPLETER_H_
#define VCX_CORE_DATAPATH_COMPLETER_H_

#include <cstdint>

#include "datapath/send_queue.h"
#include "resource/qp.h"
#include "wire/packet.h"

namespace vcx {

class Pipeline;

class Completer {
 public:
  explicit Completer(Pipeline& p) : p_(p) {}

  // An acknowledgement or read response for a QP whose state allows it.
  void Handle(Qp& qp, const Packet& packet);

  // Retires what needs no more answer, from the oldest on.
  void RetireFinished(Qp& qp);

  // The oldest PSN that was not answered. Something must be in flight.
  Psn FirstMissing(const Qp& qp) const;

 private:
  void HandleAck(Qp& qp, const Packet& packet);
  void HandleNak(Qp& qp, const Packet& packet);
  void HandleReadResponse(Qp& qp, const Packet& packet);
  // Everything before `psn` has arrived at the peer. False: a read in between
  // lacks responses, and the requester has gone back for it.
  bool Acknowledge(Qp& qp, Psn psn);
  bool CheckResponse(Qp& qp, const InflightWqe& wqe, const Packet& packet,
                     uint32_t offset);
  bool Scatter(Qp& qp, const InflightWqe& wqe, const Packet& packet,
               uint32_t offset);
  bool PassNops(Qp& qp);
  void FailOldest(Qp& qp, const Fault& fault);

  Pipeline& p_;
  SendRequest request_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_COMPLETER_H_
