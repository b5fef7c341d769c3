/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// doorbell.h - stage 1: a write to a UAR page, or a doorbell record, says that
// a queue has work. The page is the protection boundary between processes: an
// object answers only to the page it was created with.
#ifndef VCX_CORE_DATAPATH_DOORBELL_H_
#define VCX_CORE_DATAPATH_DOORBELL_H_

#include <cstdint>

#include "resource/qp.h"

namespace vcx {

class Pipeline;

class Doorbell {
 public:
  explicit Doorbell(Pipeline& p) : p_(p) {}

  // See Control::UarWrite().
  void UarWrite(uint32_t page, uint32_t at, uint64_t value, unsigned size);

  // Reads the send producer counter of the QP from its doorbell record and
  // schedules it when there is something to do. A counter that is further
  // ahead than the queue is long fails the QP.
  void ReadSendRecord(Qp& qp);

 private:
  enum Refusal : uint32_t {
    kNoRegister = 1,
    kNoObject = 2,
    kWrongPage = 3,
  };

  void RingSendQueue(uint32_t page, uint32_t at, uint64_t value);
  void ArmCq(uint32_t page, uint32_t at, uint64_t value);
  void UpdateEq(uint32_t page, uint32_t at, uint32_t value, bool arm);
  void Refuse(uint32_t page, uint32_t at, uint64_t value, Refusal reason);

  Pipeline& p_;
};

}  // namespace vcx

#endif  // VCX_CORE_DATAPATH_DOORBELL_H_
