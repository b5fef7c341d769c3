/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Registers and doorbells of BAR 0: any access, in a device that works.
#include "fuzz/machine.h"
#include "fuzz/target.h"

namespace vcx::fuzz {

void Run(Script script) {
  Machine machine;
  // A doorbell of the command queue may run what lies there.
  machine.ForgetSecret();
  while (!script.empty()) {
    machine.Bar(script);
    if (script.Below(8) == 0) machine.Settle();
  }
}

std::vector<std::vector<uint8_t>> Seeds() {
  std::vector<std::vector<uint8_t>> seeds;
  // Every word of the initialization segment, then every doorbell register.
  ScriptWriter reads;
  for (uint32_t at = 0; at < 64; ++at)
    reads.U8(0).U32(at * 4).U8(0).U8(2).U8(0).U8(1);
  seeds.push_back(reads.data());
  for (const uint32_t reg :
       {0x20u, 0x40u, 0x48u, 0x800u, 0xa00u, 0xc00u, 0xe00u}) {
    ScriptWriter writes;
    for (uint32_t page = 4; page < 7; ++page)
      writes.U8(0).U32(page * 4096 + reg).U8(0).U8(3).U8(1).U64(0).U8(0);
    seeds.push_back(writes.data());
  }
  return seeds;
}

}  // namespace vcx::fuzz
