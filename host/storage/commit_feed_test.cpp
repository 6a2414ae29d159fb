#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "backplane/storage_feed.hpp"
#include "base/io_loop.hpp"

namespace backplane {
namespace {

constexpr Revision kFloor = 10;

// Takes its time, and notes how many read at once.
class SlowHistory final : public CommitHistory {
 public:
  Task<Result<EventBatch>> read_history(std::string, Revision, std::size_t) override {
    most = std::max(most, ++reading);
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
};

Task<void> read_on(StorageWatch& watch, int& left, Promise<bool> done) {
  auto reading = watch.next();
  auto batch = co_await std::move(reading);
  EXPECT_TRUE(batch.ok());
  if (--left == 0) done.set(true);
}

Task<bool> wait(Promise<bool> what) {
  const bool value = co_await what.future();
  co_return value;
}

// Clients come back by the thousand when a server has been restarted.
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

}  // namespace
}  // namespace backplane
