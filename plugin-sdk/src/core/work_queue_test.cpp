#include "backplane/core/work_queue.hpp"

#include <gtest/gtest.h>

#include "backplane/core/log_limit.hpp"
#include "backplane/core/metrics.hpp"
#include "core/work_queue_metrics.hpp"
#include "turn_executor.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;

Task<void> take(WorkQueue& queue, std::vector<std::string>& taken) {
  std::optional<std::string> key = co_await queue.get();
  taken.push_back(key.value_or("(shut down)"));
}

class WorkQueueTest : public ::testing::Test {
 protected:
  std::vector<std::string> take_some(int count) {
    std::vector<std::string> taken;
    for (int i = 0; i < count; ++i) turns.start(take(*queue, taken));
    return taken;
  }
  test::TurnExecutor turns;
  std::shared_ptr<WorkQueue> queue = std::make_shared<WorkQueue>(turns, item_exponential_failure_rate_limiter(5ms, 1s));
};

TEST_F(WorkQueueTest, AKeyIsQueuedOnce) {
  for (const char* key : {"a", "b", "a", "a"}) queue->add(key);
  EXPECT_EQ(queue->length(), 2u);
  EXPECT_EQ(take_some(2), (std::vector<std::string>{"a", "b"}));
}

TEST_F(WorkQueueTest, AKeyAddedDuringItsWorkIsQueuedAgain) {
  queue->add("a");
  EXPECT_EQ(take_some(1), std::vector<std::string>{"a"});
  queue->add("a");
  queue->add("a");
  EXPECT_EQ(queue->length(), 0u) << "no other worker may get it meanwhile";
  queue->done("a");
  EXPECT_EQ(queue->length(), 1u);
  EXPECT_EQ(take_some(1), std::vector<std::string>{"a"});
  queue->done("a");
  EXPECT_EQ(queue->length(), 0u);
}

TEST_F(WorkQueueTest, AWaitingWorkerIsWoken) {
  std::vector<std::string> taken;
  turns.start(take(*queue, taken));
  turns.start(take(*queue, taken));
  EXPECT_TRUE(taken.empty());
  queue->add("a");
  turns.run_until_idle();
  EXPECT_EQ(taken, std::vector<std::string>{"a"});
  queue->shut_down();
  turns.run_until_idle();
  EXPECT_EQ(taken, (std::vector<std::string>{"a", "(shut down)"}));
}

TEST_F(WorkQueueTest, FailuresComeBackLaterAndLaterUntilForgotten) {
  for (int i = 0; i < 10; ++i) {
    queue->add_rate_limited("a");
    turns.fire_timers();
    EXPECT_EQ(take_some(1), std::vector<std::string>{"a"});
    queue->done("a");
  }
  const std::vector<std::chrono::nanoseconds> expected{5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1s, 1s};
  EXPECT_EQ(turns.delays, expected);
  EXPECT_EQ(queue->num_requeues("a"), 10);
  queue->forget("a");
  EXPECT_EQ(queue->num_requeues("a"), 0);
  queue->add_rate_limited("a");
  EXPECT_EQ(turns.delays.back(), 5ms);
}

TEST_F(WorkQueueTest, OfSeveralDelaysTheShortestCounts) {
  queue->add_after("a", 1h);
  queue->add_after("a", 2h);
  EXPECT_EQ(turns.delays.size(), 1u);
  queue->add_after("a", 1s);
  EXPECT_EQ(turns.delays.size(), 2u);
  turns.fire_timers();
  EXPECT_EQ(queue->length(), 1u);
}

TEST_F(WorkQueueTest, ShutDownForgetsWhatWaits) {
  queue->add("a");
  queue->add_after("b", 1s);
  queue->shut_down();
  turns.fire_timers();
  queue->add("c");
  EXPECT_EQ(queue->length(), 0u);
  EXPECT_EQ(take_some(1), std::vector<std::string>{"(shut down)"});
}

TEST(RateLimiters, ABucketGivesItsBurstAndThenSpreads) {
  const auto limiter = bucket_rate_limiter(10, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter->when("k").count(), 0);
  const auto first = limiter->when("k"), second = limiter->when("k");
  EXPECT_GT(first, 0ms);
  EXPECT_LE(first, 100ms);
  EXPECT_GT(second, first);
  EXPECT_LE(second, 200ms);
}

struct Job {
  int calls = 0;
  Task<Status> work(std::string key) {
    ++calls;
    if (key == "throws") throw std::runtime_error("no");
    if (key == "throws an int") throw 5;
    if (calls < 3) co_return internal_error("not yet");
    co_return Status();
  }
};

