/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "xfer/plan.h"

#include <algorithm>
#include <bit>

namespace xfer {
namespace {

constexpr uint32_t kMaxSlack = 96;

}  // namespace

Plan::Plan(const Traffic& traffic, uint32_t qp)
    : traffic_(traffic),
      random_(Mix(traffic.seed, qp)),
      bytes_left_((traffic.bytes + traffic.qps - 1) / traffic.qps) {}

// Zero, tiny, near a multiple of a page (so also of every MTU), and anything.
uint32_t Plan::PickLength(uint32_t room) {
  const uint32_t most = std::min(traffic_.max_size, room);
  if (traffic_.fixed_size != 0) return traffic_.max_size;
  uint64_t length = 0;
  switch (random_.Below(8)) {
    case 0: return 0;
    case 1:
    case 2: length = random_.Below(65); break;
    case 3:
      length =
          4096 * random_.Between(1, 1 + most / 4096) + random_.Below(5) - 2;
      break;
    case 4: {  // any order of magnitude
      const auto bits = random_.Below(std::bit_width(most) + 1);
      length = random_.Below((uint64_t{1} << bits) + 1);
      break;
    }
    default: length = random_.Below(uint64_t{most} + 1); break;
  }
  return static_cast<uint32_t>(std::min<uint64_t>(length, most));
}

// A list of at most `sges` lengths, without offsets; some may be zero bytes
// long, and zero bytes may be a list without an entry.
std::vector<Piece> Plan::Split(uint32_t length) {
  const auto most = static_cast<uint32_t>(random_.Between(1, traffic_.sges));
  if (length == 0 && random_.OneIn(2)) return {};
  std::vector<Piece> pieces;
  uint32_t left = length;
  while (pieces.size() + 1 < most && left > 1) {
    const auto n = static_cast<uint32_t>(random_.Between(1, left - 1));
    pieces.push_back({0, n});
    left -= n;
  }
  pieces.push_back({0, left});
  return pieces;
}

Step Plan::MakeStep(uint32_t room) {
  Step step{};
  step.op = traffic_.ops[random_.Below(traffic_.ops.size())];
  step.length = PickLength(room);
  step.imm = static_cast<uint32_t>(random_.Next());
  step.fence = random_.OneIn(8);
  step.in_line = step.op != Op::kRead && step.length <= traffic_.max_inline &&
                 random_.OneIn(2);
  // One completion retires all before it; the queue may never be full of
  // requests that will give none.
  step.signal = random_.OneIn(3) || ++since_signal_ >= traffic_.depth;
  if (step.signal) since_signal_ = 0;

  if (step.op == Op::kRead)
    step.source = {{0, step.length}};
  else
    step.source = Split(step.length);
  for (Piece& piece : step.source)
    piece.offset =
        static_cast<uint32_t>(random_.Below(traffic_.area - piece.length + 1));

  uint32_t target = step.length;
  if (IsSend(step.op) && traffic_.fixed_size == 0)
    target += static_cast<uint32_t>(
        std::min<uint64_t>(random_.Below(kMaxSlack), room - step.length));
  if (step.op == Op::kRead || IsSend(step.op))
    step.target = Split(target);
  else
    step.target = {{0, step.length}};
  return step;
}

// All target pieces, in a random order, with random gaps between them.
void Plan::PlaceTargets(Round& round) {
  std::vector<Piece*> pieces;
  uint64_t used = 0;
  for (Step& step : round.steps)
    for (Piece& piece : step.target) {
      pieces.push_back(&piece);
      used += piece.length;
    }
  for (size_t i = pieces.size(); i > 1; i--)
    std::swap(pieces[i - 1], pieces[random_.Below(i)]);
  uint64_t gaps = traffic_.area - used, at = 0;
  for (size_t i = 0; i < pieces.size(); i++) {
    const uint64_t gap = random_.Below(2 * gaps / (pieces.size() - i + 1) + 1);
    at += std::min(gap, gaps);
    gaps -= std::min(gap, gaps);
    pieces[i]->offset = static_cast<uint32_t>(at);
    at += pieces[i]->length;
  }
}

bool Plan::Next(Round* round) {
  if (traffic_.rounds != 0 ? rounds_ == traffic_.rounds : bytes_left_ == 0)
    return false;
  *round = Round{.number = rounds_++, .bytes = 0, .steps = {}};
  const auto most = static_cast<uint32_t>(random_.Between(1, kMaxSteps));
  uint64_t room = traffic_.area;
  while (round->steps.size() < most) {
    if (traffic_.fixed_size != 0 && room < traffic_.max_size) break;
    if (traffic_.rounds == 0 && round->bytes >= bytes_left_) break;
    Step step = MakeStep(static_cast<uint32_t>(room));
    for (const Piece& piece : step.target) room -= piece.length;
    round->bytes += step.length;
    round->steps.push_back(std::move(step));
  }
  bytes_left_ -= std::min(bytes_left_, round->bytes);
  PlaceTargets(*round);
  return true;
}

}  // namespace xfer
