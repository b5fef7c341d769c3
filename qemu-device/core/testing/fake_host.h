/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// fake_host.h - a host for tests: memory, a clock that obeys, interrupts that
// are counted, a wire that remembers, and faults on demand.
//
//   FakeHost host;
//   const uint64_t a = host.Alloc(4096);   // DMA address of fresh, zero memory
//   host.Put(a, vcx_be32(7));
//   host.FailDma(a, 4096);                 // from now on the bus refuses it
//
// Only allocated memory exists. Allocations have unmapped space around them,
// so a device that runs off the end of a buffer gets a bus error.
#ifndef VCX_CORE_TESTING_FAKE_HOST_H_
#define VCX_CORE_TESTING_FAKE_HOST_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "host.h"

namespace vcx {

using Frame = std::vector<uint8_t>;

// Memory in pages that need not be next to each other, as drivers give it.
struct FakeBuffer {
  std::vector<uint64_t> pages;
  uint8_t log_page = 12;
  uint32_t offset = 0;  // of byte 0 in the first page
  uint64_t bytes = 0;

  uint64_t At(uint64_t at) const {
    at += offset;
    return pages[at >> log_page] + (at & ((uint64_t{1} << log_page) - 1));
  }
  // Bytes from here to the end of the page.
  uint64_t Contiguous(uint64_t at) const {
    const uint64_t page = uint64_t{1} << log_page;
    return page - ((at + offset) & (page - 1));
  }
};

// One thing the device did to the outside, for tests of order.
struct HostEvent {
  enum class Kind : uint8_t { kDmaWrite, kInterrupt, kFrame } kind;
  uint64_t addr;  // kDmaWrite: address; kInterrupt: vector
  uint64_t len;
};

struct TraceRecord {
  vcx_trace_point point;
  std::array<uint64_t, 4> args;
};

class FakeHost final : public Host {
 public:
  enum FailKind : uint8_t { kFailRead = 1, kFailWrite = 2, kFailBoth = 3 };

  explicit FakeHost(uint64_t seed = 1) : random_state_(seed) {}

  // ---- Memory, as the test sees it: no faults, but it must exist -----------

  uint64_t Alloc(uint64_t bytes, uint64_t align = 4096);
  // Pages of 1 << log_page bytes with holes between them.
  FakeBuffer AllocBuffer(uint64_t bytes, uint8_t log_page = 12,
                         uint32_t offset = 0);
  void Write(uint64_t addr, const void* buf, size_t len);
  void Read(uint64_t addr, void* buf, size_t len);
  void WriteBuffer(const FakeBuffer& buffer, uint64_t at, const void* buf,
                   size_t len);
  void ReadBuffer(const FakeBuffer& buffer, uint64_t at, void* buf, size_t len);
  template <class T>
  void Put(uint64_t addr, const T& value) {
    Write(addr, &value, sizeof(value));
  }
  template <class T>
  T Get(uint64_t addr) {
    T value;
    Read(addr, &value, sizeof(value));
    return value;
  }

  // ---- Faults
  // ----------------------------------------------------------------

  void FailDma(uint64_t addr, uint64_t len, FailKind kind = kFailBoth) {
    failures_.push_back({addr, len, kind});
  }
  void HealDma() { failures_.clear(); }
  void set_map_works(bool works) { map_works_ = works; }
  bool wire_full = false;           // SendFrame() refuses
  size_t wire_capacity = SIZE_MAX;  // and when so many frames wait

  // ---- What the device did
  // ---------------------------------------------------

  uint64_t now = 1'000'000'000;
  uint64_t deadline = VCX_CORE_NO_DEADLINE;
  bool kicked = false;
  std::map<unsigned, uint32_t> interrupts;  // by vector
  std::deque<Frame> frames;                 // sent and not yet taken
  std::vector<TraceRecord> traces;
  bool log_events = false;
  std::vector<HostEvent> events;
  int mapped = 0;  // DmaMap() without DmaUnmap()
  uint64_t dma_reads = 0;
  uint64_t dma_writes = 0;
  uint64_t entry_writes = 0;  // calls of DmaWriteEntries()

  bool Traced(vcx_trace_point point) const;

  // ---- Host
  // --------------------------------------------------------------------

  bool DmaRead(uint64_t addr, void* buf, size_t len) override;
  bool DmaWrite(uint64_t addr, const void* buf, size_t len) override;
  bool DmaWriteEntries(uint64_t addr, const void* entries,
                       size_t count) override {
    ++entry_writes;
    return Host::DmaWriteEntries(addr, entries, count);
  }
  const void* DmaMap(uint64_t addr, size_t* len) override;
  void DmaUnmap(const void* ptr, size_t len) override;
  void RaiseMsix(unsigned vector) override;
  uint64_t NowNs() override { return now; }
  uint64_t Random() override;
  void SetTimer(uint64_t deadline_ns) override { deadline = deadline_ns; }
  void Kick() override { kicked = true; }
  bool SendFrame(const void* frame, size_t len) override;
  void Trace(vcx_trace_point point, const uint64_t args[4]) override;

 private:
  static constexpr uint64_t kPage = 4096;
  using Page = std::array<uint8_t, kPage>;

  struct Failure {
    uint64_t addr;
    uint64_t len;
    FailKind kind;
  };

  bool Exists(uint64_t addr, uint64_t len) const;
  bool Fails(uint64_t addr, uint64_t len, FailKind kind) const;
  uint8_t* Byte(uint64_t addr);
  void Copy(uint64_t addr, void* to, const void* from, size_t len);

  std::map<uint64_t, uint64_t> ram_;                           // begin -> end
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;  // as touched
  uint64_t next_ = 0x1'2000'0000;  // above 4 GiB: a lost upper half is noticed
  std::vector<Failure> failures_;
  bool map_works_ = true;
  uint64_t random_state_;
};

}  // namespace vcx

#endif  // VCX_CORE_TESTING_FAKE_HOST_H_
