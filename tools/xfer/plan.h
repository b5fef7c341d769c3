/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// plan.h - what one QP transfers: rounds of operations, made from the seed.
// Both ends of the QP make the same plan.
#ifndef VCX_TOOLS_XFER_PLAN_H_
#define VCX_TOOLS_XFER_PLAN_H_

#include <cstdint>
#include <vector>

#include "xfer/options.h"
#include "xfer/pattern.h"

namespace xfer {

// A stretch of an area.
struct Piece {
  uint32_t offset;
  uint32_t length;
};

struct Step {
  Op op;
  uint32_t length;
  uint32_t imm;
  bool fence;
  bool in_line;
  bool signal;
  // Where the data lies in the sender's source area, in its order. One piece
  // when the peer names it by address (read).
  std::vector<Piece> source;
  // Where it goes in the receiver's target area, likewise (write: one piece).
  // The targets of a round do not overlap. A receive may have more room than
  // the message needs.
  std::vector<Piece> target;
};

struct Round {
  uint64_t number = 0;
  uint64_t bytes = 0;
  std::vector<Step> steps;
};

class Plan {
 public:
  static constexpr uint32_t kMaxSteps = 64;

  Plan(const Traffic& traffic, uint32_t qp);

  // The next round; false when everything has been transferred.
  bool Next(Round* round);

 private:
  uint32_t PickLength(uint32_t room);
  std::vector<Piece> Split(uint32_t length);
  Step MakeStep(uint32_t room);
  void PlaceTargets(Round& round);

  const Traffic& traffic_;
  Random random_;
  uint64_t bytes_left_;
  uint64_t rounds_ = 0;
  uint32_t since_signal_ = 0;
};

}  // namespace xfer

#endif  // VCX_TOOLS_XFER_PLAN_H_
