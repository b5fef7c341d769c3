/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The wire: packets of a grammar with lies, and raw frames, to QPs in every
// state, some of them busy.
#include "fuzz/machine.h"
#include "fuzz/target.h"

namespace vcx::fuzz {

void Run(Script script) {
  Machine machine;
  while (!script.empty()) {
    switch (script.Below(10)) {
      case 0: machine.RawFrame(script); break;
      case 1: machine.Post(script); break;
      case 2: machine.Time(script); break;
      case 3: machine.ChangeQpState(script); break;
      case 4: machine.WireWeather(script); break;
      default: machine.Packet(script); break;
    }
    if (script.Below(4) == 0) machine.Settle();
  }
}

std::vector<std::vector<uint8_t>> Seeds() {
  std::vector<std::vector<uint8_t>> seeds;
  for (uint8_t opcode = 0; opcode < 18; ++opcode) {
    ScriptWriter one;
    one.U8(1).U8(1).U8(1).U8(1).U16(8192).U8(0).U16(0).U8(1);
    // In sequence, again, and one PSN too far.
    for (const uint8_t psn : {0, 0, 2})
      one.U8(9).U8(1).U8(opcode).U8(psn).U8(1).U8(0).U8(0).U8(200).U8(0).U8(0);
    seeds.push_back(one.data());
  }
  return seeds;
}

}  // namespace vcx::fuzz
