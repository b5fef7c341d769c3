/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Everything at once, in any order: guests, wire, time, resets, failing memory.
#include "fuzz/machine.h"
#include "fuzz/target.h"

namespace vcx::fuzz {

void Run(Script script) {
  Machine machine;
  machine.ForgetSecret();
  while (!script.empty()) {
    switch (script.Below(16)) {
      case 0: machine.Bar(script); break;
      case 1: machine.Command(script); break;
      case 2: machine.RawCommand(script); break;
      case 3: machine.Scribble(script); break;
      case 4: machine.Doorbell(script); break;
      case 5: machine.ArmOrPoll(script); break;
      case 6: machine.ChangeQpState(script); break;
      case 7:
      case 8: machine.Packet(script); break;
      case 9: machine.RawFrame(script); break;
      case 10: machine.WireWeather(script); break;
      case 11: machine.Time(script); break;
      case 12: machine.Life(script); break;
      case 13: machine.Settle(); break;
      default: machine.Post(script); break;
    }
  }
}

std::vector<std::vector<uint8_t>> Seeds() {
  std::vector<std::vector<uint8_t>> seeds;
  // A message that is under way when each kind of thing happens.
  for (uint8_t op = 0; op < 16; ++op) {
    ScriptWriter one;
    one.U8(14).U8(1).U8(1).U8(1).U16(8192).U8(0).U16(0);
    one.U8(14).U8(0).U8(6).U8(1).U16(9000).U8(0).U16(0).U16(0).U8(0).U16(16).U8(
        2);
    one.U8(op);
    for (uint8_t i = 0; i < 24; ++i) one.U8(static_cast<uint8_t>(i * op));
    one.U8(13).U8(11).U8(33).U8(13);
    seeds.push_back(one.data());
  }
  return seeds;
}

}  // namespace vcx::fuzz
