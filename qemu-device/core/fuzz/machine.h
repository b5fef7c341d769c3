/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// machine.h - what the fuzzers play with: two machines with a wire, and on each
// a process with a connected QP, its queues and memory, and a second process
// whose memory nobody was given a key for.
//
// The operations read their details from the script. They do what a hostile
// guest, wire or host could do at that point; whatever it is, the device must
// come to rest, and the second process's memory must stay as it was.
#ifndef VCX_CORE_FUZZ_MACHINE_H_
#define VCX_CORE_FUZZ_MACHINE_H_

#include <cstdint>
#include <vector>

#include "fuzz/script.h"
#include "testing/two_devices.h"
#include "wire/packet.h"

namespace vcx::fuzz {

// One process on one machine.
struct Process {
  TestMachine* machine = nullptr;
  FakeCq send_cq, recv_cq;
  FakeMr mr;
  FakeQp qp;
  Connection peer;  // how the QP is connected
};

class Machine {
 public:
  static constexpr uint32_t kMrBytes = 16384;

  Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  // Checks what holds at the end of every story, then resets both devices and
  // checks that nothing of them is left.
  ~Machine();

  // ---- Hostile guests -------------------------------------------------------

  void Bar(Script& script);
  // A command with this body; opcode, lengths and some fields as the script has
  // them. Numbers of objects that exist are made likely.
  void Command(Script& script);
  // A command entry and mailboxes of raw bytes.
  void RawCommand(Script& script);
  // A send or receive WQE that is right in its layout.
  void Post(Script& script);
  // Bytes anywhere in the queue buffer, the doorbell records or the memory.
  void Scribble(Script& script);
  // Rings for one of the QPs with a counter of the script's choice.
  void Doorbell(Script& script);
  void ArmOrPoll(Script& script);
  void ChangeQpState(Script& script);

  // ---- Hostile wires --------------------------------------------------------

  // A packet for one of the QPs with lies in any field, its checksums right or
  // not.
  void Packet(Script& script);
  void RawFrame(Script& script);
  void WireWeather(Script& script);

  // ---- Hosts ----------------------------------------------------------------

  void Time(Script& script);
  void Life(Script& script);  // reset, bus master, link, failing memory

  void Settle();
  // Keys for all of memory may exist: the secret is not one any more.
  void ForgetSecret() { secret_kept_ = false; }

 private:
  struct Secret {
    FakeMr mr;
    std::vector<uint8_t> bytes;
  };

  Process& Pick(Script& script) { return processes_[script.Below(2)]; }
  void MakeProcess(TestMachine& machine, Process* process, Secret* secret);
  std::vector<uint8_t> BuildFrame(Script& script, const Process& to);
  void CheckSecrets();
  static void CheckGone(TestMachine& machine);

  TwoDevices pair_;
  Process processes_[2];
  Secret secrets_[2];
  bool secret_kept_ = true;
};

}  // namespace vcx::fuzz

#endif  // VCX_CORE_FUZZ_MACHINE_H_
