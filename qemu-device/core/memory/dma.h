/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// dma.h - guest memory as the device reaches it: gated by Bus Master Enable,
// through pages, in pieces.
#ifndef VCX_CORE_MEMORY_DMA_H_
#define VCX_CORE_MEMORY_DMA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host.h"

namespace vcx {

// Host memory access that stops as one when bus mastering is off.
class Dma {
 public:
  explicit Dma(Host& host) : host_(host) {}

  void set_enabled(bool enabled) { enabled_ = enabled; }
  bool enabled() const { return enabled_; }

  bool Read(uint64_t addr, void* buf, size_t len) {
    return enabled_ && host_.DmaRead(addr, buf, len);
  }
  bool Write(uint64_t addr, const void* buf, size_t len) {
    return enabled_ && host_.DmaWrite(addr, buf, len);
  }
  bool WriteEntries(uint64_t addr, const void* entries, size_t count) {
    return enabled_ && host_.DmaWriteEntries(addr, entries, count);
  }
  const void* Map(uint64_t addr, size_t* len) {
    return enabled_ ? host_.DmaMap(addr, len) : nullptr;
  }
  void Unmap(const void* ptr, size_t len) { host_.DmaUnmap(ptr, len); }

 private:
  Host& host_;
  bool enabled_ = false;
};

// A queue's memory: pages of equal size that were given with the command, and
// the offset at which the queue begins in the first of them.
class GuestBuffer {
 public:
  GuestBuffer() = default;
  GuestBuffer(std::vector<uint64_t> pages, uint8_t log_page_bytes,
              uint32_t offset)
      : pages_(std::move(pages)),
        log_page_bytes_(log_page_bytes),
        offset_(offset) {}

  // How many page addresses a queue of this size needs.
  static uint64_t PagesFor(uint64_t bytes, uint8_t log_page_bytes,
                           uint32_t offset) {
    const uint64_t page = uint64_t{1} << log_page_bytes;
    return (offset + bytes + page - 1) >> log_page_bytes;
  }

  // DMA address of byte `at` of the queue. The caller keeps `at` inside.
  uint64_t Address(uint64_t at) const {
    at += offset_;
    return pages_[at >> log_page_bytes_] +
           (at & ((uint64_t{1} << log_page_bytes_) - 1));
  }

  // Reads or writes inside the queue, across pages where needed. False when
  // the range leaves the pages or the bus refuses.
  bool Read(Dma& dma, uint64_t at, void* buf, size_t len) const;
  bool Write(Dma& dma, uint64_t at, const void* buf, size_t len) const;

  const std::vector<uint64_t>& pages() const { return pages_; }

 private:
  bool Contains(uint64_t at, size_t len) const;

  std::vector<uint64_t> pages_;
  uint8_t log_page_bytes_ = 12;
  uint32_t offset_ = 0;
};

// A run of DMA addresses.
struct Segment {
  uint64_t addr;
  uint32_t len;
};

using SegmentList = std::vector<Segment>;

// Bytes of a packet, by reference: either in host memory (a frame, inline
// data) or in guest memory. Not owned.
struct Payload {
  const uint8_t* bytes = nullptr;  // used when not null
  std::span<const Segment> segments;
  uint32_t length = 0;
};

// Copies payload bytes [0, payload.length) to the destination, whose segments
// must hold at least as many. One copy where guest memory can be mapped. False
// when the bus refuses.
bool CopyToGuest(Dma& dma, std::span<const Segment> to, const Payload& payload);

// Gathers the payload into host memory. False when the bus refuses.
bool CopyToHost(Dma& dma, uint8_t* to, const Payload& payload);

}  // namespace vcx

#endif  // VCX_CORE_MEMORY_DMA_H_
