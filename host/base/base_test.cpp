#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/system/system_error.hpp>
#include <future>

#include "base/caught.hpp"
#include "base/io_loop.hpp"
#include "base/log_fields.hpp"
#include "base/loop_set.hpp"
#include "base/signal.hpp"
#include "base/task_group.hpp"

namespace backplane {
namespace {

Task<int> deep(int n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await deep(n - 1);
}

Task<Executor*> executor_after_sleep() {
  co_await sleep_for(std::chrono::milliseconds(1));
  co_return current_executor();
}

[[gnu::noinline]] void throws_text(const char* text) { throw std::runtime_error(text); }

TEST(Caught, AnExceptionHasItsTextAndTheStackOfItsThrow) {
  try {
    throws_text("one");
  } catch (...) {
    const Caught first = caught();
    EXPECT_EQ(first.what, "one");
    try {
      throw 7;
    } catch (...) {
      EXPECT_EQ(caught().what, "an exception of type int");
    }
    // The outer exception is the current one again.
    EXPECT_EQ(caught().stack, first.stack);
    EXPECT_EQ(first.stack.find("\n  #0 +0x") == 0, kRecordsThrowStacks);
  }
}

TEST(IoLoop, ATaskResumesOnTheLoopItSleptOn) {
  IoLoop loop("t");
  loop.start();
  EXPECT_EQ(run_on(loop, executor_after_sleep()), &loop);
}

TEST(IoLoop, ADescriptorIsWaitedForOnce) {
  IoLoop loop("t");
  loop.start();
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  std::unique_ptr<DescriptorWatch> watch;
  std::promise<char> first, second;
  const auto read_one = [&pipe_ends](std::promise<char>& into) {
    char byte = 0;
    into.set_value(read(pipe_ends[0], &byte, 1) == 1 ? byte : '?');
  };
  loop.post([&] {
    watch = loop.watch(pipe_ends[0]);
    watch->when_readable([&] {
      EXPECT_EQ(current_executor(), &loop);
      read_one(first);
    });
  });
  ASSERT_EQ(write(pipe_ends[1], "ab", 2), 2);
  EXPECT_EQ(first.get_future().get(), 'a');
  // Data that arrived before the wait is reported too.
  loop.post([&] { watch->when_readable([&] { read_one(second); }); });
  EXPECT_EQ(second.get_future().get(), 'b');
  // A destroyed watch reports nothing, although its descriptor still exists.
  std::atomic<bool> readable{false};
  std::promise<void> gone;
  loop.post([&] {
    watch->when_readable([&] { readable = true; });
    EXPECT_EQ(write(pipe_ends[1], "c", 1), 1);
    watch.reset();
    gone.set_value();
  });
  gone.get_future().wait();
  std::promise<void> writable;
  loop.post([&] {
    watch = loop.watch(pipe_ends[1]);
    watch->when_writable([&] { writable.set_value(); });
  });
  writable.get_future().wait();
  EXPECT_FALSE(readable);
  loop.post([&] {
    watch.reset();
    EXPECT_THROW((void)loop.watch(-1), boost::system::system_error);
  });
  EXPECT_EQ(run_on(loop, deep(1)), 1);
  loop.stop();
  for (const int end : pipe_ends) close(end);
}

TEST(IoLoop, WorkOfOneThreadRunsInOrderWhereverItIsPosted) {
  IoLoop loop("t");
  std::vector<int> order;
  std::promise<void> done;
  for (int i = 0; i < 3; ++i) loop.post([&order, i] { order.push_back(i); });  // before the start
  loop.start();
  for (int i = 3; i < 1000; ++i) loop.post([&order, i] { order.push_back(i); });
  loop.post([&] {
    loop.post([&] {
      order.push_back(1001);
      done.set_value();
    });
    order.push_back(1000);
  });
  done.get_future().wait();
  ASSERT_EQ(order.size(), 1002u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// A plugin can post functions to the executor of a connection: one that throws must not end the process.
TEST(IoLoop, WorkAfterAnExceptionRuns) {
  for (const bool may_block : {false, true}) {
    IoLoop loop("t", may_block);
    std::promise<void> done;
    loop.post([] { throw std::runtime_error("boom"); });
    loop.post([&] { loop.after(std::chrono::nanoseconds(1), [] { throw 7; }); });
    loop.post([&] { loop.after(std::chrono::milliseconds(1), [&] { done.set_value(); }); });  // all in one batch: the loop has not started
    loop.start();
    EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  }
}

TEST(BlockingPool, WorkAfterAnExceptionRuns) {
  BlockingPool pool(1);
  std::promise<void> done;
  pool.post([] { throw std::runtime_error("boom"); });
  pool.post([&] { done.set_value(); });
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(IoLoop, NestedTasksReturnTheirValues) {
  IoLoop loop("t");
  loop.start();
  EXPECT_EQ(run_on(loop, deep(100)), 100);
}

Task<void> throws() {
  throw std::runtime_error("boom");
  co_return;
}

Task<ServerSlot> slot_after(Executor& other) {
  co_await resume_on(other);
  co_return current_server_slot();
}

TEST(IoLoop, WorkCountsForTheServerOfItsLoopOrForTheOneThatPostsIt) {
  const ServerIdentity one, two;
  IoLoop shared("shared");  // made on a thread that belongs to no server
  BlockingPool pool(1);
  std::unique_ptr<IoLoop> of_one, of_two;
  {
    const ServerScope counting(one.slot());
    of_one = std::make_unique<IoLoop>("one");
  }
  {
    const ServerScope counting(two.slot());
    of_two = std::make_unique<IoLoop>("two");
  }
  for (IoLoop* loop : {&shared, of_one.get(), of_two.get()}) loop->start();
  EXPECT_EQ(run_on(*of_one, slot_after(*of_one)), one.slot());
  EXPECT_EQ(run_on(*of_one, slot_after(*of_two)), two.slot());
  EXPECT_EQ(run_on(*of_one, slot_after(shared)), one.slot());
  EXPECT_EQ(run_on(*of_two, slot_after(shared)), two.slot());
  EXPECT_EQ(run_on(*of_two, slot_after(pool)), two.slot());
  EXPECT_EQ(run_on(shared, slot_after(shared)), 0U);
  pool.stop();
  for (IoLoop* loop : {&shared, of_one.get(), of_two.get()}) loop->stop();
}

TEST(Task, AnExceptionReachesTheAwaitingTask) {
  IoLoop loop("t");
  loop.start();
  EXPECT_THROW(run_on(loop, throws()), std::runtime_error);
}

TEST(NamedSignal, ASecondFireIsANoOpAndLateWaitersAreNotified) {
  int fired = 0;
  NamedSignal signal("ShutdownInitiated", [&](std::string_view) { ++fired; });
  int calls = 0;
  signal.on_fire([&] { ++calls; });
  signal.fire();
  signal.fire();
  signal.on_fire([&] { ++calls; });
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(calls, 2);
}

TEST(NamedSignal, ACallbackWithAnOwnerRunsOnlyWhileTheOwnerLives) {
  NamedSignal signal("hurry");
  int calls = 0;
  const auto owner = std::make_shared<int>();
  {
    const auto former = std::make_shared<int>();
    signal.on_fire_while(former, [&] { calls += 100; });
  }
  signal.on_fire_while(owner, [&] { ++calls; });
  signal.fire();
  EXPECT_EQ(calls, 1);
  signal.on_fire_while(owner, [&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

// Regression: each reload of a plugin added callbacks to the server's signals, and the signals retained them.
TEST(NamedSignal, CallbacksWhoseOwnersAreGoneAreDropped) {
  NamedSignal signal("hurry");
  int calls = 0;
  signal.on_fire([&] { ++calls; });
  std::vector<std::shared_ptr<int>> owners;
  for (int i = 0; i < 20; ++i) signal.on_fire_while(owners.emplace_back(std::make_shared<int>()), [&] { ++calls; });
  for (int i = 0; i < 1000; ++i) signal.on_fire_while(std::make_shared<int>(), [&] { calls += 1000; });
  EXPECT_LE(signal.callbacks(), 64u);
  signal.fire();
  EXPECT_EQ(calls, 21);
}

Task<void> wait_for(Signal& signal, std::atomic<int>& done) {
  co_await signal.wait();
  ++done;
}

Task<void> throws_a_number() {
  throw 7;
  co_return;
}

TEST(TaskGroup, WhateverATaskThrowsEndsThatTaskOnly) {
  IoLoop loop("t");
  loop.start();
  LoggedTaskGroup group;
  ASSERT_TRUE(group.spawn(loop, "wrong", throws_a_number()));
  ASSERT_TRUE(group.spawn(loop, "wrong", throws()));
  group.close();
  run_on(loop, group.wait_all());
  EXPECT_EQ(group.running(), 0u);
}

TEST(TaskGroup, WaitAllReturnsWhenTheLastTaskHasEndedAndClosedGroupsRefuse) {
  IoLoop loop("t");
  loop.start();
  LoggedTaskGroup group;
  NamedSignal go("go");
  std::atomic<int> done{0};
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(group.spawn(loop, "waiter", wait_for(go, done)));
  group.close();
  EXPECT_FALSE(group.spawn(loop, "late", wait_for(go, done)));
  EXPECT_EQ(group.running(), 10u);
  go.fire();
  run_on(loop, group.wait_all());
  EXPECT_EQ(done.load(), 10);
}

// The message in the JSON format of log lines.
std::string as_json(std::string_view line) {
  const LogFields fields = split_log_message(line);
  std::string out(fields.words);
  for (const auto& [key, value] : fields.values) {
    out.append("|").append(key).append("=");
    append_log_value(out, value);
  }
  return out;
}

TEST(LogFields, AttributesOfALineAreMembersOfItsJson) {
  EXPECT_EQ(as_json("shutdown event name=ShutdownInitiated"), R"(shutdown event|name="ShutdownInitiated")");
  EXPECT_EQ(as_json("drained activeWatchesBefore=12 complete=true data-dir=/a b/c x=1"),
            R"(drained|activeWatchesBefore=12|complete=true|data-dir="/a b/c"|x=1)");
  EXPECT_EQ(as_json("a task failed task=x error=no such file: a=b c"), R"(a task failed|task="x"|error="no such file: a=b c")");
  EXPECT_EQ(as_json(R"(HTTP verb="GET" URI="/a?b=\"c d\" e=f" code=007)"), R"(HTTP|verb="GET"|URI="/a?b=\"c d\" e=f"|code="007")");
  EXPECT_EQ(as_json(R"(FLAG: --secure-port="6443")"), R"(FLAG: --secure-port="6443")");
  EXPECT_EQ(as_json("nothing to tell"), "nothing to tell");
  EXPECT_EQ(as_json("x=1"), "|x=1");
  EXPECT_EQ(as_json(""), "");
  EXPECT_EQ(as_json("open \"x=\" y=\"1\"2"), "open \"x=\"|y=\"\\\"1\\\"2\"");
}

TEST(TaskGroup, AnExceptionOfAnyKindEndsItsTaskAlone) {
  IoLoop loop{"test"};
  loop.start();
  LoggedTaskGroup tasks;
  struct Throw {
    static Task<void> seven() {
      throw 7;
      co_return;
    }
  };
  EXPECT_TRUE(tasks.spawn(loop, "seven", Throw::seven()));
  tasks.close();
  run_on(loop, tasks.wait_all());
  EXPECT_EQ(tasks.running(), 0u);
}

TEST(LoopSet, ABlockedLoopStallsNoOtherAndIsNamedAtTheStop) {
  LoopSet loops;
  std::atomic<bool> release{false};
  std::atomic<bool> blocked{false};
  loops.of("blocker").post([&] {
    blocked = true;
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  EXPECT_FALSE(blocked) << "nothing runs before the start";
  loops.start();
  while (!blocked) std::this_thread::yield();
  run_on(loops.of("other"), deep(3));
  std::atomic<bool> asking{false};
  std::atomic<bool> asked{false};
  loops.of("asker").post([&] {
    asking = true;
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    loops.of("asker");  // must not block while stop() waits for this loop
    asked = true;
  });
  while (!asking) std::this_thread::yield();  // stop() prevents work that has not begun from running
  std::vector<std::string> stuck = loops.stop(std::chrono::milliseconds(500));
  // A loop that is not blocked ends, although possibly late on a busy machine.
  for (int i = 0; i < 100 && stuck.size() > 2; ++i) stuck = loops.stop(std::chrono::milliseconds(100));
  EXPECT_EQ(stuck, (std::vector<std::string>{"asker", "blocker"}));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    release = true;
  });
  EXPECT_EQ(loops.stop(std::chrono::seconds(60)), std::vector<std::string>{});
  EXPECT_TRUE(asked);
  later.join();
}

}  // namespace
}  // namespace backplane
