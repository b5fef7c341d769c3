/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Commands: bodies with lies, entries and mailboxes of raw bytes, and traffic
// on what they made.
#include "fuzz/machine.h"
#include "fuzz/target.h"

namespace vcx::fuzz {

void Run(Script script) {
  Machine machine;
  machine.ForgetSecret();
  while (!script.empty()) {
    switch (script.Below(8)) {
      case 0: machine.RawCommand(script); break;
      case 1: machine.Post(script); break;
      case 2: machine.Time(script); break;
      default: machine.Command(script); break;
    }
    machine.Settle();
  }
}

std::vector<std::vector<uint8_t>> Seeds() {
  std::vector<std::vector<uint8_t>> seeds;
  // Each body as it is, with a large enough output, twice.
  for (uint8_t body = 0; body < 12; ++body) {
    ScriptWriter one;
    for (int i = 0; i < 2; ++i)
      one.U8(3).U8(0).U8(body).U8(i == 0 ? 0 : 17).U8(0).U8(0).U8(0).U16(4200);
    seeds.push_back(one.data());
  }
  // Each opcode with the number of each kind of object.
  for (uint8_t opcode = 0; opcode < 38; ++opcode) {
    ScriptWriter one;
    for (uint8_t number = 0; number < 8; ++number)
      one.U8(3).U8(0).U8(9).U8(opcode).U8(0).U8(number).U8(64).U8(0).U16(4200);
    seeds.push_back(one.data());
  }
  return seeds;
}

}  // namespace vcx::fuzz
