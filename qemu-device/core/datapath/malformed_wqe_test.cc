/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Work requests of every kind with wrong sizes, keys and addresses: each ends in
// one completion that says why, the rest of the queue is flushed, and neither
// side's memory is touched beyond what is right.
#include <cstring>
#include <functional>
#include <string>

#include "testing/traffic_test.h"

namespace vcx {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kBytes = 40;

struct Operation {
  const char* name;
  uint8_t opcode;
  bool remote;  // has an address of the peer
  bool data;    // has pieces of memory
};
constexpr Operation kOperations[] = {
    {"Nop", VCX_WQE_NOP, false, false},
    {"Send", VCX_WQE_SEND, false, true},
    {"SendImm", VCX_WQE_SEND_IMM, false, true},
    {"Write", VCX_WQE_RDMA_WRITE, true, true},
    {"WriteImm", VCX_WQE_RDMA_WRITE_IMM, true, true},
    {"Read", VCX_WQE_RDMA_READ, true, true},
};

// One block of a send queue, to be changed.
struct Block {
  uint8_t bytes[VCX_WQE_BB_BYTES];
  const Operation& operation;
  const Side& local;
  const Side& remote;

  void Put32(size_t at, uint32_t value) {
    const vcx_be32 be(value);
    std::memcpy(&bytes[at], &be, sizeof(be));
  }
  void Put64(size_t at, uint64_t value) {
    const vcx_be64 be(value);
    std::memcpy(&bytes[at], &be, sizeof(be));
  }
  void SetUnits(uint32_t units) {
    Put32(offsetof(vcx_wqe_ctrl, qpn_ds), local.qp.number << 8 | units);
  }
  size_t remote_at() const { return sizeof(vcx_wqe_ctrl); }
  size_t data_at() const {
    return sizeof(vcx_wqe_ctrl) + (operation.remote ? sizeof(vcx_wqe_raddr) : 0);
  }
  void SetCount(uint32_t count) { Put32(data_at(), count); }
  void SetKey(uint32_t key) {
    Put32(data_at() + offsetof(vcx_wqe_data, lkey), key);
  }
  void SetAddress(uint64_t va) {
    Put64(data_at() + offsetof(vcx_wqe_data, va), va);
  }
  void SetRemoteKey(uint32_t key) {
    Put32(remote_at() + offsetof(vcx_wqe_raddr, rkey), key);
  }
  void SetRemoteAddress(uint64_t va) {
    Put64(remote_at() + offsetof(vcx_wqe_raddr, va), va);
  }
};

enum class Needs : uint8_t { kNothing, kRemote, kData, kReadOnly };

struct Lie {
  const char* name;
  Needs needs;
  std::function<void(Block&)> lie;
  uint8_t syndrome;
  uint8_t vendor;
};

const Lie kLies[] = {
    {"NoUnits", Needs::kNothing, [](Block& b) { b.SetUnits(0); },
     VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SIZE},
    {"LongerThanPosted", Needs::kNothing, [](Block& b) { b.SetUnits(63); },
     VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SIZE},
    {"OtherQueue", Needs::kNothing,
     [](Block& b) {
       b.Put32(offsetof(vcx_wqe_ctrl, qpn_ds), (b.local.qp.number ^ 1) << 8 | 4);
     },
     VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SEGMENT},
    {"NoRemoteSegment", Needs::kRemote, [](Block& b) { b.SetUnits(1); },
     VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SIZE},
    {"MessageOf2GiB", Needs::kData, [](Block& b) { b.SetCount(0x7fffffff); },
     VCX_SYNDROME_LOCAL_LENGTH, VCX_VENDOR_MESSAGE_TOO_LONG},
    {"InlineBeyondTheEnd", Needs::kData,
     [](Block& b) { b.SetCount(VCX_WQE_INLINE | 13); },
     VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SEGMENT},
    {"InlineLongest", Needs::kData, [](Block& b) { b.SetCount(UINT32_MAX); },
     VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SEGMENT},
    {"InlineRead", Needs::kReadOnly,
     [](Block& b) { b.SetCount(VCX_WQE_INLINE | 12); },
     VCX_SYNDROME_LOCAL_QP_OP, VCX_VENDOR_WQE_SEGMENT},
    {"StaleKey", Needs::kData,
     [](Block& b) { b.SetKey(b.local.mr.key() ^ 0x80); },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_INVALID},
    {"KeyThatIsNotThere", Needs::kData, [](Block& b) { b.SetKey(0x00777700); },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_INVALID},
    {"LargestKey", Needs::kData, [](Block& b) { b.SetKey(UINT32_MAX); },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_INVALID},
    {"AddressBelow", Needs::kData,
     [](Block& b) { b.SetAddress(b.local.mr.options.va - 1); },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_BOUNDS},
    {"AddressAbove", Needs::kData,
     [](Block& b) {
       b.SetAddress(b.local.mr.options.va + b.local.mr.options.bytes - kBytes +
                    1);
     },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_BOUNDS},
    {"AddressThatWraps", Needs::kData,
     [](Block& b) { b.SetAddress(UINT64_MAX - 1); },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_BOUNDS},
    {"RemoteStaleKey", Needs::kRemote,
     [](Block& b) { b.SetRemoteKey(b.remote.mr.key() ^ 1); },
     VCX_SYNDROME_REMOTE_ACCESS, VCX_VENDOR_NONE},
    {"RemoteKeyThatIsNotThere", Needs::kRemote,
     [](Block& b) { b.SetRemoteKey(UINT32_MAX); }, VCX_SYNDROME_REMOTE_ACCESS,
     VCX_VENDOR_NONE},
    {"RemoteAddressBelow", Needs::kRemote,
     [](Block& b) { b.SetRemoteAddress(b.remote.mr.options.va - 1); },
     VCX_SYNDROME_REMOTE_ACCESS, VCX_VENDOR_NONE},
    {"RemoteAddressAbove", Needs::kRemote,
     [](Block& b) {
       b.SetRemoteAddress(b.remote.mr.options.va + b.remote.mr.options.bytes -
                          kBytes + 1);
     },
     VCX_SYNDROME_REMOTE_ACCESS, VCX_VENDOR_NONE},
    {"RemoteAddressThatWraps", Needs::kRemote,
     [](Block& b) { b.SetRemoteAddress(UINT64_MAX - kBytes + 2); },
     VCX_SYNDROME_REMOTE_ACCESS, VCX_VENDOR_NONE},
};

bool Applies(const Lie& lie, const Operation& operation) {
  switch (lie.needs) {
    case Needs::kNothing: return true;
    case Needs::kRemote: return operation.remote;
    case Needs::kData: return operation.data;
    case Needs::kReadOnly: return operation.opcode == VCX_WQE_RDMA_READ;
  }
  return false;
}

struct WqeCase {
  const Operation* operation;
  const Lie* lie;
  bool loopback;
};

class MalformedWqeTest : public TrafficTest,
                         public ::testing::WithParamInterface<WqeCase> {
 protected:
  uint64_t BlockAddress(uint16_t index) {
    const uint32_t blocks = 1u << local_.qp.options.log_sq_size;
    return local_.qp.buffer.At(local_.qp.rq_bytes() +
                               (index & (blocks - 1)) * VCX_WQE_BB_BYTES);
  }
  void Change(uint16_t index, const Operation& operation,
              const std::function<void(Block&)>& change) {
    Block block{{}, operation, local_, remote_};
    pair_.a.host.Read(BlockAddress(index), block.bytes, sizeof(block.bytes));
    change(block);
    pair_.a.host.Write(BlockAddress(index), block.bytes, sizeof(block.bytes));
  }
  // Both sides' memory is as it was filled.
  void ExpectUntouched() {
    for (Side* side : {&local_, &remote_})
      EXPECT_EQ(side->driver().Peek(side->mr, 0, 4096), fill_);
  }

  const std::vector<uint8_t> fill_ = Pattern(4096, 9);
};

TEST_P(MalformedWqeTest, EndsInACompletionThatSaysWhy) {
  const WqeCase& c = GetParam();
  if (c.loopback)
    ConnectLoopback();
  else
    ConnectPair();
  for (Side* side : {&local_, &remote_})
    side->driver().Poke(side->mr, 0, fill_);
  PostRecv(kBytes, 8192);
  PostRecv(kBytes, 8192);

  SendWr wr = Wr(c.operation->opcode, c.operation->data ? kBytes : 0);
  const uint16_t index = local_.driver().PostSend(local_.qp, wr);
  Change(index, *c.operation, c.lie->lie);
  local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, kBytes));
  local_.driver().RingSend(local_.qp);
  pair_.Settle();

  const std::vector<WorkCompletion> sent = Sent();
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent[0].opcode, VCX_CQE_REQ_ERR);
  EXPECT_EQ(int{sent[0].syndrome}, int{c.lie->syndrome});
  EXPECT_EQ(int{sent[0].vendor_syndrome}, int{c.lie->vendor});
  EXPECT_EQ(sent[0].wqe_counter, index);
  for (size_t i = 1; i < sent.size(); ++i)
    EXPECT_EQ(sent[i].syndrome, VCX_SYNDROME_FLUSHED);
  EXPECT_EQ(LocalState(), VCX_QP_STATE_ERR);
  const bool remote_fault = c.lie->syndrome == VCX_SYNDROME_REMOTE_ACCESS;
  EXPECT_EQ(RemoteState(),
            remote_fault ? VCX_QP_STATE_ERR : VCX_QP_STATE_RTS);
  ExpectUntouched();
}

