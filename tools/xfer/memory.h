/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// memory.h - the registered memory of an endpoint, and the check of what is in
// it.
#ifndef VCX_TOOLS_XFER_MEMORY_H_
#define VCX_TOOLS_XFER_MEMORY_H_

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <vector>

#include "xfer/plan.h"

namespace xfer {

// A registered stretch of memory that begins anywhere in a page.
class Area {
 public:
  Area(ibv_pd* pd, uint32_t size, uint32_t offset_in_page, int access);
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  ~Area();

  Bytes bytes() const { return {data_, size_}; }
  Bytes at(Piece piece) const {
    return bytes().subspan(piece.offset, piece.length);
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data_); }
  uint32_t lkey() const { return mr_->lkey; }
  uint32_t rkey() const { return mr_->rkey; }
  void Deregister();

 private:
  void* map_;
  size_t map_size_;
  uint8_t* data_;
  size_t size_;
  ibv_mr* mr_ = nullptr;
};

// The pieces that a message of `length` bytes fills, of those it may fill.
std::vector<Piece> Filled(const std::vector<Piece>& pieces, uint32_t length);

// Compares the step's target with the pattern `key`, as the step's source lays
// it out. An empty string, or what is wrong.
std::string CompareStep(const Step& step, const Area& target, uint64_t key);

// Looks for bytes that changed outside `pieces`; what is wrong.
std::string CompareRest(std::vector<Piece> pieces, const Area& target);

}  // namespace xfer

#endif  // VCX_TOOLS_XFER_MEMORY_H_
