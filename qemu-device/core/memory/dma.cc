/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "memory/dma.h"

#include <algorithm>

namespace vcx {

bool GuestBuffer::Contains(uint64_t at, size_t len) const {
  const uint64_t bytes = (uint64_t{pages_.size()} << log_page_bytes_) - offset_;
  return !pages_.empty() && at <= bytes && len <= bytes - at;
}

bool GuestBuffer::Read(Dma& dma, uint64_t at, void* buf, size_t len) const {
  if (!Contains(at, len)) return false;
  auto* to = static_cast<uint8_t*>(buf);
  const uint64_t page = uint64_t{1} << log_page_bytes_;
  while (len != 0) {
    const size_t n =
        std::min<uint64_t>(len, page - ((at + offset_) & (page - 1)));
    if (!dma.Read(Address(at), to, n)) return false;
    at += n;
    to += n;
    len -= n;
  }
  return true;
}

bool GuestBuffer::Write(Dma& dma, uint64_t at, const void* buf,
                        size_t len) const {
  if (!Contains(at, len)) return false;
  auto* from = static_cast<const uint8_t*>(buf);
  const uint64_t page = uint64_t{1} << log_page_bytes_;
  while (len != 0) {
    const size_t n =
        std::min<uint64_t>(len, page - ((at + offset_) & (page - 1)));
    if (!dma.Write(Address(at), from, n)) return false;
    at += n;
    from += n;
    len -= n;
  }
  return true;
}

namespace {

// Hands out the destination in pieces, in order.
class Cursor {
 public:
  explicit Cursor(std::span<const Segment> segments) : segments_(segments) {}

  // Writes len bytes at the cursor and moves it. False: bus error, or the
  // destination is used up.
  bool Put(Dma& dma, const uint8_t* from, size_t len) {
    while (len != 0) {
      if (at_ == segments_.size()) return false;
      const Segment& segment = segments_[at_];
      const size_t n = std::min<size_t>(len, segment.len - used_);
      if (n != 0 && !dma.Write(segment.addr + used_, from, n)) return false;
      from += n;
      len -= n;
      used_ += static_cast<uint32_t>(n);
      if (used_ == segment.len) {
        ++at_;
        used_ = 0;
      }
    }
    return true;
  }

 private:
  std::span<const Segment> segments_;
  size_t at_ = 0;
  uint32_t used_ = 0;
};

// Memory that cannot be mapped goes through here in pieces.
constexpr size_t kBounceBytes = 4096;

// Calls sink(pointer, bytes) for the bytes of one source segment in order.
template <class Sink>
bool Visit(Dma& dma, uint64_t addr, size_t len, Sink sink) {
  while (len != 0) {
    size_t n = len;
    if (const void* ptr = dma.Map(addr, &n)) {
      n = std::min(n, len);
      const bool ok = sink(static_cast<const uint8_t*>(ptr), n);
      dma.Unmap(ptr, n);
      if (!ok) return false;
    } else {
      uint8_t bounce[kBounceBytes];
      n = std::min(len, kBounceBytes);
      if (!dma.Read(addr, bounce, n) || !sink(bounce, n)) return false;
    }
    addr += n;
    len -= n;
  }
  return true;
}

}  // namespace

bool CopyToGuest(Dma& dma, std::span<const Segment> to,
                 const Payload& payload) {
  Cursor cursor(to);
  if (payload.bytes != nullptr)
    return cursor.Put(dma, payload.bytes, payload.length);
  for (const Segment& from : payload.segments) {
    const bool ok = Visit(
        dma, from.addr, from.len,
        [&](const uint8_t* ptr, size_t n) { return cursor.Put(dma, ptr, n); });
    if (!ok) return false;
  }
  return true;
}

bool CopyToHost(Dma& dma, uint8_t* to, const Payload& payload) {
  if (payload.bytes != nullptr) {
    std::copy_n(payload.bytes, payload.length, to);
    return true;
  }
  for (const Segment& from : payload.segments) {
    if (!dma.Read(from.addr, to, from.len)) return false;
    to += from.len;
  }
  return true;
}

}  // namespace vcx
