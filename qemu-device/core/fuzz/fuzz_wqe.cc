/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Work queues: WQEs right in layout and raw, producer counters, doorbells,
// with the peer answering.
#include "fuzz/machine.h"
#include "fuzz/target.h"

namespace vcx::fuzz {

void Run(Script script) {
  Machine machine;
  while (!script.empty()) {
    switch (script.Below(8)) {
      case 0: machine.Scribble(script); break;
      case 1: machine.Doorbell(script); break;
      case 2: machine.ArmOrPoll(script); break;
      case 3: machine.ChangeQpState(script); break;
      case 4: machine.Time(script); break;
      default: machine.Post(script); break;
    }
    machine.Settle();
  }
}

std::vector<std::vector<uint8_t>> Seeds() {
  std::vector<std::vector<uint8_t>> seeds;
  for (uint8_t kind = 0; kind < 6; ++kind) {
    ScriptWriter one;
    // Two receives at the peer, two messages, time, completions.
    for (int i = 0; i < 2; ++i)
      one.U8(7).U8(1).U8(1).U8(1).U16(8192).U8(0).U16(0);
    for (int i = 0; i < 2; ++i)
      one.U8(7)
          .U8(0)
          .U8(6)
          .U8(1)
          .U16(5000)
          .U8(0)
          .U16(0)
          .U16(0)
          .U8(0)
          .U16(16)
          .U8(kind);
    one.U8(2).U8(0).U8(1).U8(1).U8(0).U8(4).U8(30).U8(2).U8(0).U8(1).U8(0);
    seeds.push_back(one.data());
  }
  return seeds;
}

}  // namespace vcx::fuzz
