#include "registry/key_turns.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "base/io_loop.hpp"
#include "base/task_group.hpp"

namespace backplane::registry {
namespace {

constexpr std::chrono::hours kLong{1};

Task<void> pass(KeyTurns& turns, std::string key, std::string& order, char mark) {
  KeyTurns::Turn turn = co_await turns.take(std::move(key), kLong);
  order += mark;
  auto pause = sleep_for(std::chrono::milliseconds(1));
  co_await std::move(pause);
  order += mark;
}

class KeyTurnsTest : public testing::Test {
 protected:
  KeyTurnsTest() { loop_.start(); }
  ~KeyTurnsTest() override { loop_.stop(); }

  IoLoop loop_{"test"};
  KeyTurns turns_;
};

TEST_F(KeyTurnsTest, AreInOrderAndIndependentForEachKey) {
  std::string order, other;
  LoggedTaskGroup group;
  for (const char mark : {'a', 'b', 'c'}) group.spawn(loop_, "pass", pass(turns_, "k", order, mark));
  group.spawn(loop_, "pass", pass(turns_, "other", other, 'x'));
  group.close();
  run_on(loop_, group.wait_all());
  EXPECT_EQ(order, "aabbcc");
  EXPECT_EQ(other, "xx");
  EXPECT_FALSE(turns_.busy("k"));
  EXPECT_FALSE(turns_.busy("other"));
}

Task<std::string> take_turn_with_timeout(KeyTurns& turns) {
  std::string seen;
  KeyTurns::Turn first = co_await turns.take("k", kLong);
  seen += first.had() ? "first " : "";
  // A coroutine that has the turn and waits for the same turn does not wait forever.
  KeyTurns::Turn second = co_await turns.take("k", std::chrono::milliseconds(1));
  seen += second.had() ? "second " : "none ";
  seen += turns.busy("k") ? "busy " : "";
  first = KeyTurns::Turn();
  KeyTurns::Turn third = co_await turns.take("k", kLong);
  seen += third.had() ? "third" : "";
  co_return seen;
}

TEST_F(KeyTurnsTest, AWaitThatTimesOutContinuesWithoutATurnAndBlocksNoOther) {
  EXPECT_EQ(run_on(loop_, take_turn_with_timeout(turns_)), "first none busy third");
  EXPECT_FALSE(turns_.busy("k"));
}

}  // namespace
}  // namespace backplane::registry
