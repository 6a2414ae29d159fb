#include "watchcache/event_log.hpp"

#include <gtest/gtest.h>

#include "base/io_loop.hpp"
#include "base/task_group.hpp"

namespace backplane {
namespace {

ObjectRef object(Revision revision) {
  auto made = std::make_shared<ObjectEntry>();
  made->set_identity("/k/a", {}, "a");
  made->revision = revision;
  made->set_json(SharedBytes(std::string(100, 'x')));
  return made;
}

std::vector<LogRecord> records(Revision from, Revision to) {
  std::vector<LogRecord> made;
  for (Revision revision = from; revision <= to; ++revision)
    made.push_back({WatchEvent::Type::kModified, revision, object(revision), nullptr});
  return made;
}

// Revisions from a cursor to the end of the log.
std::vector<Revision> read_all(const EventLog& log, std::uint64_t cursor) {
  std::vector<Revision> revisions;
  for (;;) {
    const auto slice = log.read(cursor);
    if (slice.state != EventLog::Slice::State::kRecords) return revisions;
    for (const auto& part : slice.records) {
      for (const auto& record : part) revisions.push_back(record.revision);
    }
    cursor = slice.next;
  }
}

TEST(EventLog, ACursorReadsWhatComesAfterItsRevision) {
  EventLog log;
  log.reset(10);
  log.append(records(11, 700));
  EXPECT_EQ(log.size(), 690u);
  EXPECT_FALSE(log.cursor_after(9));
  const auto all = read_all(log, *log.cursor_after(10));
  ASSERT_EQ(all.size(), 690u);
  EXPECT_EQ(all.front(), 11);
  EXPECT_EQ(all.back(), 700);
  EXPECT_EQ(read_all(log, *log.cursor_after(698)), (std::vector<Revision>{699, 700}));
  EXPECT_TRUE(read_all(log, *log.cursor_after(5000)).empty());
}

TEST(EventLog, ForgetsTheOldestWhenItHasTooManyEventsOrBytes) {
  EventLog few({.max_events = 1000, .max_bytes = 1 << 30});
  few.reset(0);
  const auto start = few.cursor_after(0);
  for (Revision revision = 1; revision <= 5000; revision += 10) few.append(records(revision, revision + 9));
  EXPECT_LE(few.size(), 1000u);
  EXPECT_GT(few.size(), 800u);
  EXPECT_EQ(few.read(*start).state, EventLog::Slice::State::kLagged);
  EXPECT_FALSE(few.cursor_after(few.floor() - 1));
  EXPECT_EQ(read_all(few, *few.cursor_after(few.floor())).front(), few.floor() + 1);

  EventLog small({.max_events = 1'000'000, .min_bytes = 0, .max_bytes = 64 * 1024});
  small.reset(0);
  for (Revision revision = 1; revision <= 5000; ++revision) {
    auto one = records(revision, revision);
    one[0].previous = object(revision - 1);
    small.append(std::move(one));
  }
  EXPECT_LT(small.size(), 1000u);
}

// Regression: sixty definitions of 60 KB, each written three times, filled the log with events that no watcher needed.
TEST(EventLog, KeepsOfOldObjectsOnlyAShareOfWhatTheLiveOnesTake) {
  constexpr std::size_t kObject = 100;
  EventLog log({.max_events = 1'000'000, .min_bytes = 10'000, .max_bytes = 1'000'000});
  log.reset(0);
  const auto replaced = [&](std::size_t live_bytes) {
    static Revision revision = 0;
    for (int i = 0; i < 20'000; ++i) {
      auto one = records(revision + 1, revision + 1);
      one[0].previous = object(revision++);
      log.append(std::move(one), live_bytes);
    }
    return log.size() * (kObject + sizeof(LogRecord));
  };
  EXPECT_LE(replaced(1000), 10'000u + 128 * 200);
  const std::size_t share = replaced(400'000);
  EXPECT_GE(share, 100'000u - 128 * 200);
  EXPECT_LE(share, 100'000u + 128 * 200);
  EXPECT_LE(replaced(1'000'000'000), 1'000'000u + 128 * 200);
}

TEST(EventLog, AfterAResetEarlierCursorsLag) {
  EventLog log;
  log.reset(0);
  log.append(records(1, 5));
  const auto cursor = log.cursor_after(5);
  log.reset(20);
  EXPECT_EQ(log.read(*cursor).state, EventLog::Slice::State::kLagged);
  log.append(records(21, 21));
  EXPECT_EQ(read_all(log, *log.cursor_after(20)), std::vector<Revision>{21});
}

Task<void> wait_for(EventLog& log, EventLog::Waiter& waiter, std::uint64_t cursor, std::atomic<int>& woken, Executor** where) {
  co_await log.wait(waiter, cursor);
  *where = current_executor();
  ++woken;
}

class Waiting : public testing::Test {
 protected:
  Waiting() {
    loops.start();
    log.reset(0);
  }
  ~Waiting() override { loops.stop(); }
  void start(std::size_t i, std::uint64_t cursor = 128) {
    tasks.spawn(loops.loop(i), "waiter", wait_for(log, waiters[i], cursor, woken, &where[i]));
  }
  // Waits until everything that was posted to the loops has run.
  void run_posted() {
    for (std::size_t i = 0; i < loops.size(); ++i) run_on(loops.loop(i), nothing());
  }
  static Task<void> nothing() { co_return; }
  void finish() {
    tasks.close();
    run_on(loops.loop(0), tasks.wait_all());
  }
  LoopPool loops{2};
  LoggedTaskGroup tasks;
  std::atomic<int> due_callbacks{0};
  EventLog log{[this](EventLog::Clock::time_point) { ++due_callbacks; }};
  std::shared_ptr<EventLog> short_log = std::make_shared<EventLog>(EventLog::Limits{.max_events = 500});
  std::array<EventLog::Waiter, 8> waiters;
  std::array<Executor*, 8> where{};
  std::atomic<int> woken{0};
};

TEST_F(Waiting, AnAppendResumesEveryWaiterWhereItWaited) {
  for (std::size_t i = 0; i < 8; ++i) start(i);
  run_posted();
  EXPECT_EQ(woken.load(), 0);
  log.append(records(1, 1));
  finish();
  EXPECT_EQ(woken.load(), 8);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(where[i], &loops.loop(i));
}

TEST_F(Waiting, AWaitForWhatIsThereDoesNotWait) {
  log.append(records(1, 1));
  start(0, *log.cursor_after(0));
  finish();
  EXPECT_EQ(woken.load(), 1);
}

TEST_F(Waiting, CancellingResumesOneWaiterOnly) {
  for (std::size_t i = 0; i < 3; ++i) start(i);
  run_posted();
  log.cancel(waiters[1]);
  log.cancel(waiters[1]);
  run_posted();
  EXPECT_EQ(woken.load(), 1);
  start(1);  // cancelled for good
  run_posted();
  EXPECT_EQ(woken.load(), 2);
  log.close();
  finish();
  EXPECT_EQ(woken.load(), 4);
}

TEST_F(Waiting, ATickResumesWaitersWhoseBookmarkIsDue) {
  const auto now = EventLog::Clock::now();
  waiters[0].wants_bookmarks = true;
  waiters[0].bookmark_due = now;
  waiters[2].wants_bookmarks = true;
  waiters[2].bookmark_due = now + std::chrono::hours(1);
  for (std::size_t i = 0; i < 3; ++i) start(i);
  run_posted();
  log.tick(now);
  run_posted();
  EXPECT_EQ(woken.load(), 1);
  EXPECT_NE(where[0], nullptr);
  log.close();
  finish();
}

TEST_F(Waiting, ATickWakesNoWaiterWithALaterBookmark) {
  const auto now = EventLog::Clock::now();
  for (std::size_t i = 0; i < 8; ++i) {
    waiters[i].wants_bookmarks = true;
    waiters[i].bookmark_due = now + std::chrono::seconds(8 - i);
    start(i);
    run_posted();
  }
  EXPECT_EQ(due_callbacks.load(), 8);  // each was due earlier than the previous ones
  EXPECT_EQ(log.next_due(), now + std::chrono::seconds(1));
  log.tick(now);
  run_posted();
  EXPECT_EQ(woken.load(), 0);
  log.tick(now + std::chrono::seconds(2));
  run_posted();
  EXPECT_EQ(woken.load(), 2);
  EXPECT_EQ(log.next_due(), now + std::chrono::seconds(3));
  // A waiter that was woken by an event, and waits again for the same bookmark, is registered once.
  log.append(records(1, 1));
  run_posted();
  EXPECT_EQ(woken.load(), 8);
  for (std::size_t i = 0; i < 6; ++i) start(i, *log.cursor_after(1));
  run_posted();
  EXPECT_EQ(due_callbacks.load(), 8);
  log.tick(now + std::chrono::seconds(8));
  run_posted();
  EXPECT_EQ(woken.load(), 14);
  EXPECT_EQ(log.next_due(), std::nullopt);
  log.close();
  finish();
}

TEST_F(Waiting, ADestroyedWaiterIsNotTicked) {
  const auto due = EventLog::Clock::now();
  {
    EventLog::Waiter gone;
    gone.wants_bookmarks = true;
    gone.bookmark_due = due;
    tasks.spawn(loops.loop(0), "waiter", wait_for(log, gone, 128, woken, &where[0]));
    run_posted();
    log.cancel(gone);
    run_posted();
    EXPECT_EQ(woken.load(), 1);
    EXPECT_EQ(log.next_due(), due);
  }
  EXPECT_EQ(log.next_due(), std::nullopt);
  log.tick(due);
  finish();
}

std::vector<LogRecord> named(Revision revision, std::string name, std::string field, std::string field_before = {}) {
  auto now = std::make_shared<ObjectEntry>(*object(revision));
  now->set_identity("/k/ns/" + name, "ns", name);
  now->set_labels({{"app", "a"}});
  now->set_fields({std::move(field)});
  auto before = std::make_shared<ObjectEntry>(*now);
  before->set_fields({std::move(field_before)});
  std::vector<LogRecord> made;
  made.push_back({WatchEvent::Type::kModified, revision, now, before});
  return made;
}

TEST_F(Waiting, AChangeResumesOnlyTheWaitersOfItsTopics) {
  using Kind = Topic::Kind;
  waiters[0].topic = Topic{Kind::kField, field_term(0, "node1")};
  waiters[1].topic = Topic{Kind::kField, field_term(0, "node2")};
  waiters[2].topic = Topic{Kind::kName, name_term("b")};
  waiters[3].topic = Topic{Kind::kNamespace, namespace_term("other")};
  waiters[4].topic = Topic{Kind::kLabel, label_term("app", "b")};
  for (std::size_t i = 0; i < 6; ++i) start(i);  // the last one waits for all events
  run_posted();
  log.append(named(1, "a", "node1"));
  run_posted();
  EXPECT_EQ(woken.load(), 2);
  EXPECT_NE(where[0], nullptr);
  EXPECT_NE(where[5], nullptr);
  log.append(named(2, "a", "node3", "node2"));  // concerns no other waiter
  run_posted();
  EXPECT_EQ(woken.load(), 3);
  EXPECT_NE(where[1], nullptr);
  log.append(named(3, "b", ""));
  run_posted();
  EXPECT_EQ(woken.load(), 4);
  EXPECT_NE(where[2], nullptr);
  log.close();
  finish();
  EXPECT_EQ(woken.load(), 6);
}

Task<void> keep_cursor(EventLog& log, EventLog::Waiter& waiter, std::uint64_t& cursor) { cursor = co_await log.wait(waiter, cursor); }

// More events than the log holds pass a waiter for another topic; then an event of its topic arrives.
TEST_F(Waiting, AWaiterOfAnotherTopicDoesNotLag) {
  short_log->reset(0);
  std::array<std::uint64_t, 2> cursors{*short_log->cursor_after(0), *short_log->cursor_after(0)};
  waiters[1].wants_bookmarks = true;
  waiters[1].bookmark_due = EventLog::Clock::now();
  for (std::size_t i = 0; i < 2; ++i) {
    waiters[i].topic = Topic{Topic::Kind::kField, field_term(0, "node" + std::to_string(i))};
    tasks.spawn(loops.loop(i), "waiter", keep_cursor(*short_log, waiters[i], cursors[i]));
  }
  run_posted();
  Revision revision = 0;
  while (revision < 5000) short_log->append(named(++revision, "a", "elsewhere"));
  short_log->append(named(++revision, "a", "node0"));
  short_log->tick(EventLog::Clock::now());
  finish();
  EXPECT_EQ(read_all(*short_log, cursors[0]), std::vector<Revision>{revision});
  EXPECT_EQ(short_log->read(cursors[1]).state, EventLog::Slice::State::kEmpty);
}

Task<void> follow(EventLog& log, EventLog::Waiter& waiter, std::uint64_t cursor, Revision until, std::atomic<int>& done) {
  Revision seen = 0;
  while (seen < until) {
    for (const Revision revision : read_all(log, cursor)) {
      EXPECT_EQ(revision, seen + 1);
      seen = revision;
      ++cursor;
    }
    if (seen < until) cursor = co_await log.wait(waiter, cursor);
  }
  ++done;
}

TEST_F(Waiting, ManyWaitersForAllEventsMissNothing) {
  constexpr Revision kRevisions = 300;
  auto shared = std::make_shared<EventLog>();
  shared->reset(0);
  std::vector<EventLog::Waiter> many(200);
  std::atomic<int> done{0};
  for (std::size_t i = 0; i < many.size(); ++i) {
    tasks.spawn(loops.loop(i), "follower", follow(*shared, many[i], *shared->cursor_after(0), kRevisions, done));
  }
  run_posted();
  for (Revision revision = 1; revision <= kRevisions; ++revision) shared->append(records(revision, revision));
  finish();
  EXPECT_EQ(done.load(), 200);
}

Task<void> follow_namespace(EventLog& log, EventLog::Waiter& waiter, std::uint64_t cursor, Revision until, std::atomic<int>& done) {
  Revision wanted = 2;
  while (wanted <= until) {
    cursor = co_await log.wait(waiter, cursor);
    for (auto slice = log.read(cursor); slice.state == EventLog::Slice::State::kRecords; slice = log.read(cursor)) {
      for (const auto& part : slice.records) {
        for (const auto& record : part) {
          if (record.object->ns() != "ns") continue;
          EXPECT_EQ(record.revision, wanted);
          wanted = record.revision + 2;
        }
      }
      cursor = slice.next;
    }
  }
  ++done;
}

TEST_F(Waiting, ManyWaitersForANamespaceMissNothing) {
  constexpr Revision kRevisions = 600;
  auto shared = std::make_shared<EventLog>();
  shared->reset(0);
  std::vector<EventLog::Waiter> many(200);
  std::atomic<int> done{0};
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i].topic = Topic{Topic::Kind::kNamespace, namespace_term("ns")};
    tasks.spawn(loops.loop(i), "follower", follow_namespace(*shared, many[i], *shared->cursor_after(0), kRevisions, done));
  }
  run_posted();
  for (Revision revision = 1; revision <= kRevisions; ++revision) {
    auto one = named(revision, "a", "");
    if (revision % 2 == 1) {
      auto moved = std::make_shared<ObjectEntry>(*one[0].object);
      moved->set_identity("/k/other/a", "other", "a");
      one[0].object = one[0].previous = std::move(moved);
    }
    shared->append(std::move(one));
  }
  finish();
  EXPECT_EQ(done.load(), 200);
}

}  // namespace
}  // namespace backplane
