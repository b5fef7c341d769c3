/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// fault.h - a wire that loses, doubles, delays and damages packets by a plan:
// a decorator of any other wire. Without a plan it is not in the path at all.
//
// What it does is settled by the plan, its seed and the number of the packet on
// this wire, not by time: the same packets meet the same faults.
//
// Packets that are held back are copied into slots that are made once. When
// there is no free one the packet goes on at once, and is counted as not held.
#ifndef VCX_CORE_WIRE_FAULT_H_
#define VCX_CORE_WIRE_FAULT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "host.h"
#include "memory/dma.h"
#include "stats/counters.h"
#include "stats/trace.h"
#include "timer.h"
#include "wire/fault_plan.h"
#include "wire/wire.h"

namespace vcx {

class FaultWire final : public Wire {
 public:
  static constexpr uint32_t kSlots = 256;
  // A packet that waits to be overtaken goes on after this, so that the last
  // one of a burst does not wait for ever.
  static constexpr uint64_t kOvertakeNs = 1'000'000;

  // What the wire needs beside the one below; all outlive it.
  struct Needs {
    Host& host;
    Dma& dma;
    TimerQueue& timers;
    Counters& counters;
    Trace& trace;
  };

  // How the wire below hands packets over. One that delivers within Send() must
  // not get held packets from there: their receiver would move the engine that
  // is sending.
  enum class Below : uint8_t { kQueues, kDelivers };

  // Wires of one device differ in `below_is`, and lose different packets.
  FaultWire(Wire& below, Below below_is, const FaultPlan& plan,
            const Needs& needs);

  // A fault hits one packet as a link has it, on loopback too.
  uint32_t MaxPayload(uint32_t mtu) const override { return mtu; }
  SendResult Send(const Packet& packet) override;
  SendResult SendDamaged(const Packet& packet, uint64_t where) override {
    return below_.SendDamaged(packet, where);
  }

  // The timer of this wire has gone off.
  void TimerExpired() { ReleaseDue(); }
  // The wire below takes packets again.
  void Ready() { ReleaseDue(); }
  // Forgets what is held.
  void Clear();

  uint32_t held() const { return static_cast<uint32_t>(held_.size()); }

 private:
  static constexpr uint32_t kMaxPayload = 4096;

  // What the plan says of one packet. Becomes true with Commit(), when the
  // packet is gone: a wire that is busy is asked again for the same packet.
  struct Verdict {
    const FaultRule* rule = nullptr;  // null: nothing happens to it
    uint32_t fits = 0;                // rules by position that count it, as bits
  };

  struct Slot {
    Packet packet;
    uint64_t deadline = 0;
    uint32_t overtakers = 0;  // still to come; 0: only the deadline counts
    std::array<uint8_t, kMaxPayload> bytes;
  };

  Verdict Decide(const Packet& packet) const;
  void Commit(const Verdict& verdict);
  SendResult Apply(const FaultRule& rule, const Packet& packet);
  SendResult SendTwice(const Packet& packet);
  // kBusy: there is no room.
  SendResult Hold(const Packet& packet, uint64_t deadline, uint32_t overtakers);
  // A packet has gone on below.
  void Overtake();
  void ReleaseDue();
  // False: the wire below is busy.
  bool Release(size_t at);
  void ArmTimer();
  uint64_t Random(uint64_t what) const;

  Wire& below_;
  const Below below_is_;
  const FaultPlan& plan_;
  const uint64_t stream_;
  const Needs needs_;
  uint64_t packets_ = 0;  // the number of the next one
  std::array<uint64_t, FaultPlan::kMaxRules> fitted_{};  // by rule
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> held_;  // slots, in the order in which they came
  uint32_t overtaking_ = 0;     // of them waiting to be overtaken
  Timer timer_{TimerKind::kFault, this};
};

}  // namespace vcx

#endif  // VCX_CORE_WIRE_FAULT_H_
