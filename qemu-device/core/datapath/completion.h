/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// completion.h - stage 9: completion queue entries, overflow, arming and
// moderation. (IBA vol. 1, 11.4.2; PRM: Completion Queues)
#ifndef VCX_CORE_DATAPATH_COMPLETION_H_
#define VCX_CORE_DATAPATH_COMPLETION_H_

#include <array>
#include <cstdint>

#include "datapath/send_queue.h"
#include "resource/cq.h"
#include "resource/qp.h"
#include "vcx/cqe.h"

namespace vcx {

class Pipeline;

struct ReceiveCompletion {
  vcx_cqe_opcode opcode;
  uint16_t index;  // of the receive WQE
  uint32_t bytes;
  uint32_t imm;
  bool solicited;
};

class Completion {
 public:
  explicit Completion(Pipeline& p) : p_(p) {}

  // Each writes an entry. False: the CQ takes none any more, and the QP has
  // failed for it.
  bool SendDone(Qp& qp, const InflightWqe& wqe);
  bool SendError(Qp& qp, uint16_t counter, uint8_t opcode, const Fault& fault);
  bool ReceiveDone(Qp& qp, const ReceiveCompletion& done);
  bool ReceiveError(Qp& qp, uint16_t index, const Fault& fault);

  // The CQ reports the next entry of this sort; at once, if there is one beyond
  // `consumer` that no event has told of. Software arms before it polls, and
  // would else be woken again for the entry that it was just woken for.
  void Arm(Cq& cq, uint32_t consumer, CqArm arm);

  // Entries are written together as long as they follow each other in one ring.
  // Writes those that wait. Before any event, before anything a driver could
  // see of what they are about, and before objects go.
  void Flush() {
    if (waiting_.count != 0) WriteWaiting();
  }
  // Forgets them; the objects are gone already.
  void Clear() { waiting_.count = 0; }

  bool Resize(Cq& cq, GuestBuffer ring, uint8_t log_size);
  void ModerationExpired(Cq& cq);
  void ModerationChanged(Cq& cq);
  void Forget(Cq& cq);

 private:
  enum Refusal : uint64_t {
    kNone = 0,
    kOverrun = 1,
    kDma = 2,
    kFailedBefore = 3
  };

  bool Write(Qp& qp, Cq& cq, vcx_cqe* cqe, vcx_cqe_opcode opcode,
             bool solicited);
  bool Error(Qp& qp, Cq& cq, vcx_cqe_opcode opcode, uint16_t counter,
             uint8_t send_opcode, const Fault& fault);
  // Writes the entry, or says why not.
  Refusal TryWrite(Qp& qp, Cq& cq, vcx_cqe* cqe, vcx_cqe_opcode opcode,
                   bool solicited);
  // kNone: there is room for an entry.
  Refusal FindRoom(Cq& cq);
  // Where the next entry goes, and that it is complete.
  uint64_t Place(const Cq& cq, vcx_cqe* cqe, vcx_cqe_opcode opcode,
                 bool solicited);
  void Put(Qp& qp, Cq& cq, vcx_cqe* cqe, vcx_cqe_opcode opcode, bool solicited);
  void WriteWaiting();
  void Lose(Qp& qp, const Cq& cq, Refusal refusal);
  void Fail(Cq& cq, uint8_t status, uint8_t syndrome);
  void Notify(Cq& cq, bool solicited);
  void Report(Cq& cq);

  static constexpr uint32_t kMaxWaiting = 16;

  struct Waiting {
    Cq* cq;
    uint64_t address;  // of the first
    uint32_t count = 0;
    std::array<Qp*, kMaxWaiting> qps;  // whose they are
    alignas(64) std::array<vcx_cqe, kMaxWaiting> entries;
  };

  Pipeline& p_;
  Waiting waiting_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_COMPLETION_H_
