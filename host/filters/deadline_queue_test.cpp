#include "filters/deadline_queue.hpp"

#include <gtest/gtest.h>

#include "base/io_loop.hpp"
#include "filters/wait_group.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;

TEST(WaitGroup, DrainedFiresWhenTheLastCountedRequestEnds) {
  WaitGroup group;
  ASSERT_TRUE(group.try_add());
  ASSERT_TRUE(group.try_add());
  group.start_waiting();
  EXPECT_FALSE(group.try_add());
  group.done();
  EXPECT_FALSE(group.drained().fired());
  group.done();
  EXPECT_TRUE(group.drained().fired());
}

class CountingEntry final : public DeadlineQueue::Entry {
 public:
  CountingEntry(int& count, Promise<bool>* last) : count_(count), last_(last) {}

 private:
  void on_deadline() override {
    ++count_;
    if (last_ != nullptr) last_->set(true);
  }
  int& count_;
  Promise<bool>* last_;
};

Task<int> run_deadlines() {
  int count = 0;
  Promise<bool> last;
  const auto now = std::chrono::steady_clock::now();
  CountingEntry far(count, nullptr);
  CountingEntry third(count, &last);
  CountingEntry first(count, nullptr);
  DeadlineQueue::current().add(far, now + 1h);
  DeadlineQueue::current().add(third, now + 10ms);
  DeadlineQueue::current().add(first, now + 1ms);
  {
    CountingEntry gone(count, nullptr);
    DeadlineQueue::current().add(gone, now + 1ms);
  }
  bool rang = co_await last.future();
  co_return rang ? count : -1;
}

TEST(DeadlineQueue, FiresEachDeadlineOnceAndForgetsEndedRequests) {
  IoLoop loop("t");
  loop.start();
  EXPECT_EQ(run_on(loop, run_deadlines()), 2);
}
}  // namespace
}  // namespace backplane