std::vector<WqeCase> AllWqeCases() {
  std::vector<WqeCase> cases;
  for (const Operation& operation : kOperations)
    for (const Lie& lie : kLies)
      for (bool loopback : {false, true})
        if (Applies(lie, operation)) cases.push_back({&operation, &lie, loopback});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(
    All, MalformedWqeTest, ::testing::ValuesIn(AllWqeCases()),
    [](const auto& info) {
      return std::string(info.param.operation->name) + info.param.lie->name +
             (info.param.loopback ? "Loopback" : "Link");
    });

class AnyWqeTest : public MalformedWqeTest {};

TEST_F(AnyWqeTest, UnknownOpcodesAreRefused) {
  constexpr Operation kUnknown = {"Unknown", 0, false, true};
  for (uint32_t opcode = 0; opcode < 256; ++opcode) {
    bool known = false;
    for (const Operation& o : kOperations) known |= o.opcode == opcode;
    if (known) continue;
    ConnectPair();
    const uint16_t index =
        local_.driver().PostSend(local_.qp, Wr(VCX_WQE_SEND, kBytes));
    Change(index, kUnknown, [&](Block& b) {
      b.Put32(0, uint32_t{index} << 8 | opcode);
    });
    local_.driver().RingSend(local_.qp);
    pair_.Settle();
    const std::vector<WorkCompletion> sent = Sent();
    ASSERT_EQ(sent.size(), 1u) << opcode;
    EXPECT_EQ(sent[0].syndrome, VCX_SYNDROME_LOCAL_QP_OP) << opcode;
    EXPECT_EQ(sent[0].vendor_syndrome, VCX_VENDOR_WQE_OPCODE) << opcode;
    local_.driver().ToRst(local_.qp);
    remote_.driver().ToRst(remote_.qp);
  }
}

// Bytes without any plan: the device answers with completions, never with
// anything else, and takes the next connection.
TEST_F(AnyWqeTest, NoiseIsAnswered) {
  constexpr Operation kNoise = {"Noise", 0, false, true};
  FakeHost dice(2026);
  for (Side* side : {&local_, &remote_})
    side->driver().Poke(side->mr, 0, fill_);
  for (int round = 0; round < 300; ++round) {
    ConnectPair();
    const uint16_t index =
        local_.driver().PostSend(local_.qp, Wr(VCX_WQE_RDMA_WRITE, kBytes));
    Change(index, kNoise, [&](Block& b) {
      for (uint8_t& byte : b.bytes) byte = static_cast<uint8_t>(dice.Random());
      // Past the first looks now and then.
      const auto opcode = kOperations[dice.Random() % 6].opcode;
      if (round % 4 != 0) b.Put32(0, uint32_t{index} << 8 | opcode);
      if (round % 2 != 0) b.SetUnits(1 + dice.Random() % 4);
      b.bytes[offsetof(vcx_wqe_ctrl, fm_ce_se)] = VCX_WQE_CE_ALWAYS;
      if (round % 8 == 7) b.Put32(16, dice.Random() % 100);
    });
    local_.driver().RingSend(local_.qp);
    pair_.Settle();
    pair_.Advance(20'000 * kMs);
    EXPECT_EQ(Sent().size(), 1u) << round;
    Received();
    local_.driver().ToRst(local_.qp);
    remote_.driver().ToRst(remote_.qp);
  }
  ExpectUntouched();
  ConnectPair();
  local_.driver().Send(local_.qp, Wr(VCX_WQE_RDMA_WRITE, 0));
  pair_.Settle();
  EXPECT_THAT(Sent(), ElementsAre(SendIs(VCX_WQE_RDMA_WRITE)));
}

// ---- Receive WQEs -----------------------------------------------------------

struct ReceiveCase {
  const char* name;
  std::function<std::vector<Sge>(const FakeMr&)> sges;
  uint8_t syndrome;  // of the receive
  uint8_t vendor;
  uint8_t send_syndrome;
};

class MalformedReceiveTest
    : public TrafficTest,
      public ::testing::WithParamInterface<ReceiveCase> {};

TEST_P(MalformedReceiveTest, EndsInACompletionThatSaysWhy) {
  const ReceiveCase& c = GetParam();
  ConnectPair();
  const std::vector<uint8_t> fill = Pattern(4096, 9);
  remote_.driver().Poke(remote_.mr, 0, fill);
  remote_.driver().PostRecv(remote_.qp, c.sges(remote_.mr));
  PostRecv(kBytes);
  local_.driver().Send(local_.qp, Wr(VCX_WQE_SEND, kBytes));
  pair_.Settle();
  const std::vector<WorkCompletion> received = Received();
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0].opcode, VCX_CQE_RESP_ERR);
  EXPECT_EQ(int{received[0].syndrome}, int{c.syndrome});
  EXPECT_EQ(int{received[0].vendor_syndrome}, int{c.vendor});
  EXPECT_EQ(received[1].syndrome, VCX_SYNDROME_FLUSHED);
  EXPECT_THAT(Sent(), ElementsAre(SendFailed(c.send_syndrome)));
  EXPECT_EQ(RemoteState(), VCX_QP_STATE_ERR);
  EXPECT_EQ(remote_.driver().Peek(remote_.mr, 0, 4096), fill);
}

