/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "resource/qp.h"

#include <algorithm>

namespace vcx {

void InflightQueue::PushBack(const InflightWqe& wqe) {
  if (count_ == ring_.size()) {
    std::vector<InflightWqe> larger(std::max<size_t>(4, 2 * ring_.size()));
    for (uint32_t i = 0; i < count_; ++i) larger[i] = (*this)[i];
    ring_.swap(larger);
    head_ = 0;
  }
  ring_[(head_ + count_) & (ring_.size() - 1)] = wqe;
  ++count_;
}

void InflightQueue::Clear() {
  ring_ = {};
  head_ = 0;
  count_ = 0;
}

}  // namespace vcx
