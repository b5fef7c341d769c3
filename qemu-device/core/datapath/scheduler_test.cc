/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The line of QPs, and the timers behind them.
#include "datapath/scheduler.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "testing/fake_host.h"
#include "timer.h"

namespace vcx {
namespace {

TEST(SchedulerTest, RoundRobinWithoutDoubles) {
  Scheduler line;
  Qp a, b, c;
  line.Schedule(a);
  line.Schedule(b);
  line.Schedule(a);
  line.Schedule(c);
  EXPECT_EQ(line.waiting(), 3u);
  EXPECT_EQ(line.Pop(), &a);
  line.Schedule(a);
  EXPECT_EQ(line.Pop(), &b);
  EXPECT_EQ(line.Pop(), &c);
  EXPECT_EQ(line.Pop(), &a);
  EXPECT_EQ(line.Pop(), nullptr);
}

TEST(SchedulerTest, BlockedWaitForTheWire) {
  Scheduler line;
  Qp a, b;
  line.Block(a);
  line.Schedule(a);  // stands in a line already
  EXPECT_EQ(line.Pop(), nullptr);
  line.Schedule(b);
  line.Unblock();
  EXPECT_EQ(line.Pop(), &b);
  EXPECT_EQ(line.Pop(), &a);
}

TEST(SchedulerTest, RemovesFromEveryPlace) {
  for (int gone = 0; gone < 3; ++gone) {
    for (bool blocked : {false, true}) {
      Scheduler line;
      Qp qps[3];
      for (Qp& qp : qps) blocked ? line.Block(qp) : line.Schedule(qp);
      line.Remove(qps[gone]);
      line.Remove(qps[gone]);
      line.Unblock();
      for (int i = 0; i < 3; ++i) {
        if (i == gone) continue;
        EXPECT_EQ(line.Pop(), &qps[i]);
      }
      EXPECT_EQ(line.Pop(), nullptr);
      line.Schedule(qps[gone]);
      EXPECT_EQ(line.Pop(), &qps[gone]);
    }
  }
}

TEST(TimerTest, ComesOutInOrderOfTime) {
  FakeHost host(42);
  TimerQueue queue(host);
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < 200; ++i) {
    timers.push_back(std::make_unique<Timer>(TimerKind::kRetry, nullptr));
    queue.Arm(*timers.back(), host.Random() % 1000);
  }
  for (int i = 0; i < 200; i += 3) queue.Cancel(*timers[i]);
  for (int i = 1; i < 200; i += 3) queue.Arm(*timers[i], host.Random() % 1000);
  uint64_t last = 0;
  int n = 0;
  while (Timer* timer = queue.PopDue(1000)) {
    EXPECT_GE(timer->deadline, last);
    EXPECT_FALSE(timer->armed());
    last = timer->deadline;
    ++n;
  }
  EXPECT_EQ(n, 200 - 67);
}

TEST(TimerTest, TellsTheHostEarlierDeadlinesOnly) {
  FakeHost host;
  TimerQueue queue(host);
  Timer a(TimerKind::kRetry, nullptr), b(TimerKind::kRnr, nullptr);
  queue.Arm(a, 500);
  queue.Publish();
  EXPECT_EQ(host.deadline, 500u);
  queue.Arm(b, 300);
  queue.Publish();
  EXPECT_EQ(host.deadline, 300u);
  queue.Arm(b, 900);
  queue.Publish();
  EXPECT_EQ(host.deadline, 300u);  // early does no harm
  queue.Expired();
  EXPECT_EQ(queue.PopDue(300), nullptr);
  queue.Publish();
  EXPECT_EQ(host.deadline, 500u);
  queue.Clear();
  EXPECT_EQ(host.deadline, VCX_CORE_NO_DEADLINE);
}

}  // namespace
}  // namespace vcx
