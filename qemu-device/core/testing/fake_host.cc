/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "testing/fake_host.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace vcx {

uint64_t FakeHost::Alloc(uint64_t bytes, uint64_t align) {
  const uint64_t begin = (next_ + align - 1) / align * align;
  const uint64_t end = (begin + bytes + kPage - 1) / kPage * kPage;
  ram_[begin] = end;
  next_ = end + kPage;
  return begin;
}

FakeBuffer FakeHost::AllocBuffer(uint64_t bytes, uint8_t log_page,
                                 uint32_t offset) {
  const uint64_t page = uint64_t{1} << log_page;
  FakeBuffer buffer{
      .pages = {}, .log_page = log_page, .offset = offset, .bytes = bytes};
  for (uint64_t at = 0; at < offset + bytes; at += page)
    buffer.pages.push_back(Alloc(page, page));
  // The order of addresses says nothing about the order of pages.
  std::reverse(buffer.pages.begin(), buffer.pages.end());
  return buffer;
}

bool FakeHost::Exists(uint64_t addr, uint64_t len) const {
  auto range = ram_.upper_bound(addr);
  if (range == ram_.begin()) return false;
  --range;
  return len <= range->second - range->first &&
         addr - range->first <= range->second - range->first - len;
}

bool FakeHost::Fails(uint64_t addr, uint64_t len, FailKind kind) const {
  if (!Exists(addr, len)) return true;
  return std::any_of(failures_.begin(), failures_.end(), [&](const Failure& f) {
    return (f.kind & kind) != 0 && addr < f.addr + f.len && f.addr < addr + len;
  });
}

uint8_t* FakeHost::Byte(uint64_t addr) {
  std::unique_ptr<Page>& page = pages_[addr / kPage];
  if (!page) page = std::make_unique<Page>();
  return &(*page)[addr % kPage];
}

void FakeHost::Copy(uint64_t addr, void* to, const void* from, size_t len) {
  for (size_t at = 0; at < len;) {
    const size_t part = std::min<size_t>(len - at, kPage - (addr + at) % kPage);
    if (to != nullptr)
      std::memcpy(static_cast<uint8_t*>(to) + at, Byte(addr + at), part);
    else
      std::memcpy(Byte(addr + at), static_cast<const uint8_t*>(from) + at,
                  part);
    at += part;
  }
}

void FakeHost::Write(uint64_t addr, const void* buf, size_t len) {
  if (!Exists(addr, len)) {
    fprintf(stderr, "the test writes to memory that it has not allocated\n");
    abort();
  }
  Copy(addr, nullptr, buf, len);
}

void FakeHost::Read(uint64_t addr, void* buf, size_t len) {
  if (!Exists(addr, len)) {
    fprintf(stderr, "the test reads memory that it has not allocated\n");
    abort();
  }
  Copy(addr, buf, nullptr, len);
}

void FakeHost::WriteBuffer(const FakeBuffer& buffer, uint64_t at,
                           const void* buf, size_t len) {
  for (size_t i = 0; i < len;) {
    const size_t part = std::min<size_t>(len - i, buffer.Contiguous(at + i));
    Write(buffer.At(at + i), static_cast<const uint8_t*>(buf) + i, part);
    i += part;
  }
}

void FakeHost::ReadBuffer(const FakeBuffer& buffer, uint64_t at, void* buf,
                          size_t len) {
  for (size_t i = 0; i < len;) {
    const size_t part = std::min<size_t>(len - i, buffer.Contiguous(at + i));
    Read(buffer.At(at + i), static_cast<uint8_t*>(buf) + i, part);
    i += part;
  }
}

bool FakeHost::Traced(vcx_trace_point point) const {
  return std::any_of(
      traces.begin(), traces.end(),
      [point](const TraceRecord& r) { return r.point == point; });
}

bool FakeHost::DmaRead(uint64_t addr, void* buf, size_t len) {
  ++dma_reads;
  if (Fails(addr, len, kFailRead)) return false;
  Copy(addr, buf, nullptr, len);
  return true;
}

bool FakeHost::DmaWrite(uint64_t addr, const void* buf, size_t len) {
  ++dma_writes;
  if (Fails(addr, len, kFailWrite)) return false;
  Copy(addr, nullptr, buf, len);
  if (log_events)
    events.push_back({HostEvent::Kind::kDmaWrite, addr, uint64_t{len}});
  return true;
}

const void* FakeHost::DmaMap(uint64_t addr, size_t* len) {
  *len = std::min<size_t>(*len, kPage - addr % kPage);
  if (!map_works_ || Fails(addr, *len, kFailRead)) return nullptr;
  ++mapped;
  return Byte(addr);
}

void FakeHost::DmaUnmap(const void*, size_t) { --mapped; }

void FakeHost::RaiseMsix(unsigned vector) {
  ++interrupts[vector];
  if (log_events) events.push_back({HostEvent::Kind::kInterrupt, vector, 0});
}

// SplitMix64: the same seed, the same numbers.
uint64_t FakeHost::Random() {
  uint64_t z = random_state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

bool FakeHost::SendFrame(const void* frame, size_t len) {
  if (wire_full || frames.size() >= wire_capacity) return false;
  const auto* bytes = static_cast<const uint8_t*>(frame);
  frames.emplace_back(bytes, bytes + len);
  if (log_events) events.push_back({HostEvent::Kind::kFrame, 0, uint64_t{len}});
  return true;
}

void FakeHost::Trace(vcx_trace_point point, const uint64_t args[4]) {
  traces.push_back({point, {args[0], args[1], args[2], args[3]}});
}

}  // namespace vcx
