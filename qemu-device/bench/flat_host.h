/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// flat_host.h - a host that costs nothing, to measure the core alone: guest
// memory is one piece of this process' memory.
//
// Objects are made with FakeDriver, which lives on a FakeHost. Until Freeze()
// everything is passed on to that; from then on each page is taken over when it
// is first touched, and what the device does to memory is no longer seen there.
// The clock stands still: reading one is the host's cost, not the core's.
#ifndef VCX_BENCH_FLAT_HOST_H_
#define VCX_BENCH_FLAT_HOST_H_

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "live_bytes.h"
#include "testing/fake_host.h"

namespace vcx {

class FlatHost final : public Host {
 public:
  explicit FlatHost(FakeHost& fake) : fake_(fake), base_(fake.Alloc(1)) {}
  ~FlatHost() override {
    if (bytes_ != nullptr) munmap(bytes_, size_);
  }
  FlatHost(const FlatHost&) = delete;
  FlatHost& operator=(const FlatHost&) = delete;

  void Freeze() {
    size_ = fake_.Alloc(1) - base_;
    present_.resize(size_ / kPage);
    void* map = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
      perror("guest memory");
      exit(1);
    }
    bytes_ = static_cast<uint8_t*>(map);
  }

  // Guest memory at an address, after Freeze(), within a page.
  uint8_t* At(uint64_t addr) {
    const uint64_t page = (addr - base_) / kPage;
    if (present_[page] == 0) TakeOver(page);
    return bytes_ + (addr - base_);
  }

  bool DmaRead(uint64_t addr, void* buf, size_t len) override {
    if (bytes_ == nullptr)
      return Pass([&] { return fake_.DmaRead(addr, buf, len); });
    if (!Reach(addr, len)) return false;
    std::memcpy(buf, bytes_ + (addr - base_), len);
    return true;
  }
  bool DmaWrite(uint64_t addr, const void* buf, size_t len) override {
    if (bytes_ == nullptr)
      return Pass([&] { return fake_.DmaWrite(addr, buf, len); });
    if (!Reach(addr, len)) return false;
    std::memcpy(bytes_ + (addr - base_), buf, len);
    return true;
  }
  bool DmaWriteEntries(uint64_t addr, const void* entries,
                       size_t count) override {
    return DmaWrite(addr, entries, count * kEntryBytes);
  }
  const void* DmaMap(uint64_t addr, size_t* len) override {
    if (bytes_ == nullptr) return nullptr;
    return Reach(addr, *len) ? bytes_ + (addr - base_) : nullptr;
  }
  void DmaUnmap(const void*, size_t) override {}
  void RaiseMsix(unsigned vector) override {
    Pass([&] { return fake_.RaiseMsix(vector), true; });
  }
  uint64_t NowNs() override { return fake_.now; }
  uint64_t Random() override { return fake_.Random(); }
  void SetTimer(uint64_t deadline_ns) override { fake_.deadline = deadline_ns; }
  void Kick() override { fake_.kicked = true; }
  bool SendFrame(const void*, size_t) override { return true; }
  void Trace(vcx_trace_point, const uint64_t[4]) override {}

 private:
  static constexpr uint64_t kPage = 4096;

  // What FakeHost allocates is not the device's.
  template <class Call>
  static bool Pass(Call call) {
    const bool counting = std::exchange(LiveBytes::counting, false);
    const bool ok = call();
    LiveBytes::counting = counting;
    return ok;
  }

  bool Reach(uint64_t addr, size_t len) {
    if (len == 0) return true;
    if (addr < base_ || addr - base_ > size_ || len > size_ - (addr - base_))
      return false;
    const uint64_t last = (addr - base_ + len - 1) / kPage;
    for (uint64_t page = (addr - base_) / kPage; page <= last; ++page)
      if (present_[page] == 0) TakeOver(page);
    return true;
  }

  void TakeOver(uint64_t page) {
    fake_.Read(base_ + page * kPage, bytes_ + page * kPage, kPage);
    present_[page] = 1;
  }

  FakeHost& fake_;
  const uint64_t base_;
  uint64_t size_ = 0;
  uint8_t* bytes_ = nullptr;
  std::vector<uint8_t> present_;
};

}  // namespace vcx

#endif  // VCX_BENCH_FLAT_HOST_H_
