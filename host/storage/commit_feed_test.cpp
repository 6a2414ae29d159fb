#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "backplane/points/storage_feed.hpp"
#include "base/io_loop.hpp"

namespace backplane {
namespace {

constexpr Revision kFloor = 10;

// A history whose reads are slow. Records the maximum number of concurrent reads.
class SlowHistory final : public CommitHistory {
 public:
  Task<Result<EventBatch>> read_history(std::string, Revision, std::size_t) override {
    most = std::max(most, ++reading);
    if (on_read) on_read();
    for (int i = 0; i < 3; ++i) {
      auto pause = sleep_for(std::chrono::milliseconds(1));
      co_await std::move(pause);
    }
    --reading;
    ++reads;
    EventBatch batch;
    batch.revision = kFloor;
    co_return batch;
  }
  int reading = 0;
  int most = 0;
  int reads = 0;
  std::function<void()> on_read;
};

// Reads once from the watch. If the watch ends with an error, increments `ended`; if `ended` is null, the test fails.
Task<void> read_on(StorageWatch& watch, int& left, Promise<bool> done, int* ended = nullptr) {
  auto reading = watch.next();
  auto batch = co_await std::move(reading);
  EXPECT_TRUE(batch.ok() || ended != nullptr);
  if (!batch.ok() && ended != nullptr) ++*ended;
  if (--left == 0) done.set(true);
}

std::unique_ptr<StorageWatch> watch_after(CommitFeed& feed, Revision after) {
  auto watch = feed.watch("/registry/", after);
  EXPECT_TRUE(watch.ok());
  return std::move(*watch);
}

// The number of events in the next batch of the watch.
Task<std::size_t> taken(StorageWatch& watch) {
  auto reading = watch.next();
  auto batch = co_await std::move(reading);
  EXPECT_TRUE(batch.ok());
  co_return batch.ok() ? batch->events.size() : 0;
}

Task<bool> wait(Promise<bool> what) {
  const bool value = co_await what.future();
  co_return value;
}

// Thousands of clients may reconnect after a restart.
TEST(CommitFeed, FewOfTheWatchesThatResumeReadHistoryAtOnce) {
  IoLoop loop("test");
  loop.start();
  SlowHistory history;
  CommitFeed feed(history, kFloor);
  std::vector<std::unique_ptr<StorageWatch>> watches;
  int left = 50;
  Promise<bool> done;
  for (int i = 0; i < 50; ++i) {
    auto watch = feed.watch("/registry/", 1);
    ASSERT_TRUE(watch.ok());
    watches.push_back(std::move(*watch));
  }
  for (auto& watch : watches) spawn_detached(loop, read_on(*watch, left, done));
  EXPECT_TRUE(run_on(loop, wait(done)));
  EXPECT_EQ(history.reads, 50);
  EXPECT_LE(history.most, 2);
  feed.close();
  loop.stop();
}

TEST(CommitFeed, AWatchThatWaitsForItsTurnDoesNotReadTheHistoryOfAClosedFeed) {
  IoLoop loop("test");
  loop.start();
  SlowHistory history;
  CommitFeed feed(history, kFloor);
  // Two watches read. The third one waits for its turn, because it has begun in the same round of the loop.
  history.on_read = [&] {
    if (history.most == 2) loop.post([&feed] { feed.close(); });
  };
  std::vector<std::unique_ptr<StorageWatch>> watches;
  for (int i = 0; i < 3; ++i) watches.push_back(watch_after(feed, 1));
  int left = 3, ended = 0;
  Promise<bool> done;
  loop.post([&] {
    for (auto& watch : watches) spawn_detached(loop, read_on(*watch, left, done, &ended));
  });
  EXPECT_TRUE(run_on(loop, wait(done)));
  EXPECT_EQ(history.reads, 2);
  EXPECT_EQ(ended, 1);
  loop.stop();
}

// Appends commits of 16 KB up to the revision `last`; `reader` (may be null) reads each of them immediately.
void commit(CommitFeed& feed, IoLoop& loop, Revision last, StorageWatch* reader) {
  for (Revision revision = kFloor + 1; revision <= last; ++revision) {
    StorageEvent event;
    event.kv.key = "/registry/things/a";
    event.kv.value = SharedBytes(std::string(16 * 1024, 'x'));
    event.kv.mod_revision = revision;
    feed.append({std::move(event)}, revision);
    if (reader != nullptr) {
      EXPECT_EQ(run_on(loop, taken(*reader)), 1u);
    }
  }
}

// Regression: the feed retained eight megabytes that no watch needed.
TEST(CommitFeed, WhatEveryWatchHasTakenIsLeftToTheHistory) {
  IoLoop loop("test");
  loop.start();
  SlowHistory history;
  CommitFeed feed(history, kFloor);
  const auto quick = watch_after(feed, kFloor);
  commit(feed, loop, kFloor + 100, quick.get());
  const auto late = watch_after(feed, kFloor + 98);
  EXPECT_EQ(run_on(loop, taken(*late)), 2u);
  EXPECT_EQ(history.reads, 0);
  const auto from_the_start = watch_after(feed, kFloor);
  EXPECT_EQ(run_on(loop, taken(*from_the_start)), 0u);
  EXPECT_EQ(history.reads, 1);
  feed.close();
  loop.stop();
}

TEST(CommitFeed, AWatchThatIsBehindFindsWhatItHasNotTaken) {
  IoLoop loop("test");
  loop.start();
  SlowHistory history;
  CommitFeed feed(history, kFloor);
  const auto late = watch_after(feed, kFloor);
  const auto quick = watch_after(feed, kFloor);
  commit(feed, loop, kFloor + 100, quick.get());
  EXPECT_EQ(run_on(loop, taken(*late)), 100u);
  EXPECT_EQ(history.reads, 0);
  feed.close();
  loop.stop();
}

}  // namespace
}  // namespace backplane
