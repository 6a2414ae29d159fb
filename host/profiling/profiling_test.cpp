#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <semaphore>
#include <thread>

#include "profiling/cpu_profiler.hpp"
#include "profiling/heap_profile.hpp"
#include "profiling/lock_waits.hpp"
#include "profiling/stack_walk.hpp"
#include "profiling/symbol_table.hpp"
#include "profiling/thread_stacks.hpp"

namespace backplane::profiling {

using testing::Contains;
using testing::HasSubstr;

// These functions have external linkage, so that they are not inlined into the tests.
__attribute__((noinline)) std::uint64_t burn_processor_time(std::uint64_t rounds) {
  volatile std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) sum = sum + i * i;
  return sum;
}
__attribute__((noinline)) void wait_for_release(std::binary_semaphore& ready, std::binary_semaphore& release) {
  ready.release();
  release.acquire();
  asm volatile("");  // not a tail call
}

namespace {

std::vector<std::string> names_of(Symbols& symbols, const Stack& stack) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < stack.size(); ++i) out.push_back(symbols.find(i == 0 ? stack[i] : stack[i] - 1).name);
  return out;
}

TEST(Symbols, NameAFunctionOfTheExecutable) {
  Symbols symbols;
  const Symbol found = symbols.find(reinterpret_cast<std::uintptr_t>(&burn_processor_time) + 1);
  EXPECT_THAT(found.name, HasSubstr("burn_processor_time"));
  EXPECT_EQ(found.start, reinterpret_cast<std::uintptr_t>(&burn_processor_time));
  ASSERT_NE(found.object, nullptr);
  EXPECT_EQ(found.object, symbols.executable());
  EXPECT_THAT(found.object->file, HasSubstr("profiling_test"));
}

TEST(Symbols, NameADynamicSymbolOfAStrippedLibrary) {
  Symbols symbols;
  const Symbol found = symbols.find(reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "qsort_r")));
  EXPECT_THAT(found.name, HasSubstr("qsort_r"));
  ASSERT_NE(found.object, nullptr);
  EXPECT_THAT(found.object->file, HasSubstr("libc"));
}

TEST(Symbols, DoNotNameAnAddressOutsideOfCode) {
  int local = 0;
  EXPECT_EQ(Symbols().find(reinterpret_cast<std::uintptr_t>(&local)).object, nullptr);
}

TEST(SymbolTable, OfAFileThatIsNoElfIsEmpty) {
  EXPECT_TRUE(read_function_symbols("/etc/passwd").empty());
  EXPECT_TRUE(read_function_symbols("/none").empty());
}

TEST(CpuProfiler, SamplesTheFunctionThatRuns) {
  CpuProfiler profiler;
  ASSERT_TRUE(profiler.start().ok());
  Profile profile({{"samples", "count"}, {"cpu", "nanoseconds"}});
  Symbols symbols;
  std::string encoded;
  // Samples are taken by CPU time of this process, so their number does not depend on the load of the machine.
  for (int i = 0; i < 1000 && encoded.find("burn_processor_time") == std::string::npos; ++i) {
    burn_processor_time(10'000'000);
    profiler.collect(profile);
    encoded = profile.encode(symbols);
  }
  EXPECT_NE(encoded.find("burn_processor_time"), std::string::npos);
  EXPECT_EQ(profiler.lost(), 0U);
}

TEST(CpuProfiler, RunsOnceAtATime) {
  CpuProfiler first, second;
  ASSERT_TRUE(first.start().ok());
  EXPECT_EQ(second.start().message(), "cpu profiling already in use");
  first.stop();
  EXPECT_TRUE(second.start().ok());
  second.stop();
  // A signal that arrives late does not end the process.
  ASSERT_EQ(raise(SIGPROF), 0);
}

TEST(ThreadStacks, ShowWhereEachThreadWaits) {
  std::binary_semaphore ready(0), release(0);
  std::atomic<pid_t> id{0};
  std::thread waiting([&] {
    id = static_cast<pid_t>(syscall(SYS_gettid));
    wait_for_release(ready, release);
  });
  ready.acquire();
  const auto threads = thread_stacks(std::chrono::seconds(10));
  release.release();
  waiting.join();
  Symbols symbols;
  ASSERT_GE(threads.size(), 2U);
  bool seen = false;
  for (const ThreadStack& thread : threads) {
    EXPECT_FALSE(thread.stack.empty()) << thread.name;
    if (thread.id != id) continue;
    seen = true;
    EXPECT_THAT(names_of(symbols, thread.stack), Contains(HasSubstr("wait_for_release")));
  }
  EXPECT_TRUE(seen);
}

