/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// responder.h - stage 7: judge a request packet, then apply it, and owe the
// answer. (IBA vol. 1, 9.7.4 and 9.7.5.1)
#ifndef VCX_CORE_DATAPATH_RESPONDER_H_
#define VCX_CORE_DATAPATH_RESPONDER_H_

#include <cstdint>

#include "datapath/send_queue.h"
#include "memory/dma.h"
#include "resource/qp.h"
#include "wire/packet.h"

namespace vcx {

class Pipeline;

// What the responder thinks of a request packet.
enum class PacketVerdict : uint8_t {
  kApply,
  kIgnore,  // the QP takes no more requests
  kDuplicate,
  kOutOfSequence,
  kBadSequence,  // this opcode cannot come now
  kBadLength,    // not what the path MTU or the message says
  kNotAllowed,   // the QP does not take this operation
  kTooManyReads,
  kBadKey,  // remote key, address or right
};

class Responder {
 public:
  explicit Responder(Pipeline& p) : p_(p) {}

  // A request for a QP whose state allows it.
  void Handle(Qp& qp, const Packet& packet);

 private:
  PacketVerdict Judge(const Qp& qp, const Packet& packet) const;
  PacketVerdict JudgeSequence(const Qp& qp, const OpcodeInfo& info) const;
  PacketVerdict JudgeLength(const Qp& qp, const Packet& packet,
                            const OpcodeInfo& info) const;
  PacketVerdict JudgeRights(const Qp& qp, const Packet& packet,
                            const OpcodeInfo& info) const;

  void Apply(Qp& qp, const Packet& packet);
  bool ApplySend(Qp& qp, const Packet& packet, const OpcodeInfo& info);
  bool ApplyWrite(Qp& qp, const Packet& packet, const OpcodeInfo& info);
  void ApplyRead(Qp& qp, const Packet& packet);
  void Duplicate(Qp& qp, const Packet& packet);

  // The receive WQE that is being filled ends in error.
  void FailReceive(Qp& qp, const Fault& fault, uint8_t nak_syndrome);

  Pipeline& p_;
  SegmentList segments_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_RESPONDER_H_
