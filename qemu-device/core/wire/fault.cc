/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "wire/fault.h"

#include <algorithm>

namespace vcx {
namespace {

// A deadline that has always passed, without a timer: the wire below is full
// and will say when it is not.
constexpr uint64_t kWhenReady = 0;

constexpr uint64_t kWeyl = 0x9e3779b97f4a7c15;  // SplitMix64's increment

uint64_t Mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

}  // namespace

FaultWire::FaultWire(Wire& below, Below below_is, const FaultPlan& plan,
                     const Needs& needs)
    : below_(below),
      below_is_(below_is),
      plan_(plan),
      stream_(Mix(plan.seed + Mix(static_cast<uint64_t>(below_is) + kWeyl))),
      needs_(needs),
      slots_(kSlots) {
  free_.reserve(kSlots);
  held_.reserve(kSlots);
  for (uint32_t i = kSlots; i-- != 0;) free_.push_back(i);
}

// The number of a packet decides, so nothing has to be put back when a busy
// wire makes the same packet come again.
uint64_t FaultWire::Random(uint64_t what) const {
  return Mix(Mix(stream_ + packets_ * kWeyl) + what * kWeyl);
}

FaultWire::Verdict FaultWire::Decide(const Packet& packet) const {
  Verdict verdict;
  const uint64_t bit = PacketBit(packet);
  for (size_t i = 0; i < plan_.num_rules; ++i) {
    const FaultRule& rule = plan_.rules[i];
    if ((rule.packets & bit) == 0) continue;
    bool hit;
    if (rule.rate != 0) {
      hit = Random(i) >> 32 < rule.rate;
    } else {
      verdict.fits |= 1u << i;
      const uint64_t position = fitted_[i] + 1;
      hit = position >= rule.first && position <= rule.last;
    }
    if (hit && verdict.rule == nullptr) verdict.rule = &rule;
  }
  return verdict;
}

void FaultWire::Commit(const Verdict& verdict) {
  for (size_t i = 0; i < plan_.num_rules; ++i)
    fitted_[i] += verdict.fits >> i & 1;
  ++packets_;
  needs_.counters.Add(Counter::kFaultPackets);
}

SendResult FaultWire::Send(const Packet& packet) {
  const Verdict verdict = Decide(packet);
  if (verdict.rule == nullptr) {
    const SendResult sent = below_.Send(packet);
    if (sent != SendResult::kSent) return sent;
    Commit(verdict);
    Overtake();
    return sent;
  }
  const SendResult sent = Apply(*verdict.rule, packet);
  if (sent != SendResult::kSent) return sent;
  needs_.trace(VCX_TRACE_FAULT, static_cast<uint64_t>(verdict.rule->kind),
               packet.dest_qpn, packet.opcode, packet.psn.value());
  Commit(verdict);
  return sent;
}

SendResult FaultWire::Apply(const FaultRule& rule, const Packet& packet) {
  Counters& counters = needs_.counters;
  SendResult sent = SendResult::kSent;
  switch (rule.kind) {
    case FaultKind::kNone: break;
    case FaultKind::kDrop:
      counters.Add(Counter::kFaultDropped);
      return SendResult::kSent;
    case FaultKind::kDuplicate: return SendTwice(packet);
    case FaultKind::kReorder:
    case FaultKind::kDelay: {
      const bool reorder = rule.kind == FaultKind::kReorder;
      const uint64_t pause = reorder ? kOvertakeNs : rule.delay_ns;
      sent = Hold(packet, needs_.host.NowNs() + pause,
                  reorder ? rule.overtaken_by : 0);
      if (sent == SendResult::kDmaError) return sent;
      if (sent == SendResult::kSent) {
        counters.Add(reorder ? Counter::kFaultReordered
                             : Counter::kFaultDelayed);
        return sent;
      }
      sent = below_.Send(packet);
      if (sent == SendResult::kSent) counters.Add(Counter::kFaultNotHeld);
      break;
    }
    case FaultKind::kCorrupt:
      sent = below_.SendDamaged(packet, Random(FaultPlan::kMaxRules));
      if (sent == SendResult::kSent) counters.Add(Counter::kFaultCorrupted);
      break;
  }
  if (sent == SendResult::kSent) Overtake();
  return sent;
}

// The second one may find the wire full; it then follows when there is room.
SendResult FaultWire::SendTwice(const Packet& packet) {
  SendResult sent = below_.Send(packet);
  if (sent != SendResult::kSent) return sent;
  Overtake();
  sent = below_.Send(packet);
  if (sent == SendResult::kBusy) sent = Hold(packet, kWhenReady, 0);
  needs_.counters.Add(sent == SendResult::kSent ? Counter::kFaultDuplicated
                                                : Counter::kFaultNotHeld);
  return SendResult::kSent;
}

SendResult FaultWire::Hold(const Packet& packet, uint64_t deadline,
                           uint32_t overtakers) {
  if (free_.empty() || packet.payload.length > kMaxPayload)
    return SendResult::kBusy;
  Slot& slot = slots_[free_.back()];
  if (!CopyToHost(needs_.dma, slot.bytes.data(), packet.payload))
    return SendResult::kDmaError;
  slot.packet = packet;
  slot.packet.payload = {.bytes = slot.bytes.data(),
                         .segments = {},
                         .length = packet.payload.length};
  slot.deadline = deadline;
  slot.overtakers = overtakers;
  held_.push_back(free_.back());
  free_.pop_back();
  overtaking_ += overtakers != 0;
  ArmTimer();
  return SendResult::kSent;
}

void FaultWire::Overtake() {
  if (overtaking_ == 0) [[likely]]
    return;
  for (size_t i = 0; i < held_.size();) {
    Slot& slot = slots_[held_[i]];
    if (slot.overtakers == 0 || --slot.overtakers != 0) {
      ++i;
      continue;
    }
    --overtaking_;
    if (below_is_ == Below::kDelivers) {
      slot.deadline = needs_.host.NowNs();
      ++i;
    } else {
      slot.deadline = kWhenReady;
      if (!Release(i)) ++i;
    }
  }
  ArmTimer();
}

void FaultWire::ReleaseDue() {
  const uint64_t now = needs_.host.NowNs();
  for (;;) {
    size_t next = held_.size();
    for (size_t i = 0; i < held_.size(); ++i) {
      const uint64_t deadline = slots_[held_[i]].deadline;
      if (deadline > now) continue;
      if (next == held_.size() || deadline < slots_[held_[next]].deadline)
        next = i;
    }
    if (next == held_.size()) break;
    if (!Release(next)) return;  // Ready() goes on
  }
  ArmTimer();
}

bool FaultWire::Release(size_t at) {
  const uint32_t index = held_[at];
  Slot& slot = slots_[index];
  if (below_.Send(slot.packet) == SendResult::kBusy) return false;
  overtaking_ -= slot.overtakers != 0;
  held_.erase(held_.begin() + static_cast<ptrdiff_t>(at));
  free_.push_back(index);
  return true;
}

void FaultWire::ArmTimer() {
  uint64_t first = VCX_CORE_NO_DEADLINE;
  for (const uint32_t index : held_)
    if (slots_[index].deadline != kWhenReady)
      first = std::min(first, slots_[index].deadline);
  if (first == VCX_CORE_NO_DEADLINE)
    needs_.timers.Cancel(timer_);
  else if (!timer_.armed() || timer_.deadline != first)
    needs_.timers.Arm(timer_, first);
}

void FaultWire::Clear() {
  needs_.timers.Cancel(timer_);
  free_.insert(free_.end(), held_.begin(), held_.end());
  held_.clear();
  overtaking_ = 0;
}

}  // namespace vcx
