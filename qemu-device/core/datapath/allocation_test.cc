/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The data path allocates nothing: after a first lap, in which queues grow to
// what they need, messages of every kind pass without one call of operator new.
#include <cstdlib>
#include <new>
#include <utility>

#include "testing/traffic_test.h"

namespace {

// What the core allocates, not its test or its host.
bool counting = false;
uint64_t allocations = 0;

void* Allocate(std::size_t bytes, std::size_t align) {
  if (counting) ++allocations;
  void* memory =
      align > alignof(std::max_align_t)
          ? std::aligned_alloc(align, (bytes + align - 1) / align * align)
          : std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes, 1); }
void* operator new[](std::size_t bytes) { return Allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t align) {
  return Allocate(bytes, static_cast<std::size_t>(align));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace vcx {
namespace {

class Counting {
 public:
  explicit Counting(bool on) : before_(std::exchange(counting, on)) {}
  ~Counting() { counting = before_; }

 private:
  const bool before_;
};

// FakeHost, whose own allocations do not count.
class UncountedHost final : public Host {
 public:
  explicit UncountedHost(FakeHost& fake) : fake_(fake) {}

  bool DmaRead(uint64_t addr, void* buf, size_t len) override {
    const Counting off(false);
    return fake_.DmaRead(addr, buf, len);
  }
  bool DmaWrite(uint64_t addr, const void* buf, size_t len) override {
    const Counting off(false);
    return fake_.DmaWrite(addr, buf, len);
  }
  const void* DmaMap(uint64_t addr, size_t* len) override {
    const Counting off(false);
    return fake_.DmaMap(addr, len);
  }
  void DmaUnmap(const void* ptr, size_t len) override {
    fake_.DmaUnmap(ptr, len);
  }
  void RaiseMsix(unsigned vector) override {
    const Counting off(false);
    fake_.RaiseMsix(vector);
  }
  uint64_t NowNs() override { return fake_.now; }
  uint64_t Random() override { return fake_.Random(); }
  void SetTimer(uint64_t deadline_ns) override { fake_.deadline = deadline_ns; }
  void Kick() override { fake_.kicked = true; }
  bool SendFrame(const void* frame, size_t len) override {
    const Counting off(false);
    return fake_.SendFrame(frame, len);
  }
  void Trace(vcx_trace_point, const uint64_t[4]) override {}

 private:
  FakeHost& fake_;
};

struct Machine {
  explicit Machine(uint64_t guid)
      : host(fake),
        device(TwoDevices::WireConfig(guid), host),
        driver(fake, device) {
    driver.Start();
    cq = driver.NewCq();
    mr = driver.NewMr({.bytes = kBytes});
    qp = NewQp();
  }
  FakeQp NewQp() {
    return driver.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  }

  static constexpr uint32_t kBytes = 256 * 1024;

  FakeHost fake;
  UncountedHost host;
  Device device;
  FakeDriver driver;
  FakeCq cq;
  FakeMr mr;
  FakeQp qp;
};

class AllocationTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kSizes[] = {1, 64, 4096, 4097, 150'000};

  // One message of each kind and size, all in flight together.
  void Lap(Machine& from, FakeQp& sender, Machine& to, FakeQp& receiver) {
    for (uint32_t bytes : kSizes) {
      for (uint8_t opcode :
           {VCX_WQE_RDMA_WRITE, VCX_WQE_RDMA_WRITE_IMM, VCX_WQE_RDMA_READ,
            VCX_WQE_SEND, VCX_WQE_SEND_IMM}) {
        if (opcode != VCX_WQE_RDMA_WRITE && opcode != VCX_WQE_RDMA_READ)
          to.driver.PostRecv(receiver, {to.mr.At(0, bytes)});
        SendWr wr{.opcode = opcode,
                  .sges = {from.mr.At(0, bytes / 2),
                           from.mr.At(bytes / 2, bytes - bytes / 2)},
                  .remote_va = to.mr.options.va,
                  .rkey = to.mr.key(),
                  .solicited = true};
        from.driver.PostSend(sender, wr);
      }
      Ring(from, sender, to);
    }
    from.driver.PostSend(sender, {.opcode = VCX_WQE_NOP});
    from.driver.PostSend(sender, {.opcode = VCX_WQE_RDMA_WRITE,
                                  .inline_data = Pattern(200),
                                  .remote_va = to.mr.options.va,
                                  .rkey = to.mr.key(),
                                  .fence = VCX_WQE_FM_FENCE});
    Ring(from, sender, to);
  }

  void Ring(Machine& from, FakeQp& sender, Machine& to) {
    from.driver.Arm(from.cq);
    from.driver.ArmEq(from.driver.completion_eq());
    {
      const Counting on(true);
      from.driver.RingSend(sender);
    }
    Settle(from, to);
    for (const WorkCompletion& done : from.driver.PollAll(from.cq)) Check(done);
    for (const WorkCompletion& done : to.driver.PollAll(to.cq)) Check(done);
    while (from.driver.NextEvent(from.driver.completion_eq())) {
    }
  }
  void Check(const WorkCompletion& done) {
    EXPECT_EQ(done.syndrome, 0);
    ++completions_;
  }

  static void Settle(Machine& a, Machine& b) {
    do {
      const Counting on(true);
      while (a.device.Run(64)) {
      }
      while (b.device.Run(64)) {
      }
    } while (Carry(a, b));
  }
  static bool Carry(Machine& a, Machine& b) {
    const std::deque<Frame> to_b = std::exchange(a.fake.frames, {});
    const std::deque<Frame> to_a = std::exchange(b.fake.frames, {});
    const Counting on(true);
    for (const Frame& frame : to_b)
      b.device.Receive(frame.data(), frame.size());
    for (const Frame& frame : to_a)
      a.device.Receive(frame.data(), frame.size());
    return !to_b.empty() || !to_a.empty();
  }

  uint64_t completions_ = 0;
};

TEST_F(AllocationTest, TheCounterCounts) {
  const uint64_t before = allocations;
  {
    const Counting on(true);
    std::vector<int>(10).swap(*std::make_unique<std::vector<int>>());
  }
  EXPECT_GE(allocations - before, 2u);
}

TEST_F(AllocationTest, MessagesOnOneDeviceAllocateNothing) {
  Machine m(TwoDevices::kGuidA);
  FakeQp peer = m.NewQp();
  Connect(m.driver, m.qp, m.driver, peer);
  Lap(m, m.qp, m, peer);
  const uint64_t before = allocations;
  for (int lap = 0; lap < 20; ++lap) Lap(m, m.qp, m, peer);
  EXPECT_EQ(allocations, before);
  // Of a lap: 25 messages, 15 of which are received, NOP, inline write.
  EXPECT_EQ(completions_, 21u * (25 + 15 + 2));
}

TEST_F(AllocationTest, MessagesBetweenTwoDevicesAllocateNothing) {
  Machine a(TwoDevices::kGuidA), b(TwoDevices::kGuidB);
  Connect(a.driver, a.qp, b.driver, b.qp);
  Lap(a, a.qp, b, b.qp);
  const uint64_t before = allocations;
  for (int lap = 0; lap < 20; ++lap) Lap(a, a.qp, b, b.qp);
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(completions_, 21u * (25 + 15 + 2));
}

}  // namespace
}  // namespace vcx
