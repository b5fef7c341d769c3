/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "port/router.h"

#include <algorithm>

#include "datapath/ingress.h"

namespace vcx {
namespace {

// Long enough that the work per packet does not count, short enough that
// others get their turn and memory stays in the cache.
constexpr uint32_t kLoopbackBytes = 64 * 1024;

}  // namespace

uint32_t LoopbackWire::MaxPayload(uint32_t mtu) const {
  return std::max(mtu, kLoopbackBytes);
}

SendResult LoopbackWire::Send(const Packet& packet) {
  counters_.Add(Counter::kLoopbackPackets);
  ingress_.Deliver(packet);
  return SendResult::kSent;
}

SendResult LoopbackWire::SendDamaged(const Packet&, uint64_t) {
  counters_.Add(Counter::kLoopbackPackets);
  counters_.Add(Counter::kDropIcrc);
  return SendResult::kSent;
}

Router::Router(const Port& port, Ingress& ingress, Counters& counters,
               Wire& link, const FaultPlan& plan,
               const FaultWire::Needs& needs)
    : port_(port),
      loopback_(ingress, counters),
      to_self_(&loopback_),
      to_link_(&link) {
  if (plan.num_rules == 0) return;
  faulty_loopback_ = std::make_unique<FaultWire>(
      loopback_, FaultWire::Below::kDelivers, plan, needs);
  faulty_link_ = std::make_unique<FaultWire>(link, FaultWire::Below::kQueues,
                                             plan, needs);
  to_self_ = faulty_loopback_.get();
  to_link_ = faulty_link_.get();
}

void Router::Clear() {
  if (faulty_loopback_) faulty_loopback_->Clear();
  if (faulty_link_) faulty_link_->Clear();
}

void Router::Address(const Qp& qp, Packet* packet) const {
  const AddressPath& path = qp.path;
  packet->slid = port_.lid();  // LMC is 0: no path bits
  packet->dlid = path.dlid;
  packet->sl = path.sl;
  packet->pkey = port_.pkey(path.pkey_index);
  packet->has_grh = path.has_grh;
  if (!path.has_grh) return;
  packet->grh.sgid = port_.gid(path.sgid_index);
  packet->grh.dgid = path.dgid;
  packet->grh.flow_label = path.flow_label;
  packet->grh.tclass = path.tclass;
  packet->grh.hop_limit = path.hop_limit;
}

}  // namespace vcx
