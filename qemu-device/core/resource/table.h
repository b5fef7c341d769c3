/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// table.h - number -> object.
//
// A freed number goes to the end of the line, so that a stale number in a
// packet or a doorbell does not soon meet a new object.
#ifndef VCX_CORE_RESOURCE_TABLE_H_
#define VCX_CORE_RESOURCE_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace vcx {

template <class T>
class Table {
 public:
  // Numbers run from `first` to `first + max - 1`.
  Table(uint32_t first, uint32_t max) : first_(first), max_(max) {}

  // A new object whose member `number` is set, or null when the table is full.
  T* Allocate() {
    uint32_t slot;
    if (slots_.size() < max_ && free_.size() < kReuseDelay) {
      slot = static_cast<uint32_t>(slots_.size());
      slots_.emplace_back();
    } else if (!free_.empty()) {
      slot = free_.front();
      free_.pop_front();
    } else {
      return nullptr;
    }
    return Fill(slot);
  }

  // A new object with this number, or null unless it has been in use before and
  // is free. Recently freed numbers are found first.
  T* AllocateAt(uint32_t number) {
    const uint32_t slot = number - first_;
    if (slot >= slots_.size() || slots_[slot]) return nullptr;
    const auto found = std::find(free_.rbegin(), free_.rend(), slot);
    if (found == free_.rend()) return nullptr;
    free_.erase(std::next(found).base());
    return Fill(slot);
  }

  T* Find(uint32_t number) const {
    const uint32_t slot = number - first_;
    return slot < slots_.size() ? slots_[slot].get() : nullptr;
  }

  // The object must be of this table.
  void Free(T* object) {
    const uint32_t slot = object->number - first_;
    slots_[slot].reset();
    free_.push_back(slot);
    --count_;
  }

  void Clear() {
    slots_.clear();
    free_.clear();
    count_ = 0;
  }

  uint32_t count() const { return count_; }
  uint32_t max() const { return max_; }

  template <class F>
  void ForEach(F f) const {
    for (const auto& object : slots_)
      if (object) f(*object);
  }

 private:
  T* Fill(uint32_t slot) {
    slots_[slot] = std::make_unique<T>();
    slots_[slot]->number = first_ + slot;
    ++count_;
    return slots_[slot].get();
  }

  static constexpr size_t kReuseDelay = 1024;

  const uint32_t first_;
  const uint32_t max_;
  std::vector<std::unique_ptr<T>> slots_;
  std::deque<uint32_t> free_;
  uint32_t count_ = 0;
};

}  // namespace vcx

#endif  // VCX_CORE_RESOURCE_TABLE_H_
