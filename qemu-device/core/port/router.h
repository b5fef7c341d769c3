/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// router.h - stage 5, where a packet goes: to a QP of this device by
// reference, or to the link.
#ifndef VCX_CORE_PORT_ROUTER_H_
#define VCX_CORE_PORT_ROUTER_H_

#include <cstdint>
#include <memory>

#include "port/port.h"
#include "resource/qp.h"
#include "stats/counters.h"
#include "wire/fault.h"
#include "wire/wire.h"

namespace vcx {

class Ingress;

// The loopback wire: the peer is on this device, its memory is at hand, and a
// packet may carry many MTUs.
class LoopbackWire final : public Wire {
 public:
  LoopbackWire(Ingress& ingress, Counters& counters)
      : ingress_(ingress), counters_(counters) {}

  uint32_t MaxPayload(uint32_t mtu) const override;
  SendResult Send(const Packet& packet) override;
  // There are no checksums here. What they would find is dropped and counted
  // in their stead.
  SendResult SendDamaged(const Packet& packet, uint64_t where) override;

 private:
  Ingress& ingress_;
  Counters& counters_;
};

class Router {
 public:
  // With a plan that has rules, both wires are faulty ones from then on.
  Router(const Port& port, Ingress& ingress, Counters& counters, Wire& link,
         const FaultPlan& plan, const FaultWire::Needs& needs);

  Wire& WireFor(const AddressPath& path) {
    const bool local = path.force_loopback || path.dlid == port_.lid();
    return local ? *to_self_ : *to_link_;
  }

  // The link takes packets again.
  void Ready() {
    if (faulty_link_) faulty_link_->Ready();
  }
  // Forgets packets on their way.
  void Clear();

  // Fills in the local route, the GRH and the P_Key of a packet of this QP.
  void Address(const Qp& qp, Packet* packet) const;

 private:
  const Port& port_;
  LoopbackWire loopback_;
  std::unique_ptr<FaultWire> faulty_loopback_, faulty_link_;  // null: no plan
  Wire* to_self_;
  Wire* to_link_;
};

}  // namespace vcx

#endif  // VCX_CORE_PORT_ROUTER_H_
