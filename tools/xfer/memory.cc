/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "xfer/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "xfer/error.h"

namespace xfer {

Area::Area(ibv_pd* pd, uint32_t size, uint32_t offset_in_page, int access)
    : map_size_(size + size_t{offset_in_page}), size_(size) {
  map_ = mmap(nullptr, map_size_, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map_ == MAP_FAILED) FailErrno(errno, "no memory of {} bytes", size);
  data_ = static_cast<uint8_t*>(map_) + offset_in_page;
  mr_ = ibv_reg_mr(pd, data_, size_, access);
  if (mr_ == nullptr)
    FailErrno(errno, "{} bytes of memory cannot be registered", size);
}

// A memory region that was not deregistered stays until the process ends.
Area::~Area() {
  if (mr_ == nullptr) munmap(map_, map_size_);
}

void Area::Deregister() {
  if (const int e = ibv_dereg_mr(mr_))
    FailErrno(e, "memory cannot be deregistered");
  mr_ = nullptr;
}

std::vector<Piece> Filled(const std::vector<Piece>& pieces, uint32_t length) {
  std::vector<Piece> filled;
  for (const Piece& piece : pieces) {
    const uint32_t n = std::min(piece.length, length);
    if (n != 0) filled.push_back({piece.offset, n});
    length -= n;
  }
  return filled;
}

std::string CompareStep(const Step& step, const Area& target, uint64_t key) {
  std::vector<uint8_t> expected(step.length);
  size_t at = 0;
  for (const Piece& piece : step.source) {
    FillPattern(key, piece.offset, Bytes(expected).subspan(at, piece.length));
    at += piece.length;
  }
  at = 0;
  for (const Piece& piece : Filled(step.target, step.length)) {
    const Bytes got = target.at(piece);
    const uint8_t* want = &expected[at];
    at += piece.length;
    if (std::memcmp(got.data(), want, got.size()) == 0) continue;
    const auto wrong = static_cast<size_t>(
        std::mismatch(got.begin(), got.end(), want).first - got.begin());
    return std::format("byte {} of {} is {:#04x}, not {:#04x}",
                       at - piece.length + wrong, step.length, got[wrong],
                       want[wrong]);
  }
  return {};
}

std::string CompareRest(std::vector<Piece> pieces, const Area& target) {
  const auto size = static_cast<uint32_t>(target.bytes().size());
  pieces.push_back({size, 0});
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
  uint32_t at = 0;
  for (const Piece& piece : pieces) {
    const Bytes gap = target.at({at, piece.offset - at});
    const size_t touched = FirstTouched(gap);
    if (touched != gap.size())
      return std::format(
          "memory that no operation names has changed, at byte {} of {}",
          at + touched, size);
    at = piece.offset + piece.length;
  }
  return {};
}

}  // namespace xfer
