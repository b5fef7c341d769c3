/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Every command with wrong lengths, in wrong states, with numbers of nothing,
// with addresses that overflow and with noise: each has a delivery status, or a
// status with the syndrome that belongs to it, and the device goes on.
#include <algorithm>
#include <string>
#include <string_view>

#include "cmd/dispatch.h"
#include "testing/command_test.h"
#include "testing/two_devices.h"

namespace vcx {
namespace {

constexpr size_t kHeaderBytes = 16;
constexpr size_t kLargestOut = 0x1010;
constexpr uint64_t kTopPage = ~uint64_t{0xfff};

struct CommandCase {
  uint16_t opcode;
  size_t in_bytes;  // the least that is taken
};

std::ostream& operator<<(std::ostream& out, const CommandCase& c) {
  return out << OpcodeName(c.opcode);
}

// The commands that there are, with lengths from the manual: what has a context
// is 0x110 long, all but a few others 16.
std::vector<CommandCase> AllCommands() {
  std::vector<CommandCase> commands;
  for (uint32_t i = 0; i <= 0xffff; ++i) {
    const auto opcode = static_cast<uint16_t>(i);
    const std::string_view name = OpcodeName(opcode);
    if (name == "UNKNOWN") continue;
    size_t in_bytes = kHeaderBytes;
    switch (opcode) {
      case VCX_CMD_SET_HCA_CAP: in_bytes = 0x1010; break;
      case VCX_CMD_QUERY_Q_COUNTER: in_bytes = 0x20; break;
      case VCX_CMD_CREATE_MKEY:
      case VCX_CMD_CREATE_EQ:
      case VCX_CMD_CREATE_CQ:
      case VCX_CMD_MODIFY_CQ:
      case VCX_CMD_CREATE_QP:
      case VCX_CMD_RST2INIT_QP:
      case VCX_CMD_INIT2RTR_QP:
      case VCX_CMD_RTR2RTS_QP:
      case VCX_CMD_RTS2RTS_QP:
      case VCX_CMD_SQERR2RTS_QP:
      case VCX_CMD_SQD2RTS_QP:
      case VCX_CMD_INIT2INIT_QP: in_bytes = 0x110; break;
      default: break;
    }
    commands.push_back({opcode, in_bytes});
  }
  return commands;
}

std::vector<uint8_t> Blank(uint16_t opcode, size_t bytes, uint16_t op_mod = 0) {
  std::vector<uint8_t> in(std::max<size_t>(bytes, 8));
  in[0] = static_cast<uint8_t>(opcode >> 8);
  in[1] = static_cast<uint8_t>(opcode);
  in[6] = static_cast<uint8_t>(op_mod >> 8);
  in[7] = static_cast<uint8_t>(op_mod);
  in.resize(bytes);
  return in;
}

void Put32(std::vector<uint8_t>& in, size_t at, uint32_t value) {
  for (int i = 0; i < 4; ++i)
    in[at + i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

// It was not delivered, or it has a status that fits its syndrome.
void ExpectAnswered(const Reply& reply) {
  ASSERT_TRUE(reply.completed);
  if (reply.delivery != VCX_DELIVERY_OK) return;
  EXPECT_EQ(reply.status, VCX_REFUSAL_STATUS(reply.syndrome));
}

class MalformedCommandTest
    : public CommandTest,
      public ::testing::WithParamInterface<CommandCase> {
 protected:
  // What the tests leave behind goes with a reset, all of it.
  void ExpectStartsAnew() {
    m.device.Reset(VCX_RESET_FUNCTION);
    for (const char* name :
         {"objects_pd", "objects_uar", "objects_eq", "objects_cq",
          "objects_mkey", "objects_qp", "objects_counter_set", "objects_page"})
      EXPECT_EQ(m.Counter(name), 0u) << name;
    FakeDriver again(m.host, m.device);
    again.Start();
    const FakeCq cq = again.NewCq();
    const QpOptions options{.send_cqn = cq.number, .recv_cqn = cq.number};
    FakeQp a = again.NewQp(options);
    FakeQp b = again.NewQp(options);
    Connect(again, a, again, b);
  }
  uint16_t opcode() const { return GetParam().opcode; }
};

TEST_P(MalformedCommandTest, EveryShortInputIsRefused) {
  for (size_t bytes = 0; bytes < GetParam().in_bytes;
       bytes += bytes < 64 ? 1 : 37) {
    const Reply reply = d.port().Execute(Blank(opcode(), bytes), kLargestOut);
    ExpectAnswered(reply);
    EXPECT_FALSE(reply.ok()) << bytes;
  }
}

TEST_P(MalformedCommandTest, EveryOutputLengthIsAnswered) {
  for (size_t bytes = 0; bytes < 2 * kLargestOut;
       bytes += bytes < 32 ? 1 : 61) {
    const Reply reply = d.port().Execute(Blank(opcode(), GetParam().in_bytes), bytes);
    ExpectAnswered(reply);
    if (reply.ok()) {
      EXPECT_GE(bytes, sizeof(vcx_cmd_out));
    }
  }
  ExpectStartsAnew();
}

// In the word where most commands have their object.
TEST_P(MalformedCommandTest, NumbersOfNothingAreAnswered) {
  for (const uint32_t number :
       {0u, 1u, 0x7fu, 0xffffu, 0x7fffffu, 0xffffffu, 0xff000001u, UINT32_MAX}) {
    std::vector<uint8_t> in = Blank(opcode(), GetParam().in_bytes);
    Put32(in, 8, number);
    ExpectAnswered(d.port().Execute(in, kLargestOut));
    Put32(in, 12, number);
    ExpectAnswered(d.port().Execute(in, kLargestOut));
  }
  ExpectStartsAnew();
}

TEST_P(MalformedCommandTest, OnesAreAnswered) {
  for (const size_t list : {size_t{0}, size_t{8}, size_t{4096}}) {
    std::vector<uint8_t> in = Blank(opcode(), GetParam().in_bytes + list);
    std::fill(in.begin() + 8, in.end(), 0xff);
    ExpectAnswered(d.port().Execute(in, kLargestOut));
  }
  ExpectStartsAnew();
}

TEST_P(MalformedCommandTest, NoiseIsAnsweredInEveryState) {
  FakeHost dice(GetParam().opcode);
  for (int round = 0; round < 150; ++round) {
    const size_t list = round % 3 == 0 ? 8 * (dice.Random() % 64) : 0;
    std::vector<uint8_t> in = Blank(opcode(), GetParam().in_bytes + list,
                                    round % 2 == 0 ? 0 : dice.Random() % 4);
    for (size_t at = 8; at + 4 <= in.size(); at += 4) {
      // Zero, small, full or anything: small numbers are often those of objects.
      switch (dice.Random() % 8) {
        case 0: Put32(in, at, static_cast<uint32_t>(dice.Random())); break;
        case 1: Put32(in, at, UINT32_MAX); break;
        case 2:
        case 3: Put32(in, at, static_cast<uint32_t>(dice.Random() % 8)); break;
        case 4: Put32(in, at, 1u << dice.Random() % 32); break;
        default: break;
      }
    }
    ExpectAnswered(d.port().Execute(in, kLargestOut));
  }
  m.Advance(1'000'000'000);
  ExpectStartsAnew();
}

INSTANTIATE_TEST_SUITE_P(All, MalformedCommandTest,
                         ::testing::ValuesIn(AllCommands()),
                         [](const auto& info) {
                           return std::string(OpcodeName(info.param.opcode));
                         });

// ---- Addresses that overflow ------------------------------------------------
//
// A queue's addresses are used later than they are given. What lies at the end
// of the address space must fail as a bus error when it is.

class OverflowTest : public CommandTest {
 protected:
  // Every page of the list is the last one there is.
  template <class T>
  static void MoveToTheTop(Input<T>& in) {
    std::fill(in.list.begin(), in.list.end(), kTopPage);
  }
  bool NextAsyncIs(uint8_t type) {
    while (auto eqe = d.NextEvent(d.async_eq()))
      if (eqe->type == type) return true;
    return false;
  }
};

TEST_F(OverflowTest, CompletionQueueFailsWhenItIsWritten) {
  FakeCq cq = d.PrepareCq();
  Input<vcx_create_cq_in> in = d.CqInput(cq);
  MoveToTheTop(in);
  cq.number = d.Must(in);
  const FakeMr mr = d.NewMr();
  FakeQp a = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  FakeQp b = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  Connect(d, a, d, b);
  d.Send(a, {.opcode = VCX_WQE_NOP});
  m.Settle();
  EXPECT_TRUE(NextAsyncIs(VCX_EVENT_CQ_ERROR));
  EXPECT_EQ(d.State(a), VCX_QP_STATE_ERR);
}

TEST_F(OverflowTest, WorkQueueFailsWhenItIsRead) {
  FakeCq cq = d.NewCq();
  FakeQp a = d.PrepareQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  Input<vcx_qp_in> in = d.QpInput(a);
  MoveToTheTop(in);
  a.number = d.Must(in);
  FakeQp b = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  Connect(d, a, d, b);
  d.Send(a, {.opcode = VCX_WQE_NOP});
  m.Settle();
  EXPECT_EQ(d.State(a), VCX_QP_STATE_ERR);
  EXPECT_GT(m.Counter("dma_errors"), 0u);
}

TEST_F(OverflowTest, DoorbellRecordFailsWhenItIsRead) {
  FakeCq cq = d.NewCq();
  FakeQp a = d.PrepareQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  Input<vcx_qp_in> in = d.QpInput(a);
  VCX_SET64(&in.fixed.qpc, VCX_QPC_DBR_ADDR, UINT64_MAX - 7);
  a.number = d.Must(in);
  FakeQp b = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  Connect(d, a, d, b);
  m.Settle();
  EXPECT_EQ(d.State(a), VCX_QP_STATE_ERR);
  EXPECT_TRUE(NextAsyncIs(VCX_EVENT_WQ_CATASTROPHIC));
}

TEST_F(OverflowTest, EventQueueFailsWhenItIsWritten) {
  FakeEq eq = d.PrepareEq();
  Input<vcx_create_eq_in> in = d.EqInput(eq);
  MoveToTheTop(in);
  eq.number = d.Must(in);
  FakeCq cq = d.NewCq({.eqn = eq.number});
  FakeQp a = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  FakeQp b = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  Connect(d, a, d, b);
  d.Arm(cq);
  d.Send(a, {.opcode = VCX_WQE_NOP});
  m.Settle();
  EXPECT_EQ(m.Counter("events_lost"), 1u);
  EXPECT_EQ(d.PollAll(cq).size(), 1u);
}

TEST_F(OverflowTest, MemoryFailsWhenItIsUsed) {
  FakeCq cq = d.NewCq();
  FakeMr mr = d.PrepareMr();
  Input<vcx_create_mkey_in> in = d.MrInput(mr);
  MoveToTheTop(in);
  mr.index = d.Must(in);
  const FakeMr good = d.NewMr();
  FakeQp a = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  FakeQp b = d.NewQp({.send_cqn = cq.number, .recv_cqn = cq.number});
  Connect(d, a, d, b);
  d.Send(a, {.opcode = VCX_WQE_RDMA_WRITE,
             .sges = {mr.At(0, 64)},
             .remote_va = good.options.va,
             .rkey = good.key()});
  m.Settle();
  EXPECT_EQ(d.State(a), VCX_QP_STATE_ERR);
  EXPECT_GT(m.Counter("dma_errors"), 0u);
}

}  // namespace
}  // namespace vcx
