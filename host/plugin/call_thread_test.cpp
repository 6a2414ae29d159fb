#include "plugin/call_thread.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace backplane {
namespace {

TEST(CallThread, RunsCallsOnOneOtherThread) {
  CallThread calls;
  std::thread::id first, second;
  EXPECT_TRUE(calls.run([&] { first = std::this_thread::get_id(); }, std::chrono::seconds(60)));
  EXPECT_TRUE(calls.run([&] { second = std::this_thread::get_id(); }, std::chrono::nanoseconds(0)));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, std::this_thread::get_id());
}

TEST(CallThread, ACallThatDoesNotReturnIsGivenUpAndAnotherThreadTakesTheNextOne) {
  CallThread calls;
  std::promise<void> release;
  std::function<void()> call = [held = std::make_shared<int>(2), wait = release.get_future().share()] { wait.wait(); };
  EXPECT_FALSE(calls.run(std::move(call), std::chrono::milliseconds(20)));
  EXPECT_EQ(timed_out_calls(), 1u);
  bool ran = false;
  EXPECT_TRUE(calls.run([&] { ran = true; }, std::chrono::seconds(60)));
  EXPECT_TRUE(ran);
  release.set_value();
  while (timed_out_calls() != 0) std::this_thread::yield();
}

}  // namespace
}  // namespace backplane