TEST_F(WorkQueueTest, AWorkerTriesAgainUntilItSucceeds) {
  test::QuietLogger logger;
  auto job = std::make_shared<Job>();
  turns.start(run_worker(
      queue, [job](std::string key) { return job->work(std::move(key)); }, logger, "jobs"));
  queue->add("a");
  turns.run_until_idle();
  EXPECT_EQ(job->calls, 1);
  turns.fire_timers();
  turns.fire_timers();
  EXPECT_EQ(job->calls, 3);
  EXPECT_EQ(queue->num_requeues("a"), 0) << "success forgets";
  turns.fire_timers();
  EXPECT_EQ(job->calls, 3);
  queue->shut_down();
  turns.run_until_idle();
}

Metric::Series series_of(std::string_view metric, const std::string& name) {
  for (const Metric::Snapshot& each : Metric::all()) {
    if (each.name != metric) continue;
    if (const auto found = each.series.find({name}); found != each.series.end()) return found->second;
  }
  return {};
}

TEST_F(WorkQueueTest, AWorkerNamesItsQueueInTheMetrics) {
  test::QuietLogger logger;
  auto job = std::make_shared<Job>();
  queue->add("a");
  work_queues::name_work_queue(*queue, "measured");
  queue->add("a");
  EXPECT_EQ(series_of("workqueue_adds_total", "measured").value, 1) << "a key that waits already is not added";
  EXPECT_EQ(series_of("workqueue_depth", "measured").value, 1);
  turns.start(run_worker(
      queue, [job](std::string key) { return job->work(std::move(key)); }, logger, "the first name stays"));
  turns.run_until_idle();
  EXPECT_EQ(series_of("workqueue_depth", "measured").value, 0);
  EXPECT_EQ(series_of("workqueue_queue_duration_seconds", "measured").count, 1U);
  EXPECT_EQ(series_of("workqueue_work_duration_seconds", "measured").count, 1U);
  EXPECT_EQ(series_of("workqueue_retries_total", "measured").value, 1);
  EXPECT_EQ(series_of("workqueue_unfinished_work_seconds", "measured").value, 0);
  queue->add("b");
  queue->add("c");
  queue->shut_down();
  EXPECT_EQ(series_of("workqueue_depth", "measured").value, 0);
  turns.run_until_idle();
}

TEST_F(WorkQueueTest, AWorkerOutlivesExceptionsOfAnyType) {
  test::QuietLogger logger;
  auto job = std::make_shared<Job>();
  turns.start(run_worker(
      queue, [job](std::string key) { return job->work(std::move(key)); }, logger, "jobs"));
  queue->add("throws");
  queue->add("throws an int");
  turns.run_until_idle();
  EXPECT_EQ(job->calls, 2);
  EXPECT_EQ(queue->num_requeues("throws"), 1);
  EXPECT_EQ(queue->num_requeues("throws an int"), 1);
  ASSERT_EQ(logger.lines.size(), 2u);
  EXPECT_EQ(logger.lines[0], R"(reconcile failed, it is tried again controller=jobs key="throws" error="Internal error occurred: no")");
  EXPECT_EQ(logger.warnings, 1) << "one line for a controller that fails at every key";
  queue->shut_down();
  turns.run_until_idle();
}

TEST_F(WorkQueueTest, AConflictIsNoErrorUntilItIsRepeatedOften) {
  test::QuietLogger logger;
  turns.start(run_worker(
      queue, [](std::string) -> Task<Status> { co_return Status(Reason::kConflict, "the object has been modified"); }, logger, "jobs"));
  queue->add("a");
  turns.run_until_idle();
  for (int i = 0; i < 3; ++i) turns.fire_timers();
  EXPECT_EQ(logger.warnings, 0);
  turns.fire_timers();
  EXPECT_EQ(logger.warnings, 1);
  queue->shut_down();
  turns.run_until_idle();
}

TEST(LogLimit, WritesOneLinePerIntervalAndCountsTheOthers) {
  LogLimit limit(10s);
  const LogLimit::Clock::time_point start{};
  EXPECT_EQ(limit.admit(start), 0u);
  EXPECT_EQ(limit.admit(start + 1s), std::nullopt);
  EXPECT_EQ(limit.admit(start + 9s), std::nullopt);
  EXPECT_EQ(limit.admit(start + 10s), 2u);
  EXPECT_EQ(limit.admit(start + 11s), std::nullopt);
}

}  // namespace
}  // namespace backplane
