#include "watchcache/pump_loop.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

namespace backplane {
namespace {

Task<void> note(std::vector<std::thread::id>& threads, Executor*& executor) {
  threads.push_back(std::this_thread::get_id());
  executor = current_executor();
  co_return;
}

std::thread::id thread_of(Executor& executor) {
  std::promise<std::thread::id> id;
  executor.post([&id] { id.set_value(std::this_thread::get_id()); });
  return id.get_future().get();
}

// Waits until the loop's thread runs no work, so that another thread can run work.
void wait_for_idle(PumpLoop& loop) {
  bool here = false;
  while (!here) {
    std::promise<bool> ran;
    {
      const CallerRunsScope one;
      loop.post([&ran, caller = std::this_thread::get_id()] { ran.set_value(caller == std::this_thread::get_id()); });
    }
    here = ran.get_future().get();
  }
}

TEST(PumpLoop, WorkRunsOnItsThread) {
  PumpLoop loop("t");
  loop.start();
  const auto id = thread_of(loop);
  EXPECT_NE(id, std::this_thread::get_id());
  EXPECT_EQ(thread_of(loop), id);
}

TEST(PumpLoop, WorkPostedBeforeTheStartRunsAfterIt) {
  PumpLoop loop("t");
  std::promise<void> ran;
  loop.post([&ran] { ran.set_value(); });
  loop.start();
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(PumpLoop, APosterRunsItsWorkAtTheEndOfItsScope) {
  PumpLoop loop("t");
  loop.start();
  wait_for_idle(loop);
  std::vector<std::thread::id> threads;
  Executor* executor = nullptr;
  {
    const CallerRunsScope scope;
    spawn_detached(loop, note(threads, executor));
    EXPECT_TRUE(threads.empty());
  }
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_EQ(executor, &loop);
  EXPECT_EQ(current_executor(), nullptr);
}

TEST(PumpLoop, WorkThatTheCallersWorkPostsRunsOnTheThread) {
  PumpLoop loop("t");
  loop.start();
  wait_for_idle(loop);
  std::promise<std::thread::id> second;
  {
    const CallerRunsScope scope;
    loop.post([&] { loop.post([&] { second.set_value(std::this_thread::get_id()); }); });
  }
  EXPECT_NE(second.get_future().get(), std::this_thread::get_id());
}

TEST(PumpLoop, ACallerLeavesItsWorkToTheRunningThreadInOrder) {
  PumpLoop loop("t");
  loop.start();
  std::promise<void> begun, go;
  std::vector<int> order;
  loop.post([&] {
    begun.set_value();
    go.get_future().wait();
    order.push_back(1);
  });
  begun.get_future().wait();
  std::promise<std::thread::id> second;
  {
    const CallerRunsScope scope;
    loop.post([&] {
      order.push_back(2);
      second.set_value(std::this_thread::get_id());
    });
  }
  EXPECT_TRUE(order.empty());
  go.set_value();
  EXPECT_NE(second.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

struct NoHistory final : CommitHistory {
  Task<Result<EventBatch>> read_history(std::string, Revision, std::size_t) override { co_return expired("there is none"); }
};

struct Seen {
  std::vector<Revision> revisions;
  std::vector<std::thread::id> threads;
};

Task<void> read_all(StorageWatch& watch, Seen& seen) {
  for (;;) {
    auto reading = watch.next();
    const auto batch = co_await std::move(reading);
    if (!batch.ok()) co_return;
    seen.revisions.push_back(batch->revision);
    seen.threads.push_back(std::this_thread::get_id());
  }
}

TEST(PumpLoop, AWatchOfAFeedContinuesOnTheThreadThatWakesItHere) {
  NoHistory history;
  CommitFeed feed(history, 1);
  auto watch = feed.watch("", 1);
  ASSERT_TRUE(watch.ok());
  PumpLoop loop("t");
  loop.start();
  Seen seen;
  std::promise<void> ended;
  spawn_detached(loop, read_all(**watch, seen), [&ended] { ended.set_value(); });
  wait_for_idle(loop);
  for (Revision revision = 2; revision < 5; ++revision) {
    feed.append({}, revision);
    feed.wake_here();
    ASSERT_EQ(seen.revisions.size(), static_cast<std::size_t>(revision - 1));
    EXPECT_EQ(seen.threads.back(), std::this_thread::get_id());
  }
  EXPECT_EQ(seen.revisions, (std::vector<Revision>{2, 3, 4}));
  feed.close();
  ended.get_future().wait();
}

// Two callers and the loop's thread: the counter has no lock.
TEST(PumpLoop, OneThreadAtATimeRunsWork) {
  PumpLoop loop("t");
  loop.start();
  constexpr int kEach = 2000;
  int count = 0;
  const auto post_all = [&](bool scoped) {
    for (int i = 0; i < kEach; ++i) {
      if (scoped) {
        const CallerRunsScope scope;
        loop.post([&count] { ++count; });
      } else {
        loop.post([&count] { ++count; });
      }
    }
  };
  std::vector<std::thread> posters;
  for (const bool scoped : {true, true, false}) posters.emplace_back(post_all, scoped);
  for (auto& poster : posters) poster.join();
  std::promise<int> all;
  loop.post([&] { all.set_value(count); });
  EXPECT_EQ(all.get_future().get(), 3 * kEach);
}

TEST(PumpLoop, ATimerRunsOnTheExecutorUnlessItIsCancelled) {
  PumpLoop loop("t");
  loop.start();
  std::promise<Executor*> where;
  bool cancelled_ran = false;
  const auto cancel = loop.after(std::chrono::hours(1), [&] { cancelled_ran = true; });
  cancel();
  cancel();
  loop.after(std::chrono::milliseconds(1), [&] { where.set_value(current_executor()); });
  EXPECT_EQ(where.get_future().get(), &loop);
  loop.stop();
  EXPECT_FALSE(cancelled_ran);
}

TEST(PumpLoop, AStoppedLoopRunsNothingMore) {
  PumpLoop loop("t");
  loop.start();
  loop.stop();
  bool ran = false;
  {
    const CallerRunsScope scope;
    loop.post([&ran] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace backplane
