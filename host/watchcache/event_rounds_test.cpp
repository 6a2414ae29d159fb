// Many waiters of one topic are woken in rounds.
#include <gtest/gtest.h>

#include "turn_executor.hpp"
#include "watchcache/event_log.hpp"

namespace backplane {
namespace {

constexpr std::size_t kMany = 600;

// The wake-ups of a waiter, and the revisions that it has read.
struct Received {
  int wakes = 0;
  std::vector<Revision> revisions;
};

Task<void> collect_records(EventLog& log, EventLog::Waiter& waiter, std::uint64_t cursor, Received& received) {
  for (;;) {
    cursor = co_await log.wait(waiter, cursor);
    const auto slice = log.read(cursor);
    if (slice.state == EventLog::Slice::State::kClosed || slice.state == EventLog::Slice::State::kLagged) co_return;
    ++received.wakes;
    for (const auto& part : slice.records) {
      for (const auto& record : part) received.revisions.push_back(record.revision);
    }
    cursor = slice.next;
  }
}

class Rounds : public testing::Test {
 protected:
  Rounds() {
    log->reset(0);
    now->set_identity("/k/ns/a", "ns", "a");
    now->set_json(SharedBytes(std::string(100, 'x')));
  }
  ~Rounds() override {
    log->close();
    loop.run_until_idle(true);
  }
  void start(std::optional<Topic> topic = {}, bool bookmarks = false) {
    for (std::size_t i = 0; i < kMany; ++i) {
      waiters[i].topic = topic;
      waiters[i].wants_bookmarks = bookmarks;
      waiters[i].bookmark_due = EventLog::Clock::now();
      loop.start(collect_records(*log, waiters[i], *log->cursor_after(0), received[i]));
    }
  }
  void append(Revision revision) {
    std::vector<LogRecord> one;
    one.push_back({WatchEvent::Type::kModified, revision, now, nullptr});
    log->append(std::move(one));
  }
  int wakes() const {
    int sum = 0;
    for (const Received& each : received) sum += each.wakes;
    return sum;
  }

  const Topic kOfNamespace{Topic::Kind::kNamespace, namespace_term("ns")};
  test::TurnExecutor loop;
  std::shared_ptr<EventLog> log = std::make_shared<EventLog>(EventLog::Limits{.max_events = 1024});
  std::shared_ptr<ObjectEntry> now = std::make_shared<ObjectEntry>();
  std::array<EventLog::Waiter, kMany> waiters;
  std::array<Received, kMany> received;
};

TEST_F(Rounds, ReachWaitersForAllEventsWithAllGatheredEvents) {
  start();
  append(1);
  append(2);
  loop.run_until_idle();
  EXPECT_EQ(wakes(), 0);
  loop.fire_timers();
  EXPECT_EQ(wakes(), kMany);
  for (const Received& each : received) EXPECT_EQ(each.revisions, (std::vector<Revision>{1, 2}));
}

// Regression: a thousand watches of one namespace were written to separately for each event.
TEST_F(Rounds, ReachWaitersForTheSameTopic) {
  start(kOfNamespace);
  append(1);
  append(2);
  loop.run_until_idle();
  EXPECT_EQ(wakes(), 0);
  loop.fire_timers();
  EXPECT_EQ(wakes(), kMany);
  append(3);
  loop.fire_timers();
  EXPECT_EQ(wakes(), 2 * kMany);
  for (const Received& each : received) EXPECT_EQ(each.revisions, (std::vector<Revision>{1, 2, 3}));
}

TEST_F(Rounds, ARoundWakesWaitersInSlicesBetweenOtherFunctions) {
  start();
  int told_before_others = 0;
  // Functions posted here run after the round's first slice and before its second.
  loop.after(std::chrono::nanoseconds(0), [&] { loop.post([&] { told_before_others = wakes(); }); });
  append(1);
  loop.fire_timers();
  EXPECT_GT(told_before_others, 0);
  EXPECT_LT(told_before_others, static_cast<int>(kMany));
  EXPECT_EQ(wakes(), kMany);
}

TEST_F(Rounds, EventsDuringARoundAreDeliveredInTheNextOne) {
  start(kOfNamespace);
  append(1);
  // After the first slice of the round: some waiters have been woken, some have not.
  loop.after(std::chrono::nanoseconds(0), [&] { loop.post([&] { append(2); }); });
  loop.fire_timers();
  const int first = wakes();
  EXPECT_LE(first, static_cast<int>(kMany));
  loop.fire_timers();
  EXPECT_GT(wakes(), first);
  for (const Received& each : received) EXPECT_EQ(each.revisions, (std::vector<Revision>{1, 2}));
}

TEST_F(Rounds, BeginBeforeTheirTimeWhenMuchOfTheLogWaits) {
  start();
  for (Revision revision = 1; revision <= 200; ++revision) append(revision);
  loop.run_until_idle();
  EXPECT_EQ(wakes(), 0);
  for (Revision revision = 201; revision <= 300; ++revision) append(revision);
  loop.run_until_idle();
  for (const Received& each : received) EXPECT_EQ(each.revisions.size(), 300u);
  const int before = wakes();
  loop.fire_timers();  // the timer of the delayed round expires
  EXPECT_EQ(wakes(), before);
}

// A waiter receives all events of its topic before a bookmark.
TEST_F(Rounds, AreNotPassedOverByABookmark) {
  start(kOfNamespace, true);
  append(1);
  log->tick(EventLog::Clock::now());
  loop.run_until_idle();
  loop.fire_timers();
  for (const Received& each : received) EXPECT_EQ(each.revisions, std::vector<Revision>{1});
}

TEST_F(Rounds, WakeAllWaitersWhenTheLogIsReset) {
  start();
  append(1);
  log->reset(100);
  loop.run_until_idle(true);
  for (const Received& each : received) EXPECT_EQ(each.wakes, 0);  // lagged, and ended
}

}  // namespace
}  // namespace backplane