const ReceiveCase kReceiveCases[] = {
    {"Empty", [](const FakeMr&) { return std::vector<Sge>{}; },
     VCX_SYNDROME_LOCAL_LENGTH, VCX_VENDOR_RECEIVE_TOO_SHORT,
     VCX_SYNDROME_REMOTE_INVALID_REQ},
    {"StaleKey",
     [](const FakeMr& mr) {
       return std::vector<Sge>{{mr.key() ^ 4, mr.options.va, kBytes}};
     },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_INVALID,
     VCX_SYNDROME_REMOTE_OP},
    {"AddressThatWraps",
     [](const FakeMr& mr) {
       return std::vector<Sge>{{mr.key(), UINT64_MAX - 3, kBytes}};
     },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_BOUNDS,
     VCX_SYNDROME_REMOTE_OP},
    {"LongestPiece",
     [](const FakeMr& mr) {
       return std::vector<Sge>{
           {mr.key(), mr.options.va + mr.options.bytes - 1, 0x7fffffff}};
     },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_BOUNDS,
     VCX_SYNDROME_REMOTE_OP},
    {"LargestKey",
     [](const FakeMr& mr) {
       return std::vector<Sge>{{UINT32_MAX, mr.options.va, kBytes}};
     },
     VCX_SYNDROME_LOCAL_PROTECTION, VCX_VENDOR_KEY_INVALID,
     VCX_SYNDROME_REMOTE_OP},
};
INSTANTIATE_TEST_SUITE_P(All, MalformedReceiveTest,
                         ::testing::ValuesIn(kReceiveCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace vcx