TEST(ThreadStacks, AThreadThatBlocksTheSignalHasNoStack) {
  std::binary_semaphore ready(0), release(0);
  std::atomic<pid_t> id{0};
  std::thread deaf([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    id = static_cast<pid_t>(syscall(SYS_gettid));
    wait_for_release(ready, release);
  });
  ready.acquire();
  const auto threads = thread_stacks(std::chrono::milliseconds(50));
  release.release();
  deaf.join();
  for (const ThreadStack& thread : threads) {
    if (thread.id == id) {
      EXPECT_TRUE(thread.stack.empty());
    }
  }
}

void walk_from_here(int, siginfo_t*, void* context) {
  std::uintptr_t frames[kMostFrames];
  EXPECT_GT(walk_interrupted_stack(context, frames), 0U);
}

TEST(StackWalk, BeginsWithTheInterruptedInstruction) {
  const StackWalkGuard guard;
  struct sigaction action {
  }, former{};
  action.sa_sigaction = walk_from_here;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR2, &action, &former);
  ASSERT_EQ(raise(SIGUSR2), 0);
  sigaction(SIGUSR2, &former, nullptr);
}

using StackWalkDeathTest = testing::Test;
TEST(StackWalkDeathTest, OtherFaultsAreNotHidden) {
  EXPECT_EXIT(
      {
        const StackWalkGuard guard;
        volatile int* const nowhere = nullptr;
        *nowhere = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
}

__attribute__((noinline)) void wait_here(std::chrono::nanoseconds time) {
  note_lock_wait(time);
  asm volatile("");  // not a tail call
}

TEST(LockWaits, AddUpByStack) {
  wait_here(std::chrono::nanoseconds(5));
  EXPECT_TRUE(lock_waits().empty()) << "nothing is recorded yet";
  record_lock_waits();
  volatile int times = 3;  // one call, because the loop cannot be unrolled
  for (int i = 0; i < times; ++i) wait_here(std::chrono::nanoseconds(7));
  wait_here(std::chrono::nanoseconds(100));
  const auto waits = lock_waits();
  ASSERT_EQ(waits.size(), 2U) << "two calls of one function";
  LockWaits three = waits.begin()->second, one = std::next(waits.begin())->second;
  if (three.count < one.count) std::swap(three, one);
  EXPECT_EQ(three.count, 3);
  EXPECT_EQ(three.total, std::chrono::nanoseconds(21));
  EXPECT_EQ(one.count, 1);
  Symbols symbols;
  const auto names = names_of(symbols, waits.begin()->first);
  ASSERT_GE(names.size(), 2U);
  EXPECT_THAT(names[0], HasSubstr("wait_here"));
  EXPECT_THAT(names[1], HasSubstr("AddUpByStack"));
}

TEST(HeapProfile, HasTheArenasOfAReport) {
  const auto arenas = arenas_in(
      "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n<size from=\"33\" to=\"48\" total=\"96\" count=\"2\"/>\n</sizes>\n"
      "<total type=\"fast\" count=\"1\" size=\"32\"/>\n<total type=\"rest\" count=\"3\" size=\"1000\"/>\n"
      "<system type=\"current\" size=\"135168\"/>\n<system type=\"max\" size=\"200000\"/>\n</heap>\n<heap nr=\"1\">\n"
      "<total type=\"fast\" count=\"0\" size=\"0\"/>\n<total type=\"rest\" count=\"1\" size=\"500\"/>\n"
      "<system type=\"current\" size=\"1500\"/>\n</heap>\n<total type=\"fast\" count=\"1\" size=\"32\"/>\n"
      "<total type=\"rest\" count=\"4\" size=\"1500\"/>\n<total type=\"mmap\" count=\"2\" size=\"4096\"/>\n</malloc>\n");
  ASSERT_EQ(arenas.size(), 3U);
  EXPECT_EQ(arenas[0].name, "arena 0");
  EXPECT_EQ(arenas[0].used_bytes(), 135168 - 1032);
  EXPECT_EQ(arenas[1].used_bytes(), 1000);
  EXPECT_EQ(arenas[2].name, "mmap");
  EXPECT_EQ(arenas[2].used_bytes(), 4096);
}

TEST(HeapProfile, CountsWhatIsAllocated) {
  const auto used = [] {
    std::int64_t sum = 0;
    for (const ArenaUse& arena : arenas_in(malloc_report())) sum += arena.used_bytes();
    return sum;
  };
  const std::int64_t before = used();
  const std::string large(std::size_t{64} << 20, 'x');
  EXPECT_GE(used() - before, std::int64_t{64} << 20);
}

TEST(Profile, AddsTheValuesOfOneStack) {
  Profile profile(std::vector<SampleType>{{"samples", "count"}});
  profile.add_names({"inner", "outer"}, {1});
  profile.add_names({"inner", "outer"}, {2});
  Profile once(std::vector<SampleType>{{"samples", "count"}});
  once.add_names({"inner", "outer"}, {3});
  Symbols symbols;
  EXPECT_EQ(profile.encode(symbols), once.encode(symbols));
}

}  // namespace
}  // namespace backplane::profiling
