/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// ingress.h - stage 6: a packet meets its QP: existence, state, service, P_Key,
// source and path MTU, before any engine looks at it. (IBA vol. 1, 9.6.1)
#ifndef VCX_CORE_DATAPATH_INGRESS_H_
#define VCX_CORE_DATAPATH_INGRESS_H_

#include "resource/qp.h"
#include "stats/counters.h"
#include "wire/packet.h"

namespace vcx {

class Pipeline;

class Ingress {
 public:
  explicit Ingress(Pipeline& p) : p_(p) {}

  // Takes a packet that came over loopback or the link; drops it, counted, or
  // hands it to the responder or the completer.
  void Deliver(const Packet& packet);

 private:
  // kNum: nothing is wrong with it.
  Counter Judge(const Qp* qp, const Packet& packet) const;

  Pipeline& p_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_INGRESS_H_
