/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "cmd/queue.h"

#include "testing/command_test.h"

namespace vcx {
namespace {

using ::testing::Each;

constexpr uint8_t kStale = 0xa5;  // what CommandPort leaves in output memory

class CommandQueueTest : public CommandTest {
 protected:
  CommandPort& port() { return d.port(); }

  // ALLOC_PD in a slot: short, and its effect can be counted.
  void PostAllocPd(uint32_t slot, size_t out_bytes = 16) {
    port().Post(slot, MakeInput<vcx_number_in>(VCX_CMD_ALLOC_PD).Bytes(),
                out_bytes);
  }
  // SET_ISSI would be short too; this one has mailboxes both ways.
  void PostLongCommand(uint32_t slot) {
    port().Post(slot, d.EqInput(d.PrepareEq({.log_size = 14})).Bytes(), 600);
  }
  template <class T>
  void PatchEntry(uint32_t slot, size_t offset, T value) {
    m.host.Put(port().EntryAddress(slot) + offset, value);
  }
  uint8_t RingAndGetDelivery(uint32_t slot) {
    port().Ring(1u << slot);
    const Reply reply = port().Collect(slot);
    EXPECT_TRUE(reply.completed);
    return reply.delivery;
  }
  uint64_t Objects() const {
    return m.Counter("objects_pd") + m.Counter("objects_eq");
  }
  // Drains the command EQ; how many events were for this slot.
  int EventsFor(uint32_t slot) {
    int num = 0;
    while (const std::optional<vcx_eqe> e = d.NextEvent(d.command_eq())) {
      EXPECT_EQ(e->type, VCX_EVENT_COMMAND);
      num += e->data.command.slots.get() == 1u << slot;
    }
    return num;
  }
};

TEST_F(CommandQueueTest, RunsAllSlotsOfADoorbellInAscendingOrder) {
  for (uint32_t slot = 0; slot < CommandPort::kSlots; ++slot) PostAllocPd(slot);
  port().Ring(0xffffffff);
  for (uint32_t slot = 0; slot < CommandPort::kSlots; ++slot) {
    const Reply reply = port().Collect(slot);
    ASSERT_TRUE(reply.ok()) << slot;
    EXPECT_EQ(reply.As<vcx_number_out>().number.get(), d.pd() + 1 + slot);
  }
}

TEST_F(CommandQueueTest, LeavesSlotsAloneThatWereNotRung) {
  PostAllocPd(3);
  PostAllocPd(4);
  port().Ring(1u << 4);
  EXPECT_FALSE(port().Collect(3).completed);
  EXPECT_TRUE(port().Collect(4).ok());
}

TEST_F(CommandQueueTest, ReportsEveryCompletionByEvent) {
  PostAllocPd(5);
  port().Ring(1u << 5);
  EXPECT_EQ(EventsFor(5), 1);
  // Also of a refused one,
  port().Post(5, MakeInput<vcx_number_in>(0x999).Bytes(), 16);
  port().Ring(1u << 5);
  EXPECT_EQ(EventsFor(5), 1);
  // and of one that could not be delivered.
  PostAllocPd(5);
  PatchEntry(5, offsetof(vcx_cmd_entry, type), uint8_t{0});
  port().Ring(1u << 5);
  EXPECT_EQ(EventsFor(5), 1);
}

TEST_F(CommandQueueTest, ReportsNothingToAnEqWithoutTheCommandBit) {
  PostAllocPd(0);
  port().Ring(1);
  EXPECT_FALSE(d.NextEvent(d.async_eq()).has_value());
  EXPECT_FALSE(d.NextEvent(d.completion_eq()).has_value());
}

TEST_F(CommandQueueTest, WritesMailboxesThenEntryThenOwnerThenEvent) {
  d.ArmEq(d.command_eq());
  const auto in = MakeInput<vcx_number_in>(VCX_CMD_QUERY_HCA_CAP, 1).Bytes();
  port().Post(2, in, sizeof(vcx_query_hca_cap_out));
  m.host.log_events = true;
  port().Ring(1u << 2);

  std::vector<uint64_t> order = port().out_mailboxes(2);
  EXPECT_EQ(order.size(), 8u);
  order.push_back(port().EntryAddress(2) + offsetof(vcx_cmd_entry, out));
  order.push_back(port().EntryAddress(2) + offsetof(vcx_cmd_entry, status_own));
  ASSERT_GE(m.host.events.size(), order.size() + 2);
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(m.host.events[i].kind, HostEvent::Kind::kDmaWrite);
    EXPECT_EQ(m.host.events[i].addr, order[i]) << i;
  }
  EXPECT_EQ(m.host.events.back().kind, HostEvent::Kind::kInterrupt);
  EXPECT_EQ(m.host.events.back().addr, d.command_eq().options.vector);
}

TEST(CommandQueuePolledTest, PostsNoEventForTheCommandThatMakesTheEq) {
  TestMachine m;
  m.driver.Start({.command_events = false});
  FakeEq eq = m.driver.NewEq({.events = 1ull << VCX_EVENT_COMMAND});
  EXPECT_FALSE(m.driver.NextEvent(eq).has_value());
  m.driver.MustNumber(VCX_CMD_ALLOC_PD);
  EXPECT_TRUE(m.driver.NextEvent(eq).has_value());
  // Nor for the one that destroys it, and none is counted as lost.
  m.driver.MustNumber(VCX_CMD_DESTROY_EQ, eq.number);
  EXPECT_FALSE(m.driver.NextEvent(eq).has_value());
  EXPECT_EQ(m.Counter("events_lost"), 0u);
}

TEST_F(CommandQueueTest, TakesAnInputOfManyMailboxes) {
  // 2^16 entries of 64 bytes on pages of 4 KiB: 1024 addresses, 17 mailboxes.
  FakeEq eq = d.NewEq({.log_size = 16});
  EXPECT_NE(eq.number, 0u);
  EXPECT_EQ(port().in_mailboxes(0).size(), 17u);
}

TEST_F(CommandQueueTest, GoesByTheLengthAndNotByTheChain) {
  d.NewEq({.log_size = 16});  // leaves a chain of 17 mailboxes
  ASSERT_EQ(port().in_mailboxes(0).size(), 17u);
  FakeEq eq = d.NewEq({.log_size = 6});  // which this one reuses
  EXPECT_NE(eq.number, 0u);
}

TEST_F(CommandQueueTest, NeverWritesBeyondTheOutputLength) {
  // 0x70 bytes of output, but room for 5 more than the entry holds.
  port().Post(1, MakeInput<vcx_number_in>(VCX_CMD_ALLOC_PD).Bytes(), 21);
  port().Ring(1u << 1);
  const auto mailbox = m.host.Get<vcx_cmd_mailbox>(port().out_mailboxes(1)[0]);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(mailbox.data[i], 0);
  EXPECT_EQ(mailbox.data[5], kStale);
  EXPECT_EQ(mailbox.data[511], kStale);
}

TEST_F(CommandQueueTest, NeverWritesBeyondAnOutputInTheEntry) {
  port().Post(1, MakeInput<vcx_number_in>(VCX_CMD_ALLOC_PD).Bytes(), 13);
  port().Ring(1u << 1);
  const auto entry = m.host.Get<vcx_cmd_entry>(port().EntryAddress(1));
  EXPECT_EQ(entry.out[0], VCX_STATUS_BAD_OUT_LENGTH);
  EXPECT_EQ(entry.out[12], 0);
  EXPECT_EQ(entry.out[13], kStale);
  EXPECT_EQ(entry.out[15], kStale);
}

TEST_F(CommandQueueTest, FillsRoomThatTheOutputDoesNotNeedWithZeros) {
  const Reply reply = d.ExecuteNumber(VCX_CMD_ALLOC_PD, 0, 0, 2000);
  ASSERT_TRUE(reply.ok());
  ASSERT_EQ(reply.out.size(), 2000u);
  EXPECT_THAT(std::vector<uint8_t>(reply.out.begin() + 12, reply.out.end()),
              Each(0));
}

// ---- Lies in the entry -----------------------------------------------------

struct EntryLie {
  const char* name;
  size_t offset;
  std::vector<uint8_t> bytes;
  vcx_cmd_delivery delivery;
};

void PrintTo(const EntryLie& lie, std::ostream* os) { *os << lie.name; }

class EntryLieTest : public CommandQueueTest,
                     public ::testing::WithParamInterface<EntryLie> {};

TEST_P(EntryLieTest, IsAnsweredByDeliveryStatusAndHasNoEffect) {
  const EntryLie& lie = GetParam();
  PostLongCommand(0);
  const uint64_t objects = Objects();
  m.host.Write(port().EntryAddress(0) + lie.offset, lie.bytes.data(),
               lie.bytes.size());
  EXPECT_EQ(RingAndGetDelivery(0), lie.delivery);
  EXPECT_EQ(Objects(), objects);
  EXPECT_EQ(m.Counter("commands_undeliverable"), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    All, EntryLieTest,
    ::testing::Values(
        EntryLie{"Type", 0x00, {0x01}, VCX_DELIVERY_BAD_DESCRIPTOR},
        EntryLie{"ReservedAfterType", 0x02, {0x01}, VCX_DELIVERY_RESERVED},
        EntryLie{"ReservedBeforeOwner", 0x3e, {0x01}, VCX_DELIVERY_RESERVED},
        EntryLie{"InputShorterThanItsHeader",
                 0x04,
                 {0, 0, 0, 7},
                 VCX_DELIVERY_IN_LENGTH},
        EntryLie{"InputLongerThanAny",
                 0x04,
                 {0x7f, 0, 0, 0},
                 VCX_DELIVERY_IN_LENGTH},
        EntryLie{"OutputShorterThanItsHeader",
                 0x38,
                 {0, 0, 0, 7},
                 VCX_DELIVERY_OUT_LENGTH},
        EntryLie{"OutputLongerThanAny",
                 0x38,
                 {0xff, 0xff, 0xff, 0xff},
                 VCX_DELIVERY_OUT_LENGTH},
        EntryLie{"NoInputMailbox",
                 0x08,
                 {0, 0, 0, 0, 0, 0, 0, 0},
                 VCX_DELIVERY_IN_POINTER},
        EntryLie{
            "InputMailboxMisaligned", 0x0f, {0x20}, VCX_DELIVERY_IN_POINTER},
        EntryLie{"InputMailboxNowhere", 0x08, {0x70}, VCX_DELIVERY_IN_POINTER},
        EntryLie{"NoOutputMailbox",
                 0x30,
                 {0, 0, 0, 0, 0, 0, 0, 0},
                 VCX_DELIVERY_OUT_POINTER},
        EntryLie{
            "OutputMailboxMisaligned", 0x37, {0x20}, VCX_DELIVERY_OUT_POINTER},
        EntryLie{
            "OutputMailboxNowhere", 0x30, {0x70}, VCX_DELIVERY_OUT_POINTER},
        EntryLie{"TokenOfAnother", 0x3c, {0xee}, VCX_DELIVERY_TOKEN}),
    [](const auto& param_info) { return param_info.param.name; });

// ---- Lies in the mailboxes
// ---------------------------------------------------

struct MailboxLie {
  const char* name;
  bool output;
  size_t number;  // of the mailbox in its chain
  size_t offset;
  std::vector<uint8_t> bytes;
  vcx_cmd_delivery delivery;
};

void PrintTo(const MailboxLie& lie, std::ostream* os) { *os << lie.name; }

class MailboxLieTest : public CommandQueueTest,
                       public ::testing::WithParamInterface<MailboxLie> {};

TEST_P(MailboxLieTest, IsAnsweredByDeliveryStatusAndHasNoEffect) {
  const MailboxLie& lie = GetParam();
  PostLongCommand(0);
  const uint64_t objects = Objects();
  const uint64_t mailbox = lie.output ? port().out_mailboxes(0)[lie.number]
                                      : port().in_mailboxes(0)[lie.number];
  m.host.Write(mailbox + lie.offset, lie.bytes.data(), lie.bytes.size());
  EXPECT_EQ(RingAndGetDelivery(0), lie.delivery);
  EXPECT_EQ(Objects(), objects);
}

INSTANTIATE_TEST_SUITE_P(
    All, MailboxLieTest,
    ::testing::Values(
        MailboxLie{"InputToken", false, 1, 0x23d, {0xee}, VCX_DELIVERY_TOKEN},
        MailboxLie{"InputBlockNumber",
                   false,
                   1,
                   0x238,
                   {0, 0, 0, 2},
                   VCX_DELIVERY_BLOCK_NUM},
        MailboxLie{"InputChainEndsEarly",
                   false,
                   0,
                   0x230,
                   {0, 0, 0, 0, 0, 0, 0, 0},
                   VCX_DELIVERY_IN_POINTER},
        MailboxLie{"InputChainMisaligned",
                   false,
                   0,
                   0x237,
                   {0x08},
                   VCX_DELIVERY_IN_POINTER},
        MailboxLie{"InputChainLeadsNowhere",
                   false,
                   0,
                   0x230,
                   {0x70},
                   VCX_DELIVERY_IN_POINTER},
        MailboxLie{"OutputToken", true, 1, 0x23d, {0xee}, VCX_DELIVERY_TOKEN},
        MailboxLie{"OutputBlockNumber",
                   true,
                   1,
                   0x238,
                   {0, 0, 0, 0},
                   VCX_DELIVERY_BLOCK_NUM},
        MailboxLie{"OutputChainEndsEarly",
                   true,
                   0,
                   0x230,
                   {0, 0, 0, 0, 0, 0, 0, 0},
                   VCX_DELIVERY_OUT_POINTER},
        MailboxLie{"OutputChainLeadsNowhere",
                   true,
                   0,
                   0x230,
                   {0x70},
                   VCX_DELIVERY_OUT_POINTER}),
    [](const auto& param_info) { return param_info.param.name; });

// ---- Nowhere to answer
// ---------------------------------------------------------

TEST_F(CommandQueueTest, IgnoresAnEntryThatSoftwareOwns) {
  PostAllocPd(0);
  PatchEntry(0, offsetof(vcx_cmd_entry, status_own), uint8_t{0});
  const uint64_t objects = Objects();
  m.device.SetTrace(1ull << VCX_TRACE_COMMAND_DELIVERY);
  port().Ring(1);
  EXPECT_EQ(Objects(), objects);
  EXPECT_EQ(m.Counter("commands_undeliverable"), 1u);
  EXPECT_TRUE(m.host.Traced(VCX_TRACE_COMMAND_DELIVERY));
  const auto entry = m.host.Get<vcx_cmd_entry>(port().EntryAddress(0));
  EXPECT_EQ(entry.out[0], kStale);
}

TEST_F(CommandQueueTest, CountsAnEntryThatTheBusRefuses) {
  PostAllocPd(0);
  const uint64_t objects = Objects();
  m.host.FailDma(port().EntryAddress(0), 64, FakeHost::kFailRead);
  port().Ring(1);
  EXPECT_EQ(Objects(), objects);
  EXPECT_EQ(m.Counter("commands_undeliverable"), 1u);
}

TEST_F(CommandQueueTest, CountsADoorbellWithoutAQueue) {
  TestMachine fresh;
  fresh.device.SetBusMaster(true);
  fresh.driver.port().Ring(1u << 7);
  EXPECT_EQ(fresh.Counter("commands_undeliverable"), 1u);
  EXPECT_EQ(fresh.host.dma_reads, 0u);
}

TEST_F(CommandQueueTest, CountsAnOutputThatTheBusRefuses) {
  port().Post(0, MakeInput<vcx_number_in>(VCX_CMD_ALLOC_PD).Bytes(), 100);
  m.host.FailDma(port().out_mailboxes(0)[0], 64, FakeHost::kFailWrite);
  EXPECT_EQ(RingAndGetDelivery(0), VCX_DELIVERY_OUT_POINTER);
  EXPECT_EQ(m.Counter("commands_undeliverable"), 1u);
}

TEST_F(CommandQueueTest, PostsNoEventWhenTheEntryCannotBeWritten) {
  PostAllocPd(0);
  m.host.FailDma(port().EntryAddress(0), 64, FakeHost::kFailWrite);
  port().Ring(1);
  EXPECT_EQ(EventsFor(0), 0);
  EXPECT_EQ(m.Counter("dma_errors"), 1u);
}

TEST_F(CommandQueueTest, DoesNothingWhileBusMasteringIsOff) {
  PostAllocPd(0);
  m.device.SetBusMaster(false);
  const uint64_t reads = m.host.dma_reads;
  const uint64_t writes = m.host.dma_writes;
  port().Ring(1);
  EXPECT_EQ(m.host.dma_reads, reads);
  EXPECT_EQ(m.host.dma_writes, writes);
  EXPECT_FALSE(port().Collect(0).completed);
}

}  // namespace
}  // namespace vcx
