#include "backplane/core/task_set.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "backplane/core/task_group.hpp"
#include "turn_executor.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;

Task<int> value_of(Promise<int> promise) {
  const int value = co_await promise.future();
  co_return value;
}

Task<int> throwing(std::string what) {
  throw std::runtime_error(what);
  co_return 0;
}

struct Outcome {
  bool ended = false;
  std::vector<int> values;
  std::optional<int> value;
  std::string error;
};

Task<void> gather(std::vector<Task<int>> tasks, Outcome& out) {
  try {
    auto waiting = when_all(std::move(tasks));
    out.values = co_await std::move(waiting);
  } catch (const std::exception& thrown) {
    out.error = thrown.what();
  }
  out.ended = true;
}

Task<void> limit(std::chrono::nanoseconds time, Task<int> task, Outcome& out) {
  try {
    auto waiting = within(time, std::move(task));
    out.value = co_await std::move(waiting);
  } catch (const std::exception& thrown) {
    out.error = thrown.what();
  }
  out.ended = true;
}

Task<void> limit_promise(std::chrono::nanoseconds time, Promise<int> promise, Outcome& out) {
  auto waiting = within(time, promise, -1);
  out.value = co_await std::move(waiting);
  out.ended = true;
}

class TaskSetTest : public testing::Test {
 protected:
  test::TurnExecutor turns_;
  Outcome out_;
};

TEST_F(TaskSetTest, WhenAllResumesAfterTheLastEndWithResultsInTheOrderOfTheTasks) {
  Promise<int> first, second;
  std::vector<Task<int>> tasks;
  tasks.push_back(value_of(first));
  tasks.push_back(value_of(second));
  turns_.start(gather(std::move(tasks), out_));
  second.set(2);
  turns_.run_until_idle();
  EXPECT_FALSE(out_.ended);
  first.set(1);
  turns_.run_until_idle();
  EXPECT_TRUE(out_.ended);
  EXPECT_EQ(out_.values, (std::vector<int>{1, 2}));
}

TEST_F(TaskSetTest, WhenAllOfNoTasksEndsAtOnce) {
  turns_.start(gather({}, out_));
  EXPECT_TRUE(out_.ended);
}

TEST_F(TaskSetTest, WhenAllThrowsTheFirstErrorInOrderAfterAllHaveEnded) {
  Promise<int> slow;
  std::vector<Task<int>> tasks;
  tasks.push_back(value_of(slow));
  tasks.push_back(throwing("second"));
  tasks.push_back(throwing("third"));
  turns_.start(gather(std::move(tasks), out_));
  EXPECT_FALSE(out_.ended) << "a task that still runs may use what the caller owns";
  slow.set(1);
  turns_.run_until_idle();
  EXPECT_EQ(out_.error, "second");
}

TEST_F(TaskSetTest, WithinReturnsTheResultOfATaskThatEndsInTime) {
  Promise<int> promise;
  turns_.start(limit(1s, value_of(promise), out_));
  promise.set(7);
  turns_.run_until_idle();
  EXPECT_EQ(out_.value, 7);
  EXPECT_EQ(turns_.delays, (std::vector<std::chrono::nanoseconds>{1s}));
}

TEST_F(TaskSetTest, WithinReturnsNothingAtTheLimitAndTheTaskRunsOn) {
  Promise<int> promise;
  turns_.start(limit(1s, value_of(promise), out_));
  turns_.fire_timers();
  EXPECT_TRUE(out_.ended);
  EXPECT_EQ(out_.value, std::nullopt);
  promise.set(7);
  turns_.run_until_idle();
  EXPECT_EQ(out_.value, std::nullopt);
}

TEST_F(TaskSetTest, WithinThrowsWhatTheTaskThrows) {
  turns_.start(limit(1s, throwing("wrong"), out_));
  EXPECT_EQ(out_.error, "wrong");
}

TEST_F(TaskSetTest, WithinSetsAPromiseAtTheLimitSoThatALaterSetFails) {
  Promise<int> promise;
  turns_.start(limit_promise(1s, promise, out_));
  turns_.fire_timers();
  EXPECT_EQ(out_.value, -1);
  EXPECT_FALSE(promise.set(7));
}

TEST_F(TaskSetTest, WithinReturnsTheValueOfAPromiseThatIsSetInTime) {
  Promise<int> promise;
  turns_.start(limit_promise(1s, promise, out_));
  promise.set(7);
  turns_.run_until_idle();
  EXPECT_EQ(out_.value, 7);
}

// ---- task groups

Task<void> wait_for(Promise<bool> promise) {
  const bool value = co_await promise.future();
  static_cast<void>(value);
}

Task<void> fail() {
  throw std::runtime_error("wrong");
  co_return;
}

Task<void> wait_all(TaskGroup& group, bool& ended) {
  auto waiting = group.wait_all();
  co_await std::move(waiting);
  ended = true;
}

TEST_F(TaskSetTest, AGroupIsWaitedForUntilItsLastTaskHasEndedAndRefusesTasksOnceItIsClosed) {
  test::QuietLogger logger;
  TaskGroup group(logger);
  Promise<bool> go;
  ASSERT_TRUE(group.spawn(turns_, "waiter", wait_for(go)));
  group.close();
  EXPECT_FALSE(group.spawn(turns_, "late", wait_for(go)));
  bool ended = false;
  turns_.start(wait_all(group, ended));
  EXPECT_FALSE(ended);
  EXPECT_EQ(group.running(), 1u);
  go.set(true);
  turns_.run_until_idle();
  EXPECT_TRUE(ended);
}

TEST_F(TaskSetTest, AnErrorOfATaskReachesTheLoggerOfItsGroup) {
  test::QuietLogger logger;
  TaskGroup group(logger);
  ASSERT_TRUE(group.spawn(turns_, "sync", fail()));
  turns_.run_until_idle();
  EXPECT_EQ(logger.lines, (std::vector<std::string>{R"(a background task failed task=sync error="wrong")"}));
  EXPECT_EQ(group.running(), 0u);
}

}  // namespace
}  // namespace backplane
