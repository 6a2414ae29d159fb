#include "base/free_memory.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/io_loop.hpp"

namespace backplane {
namespace {

std::size_t resident_bytes() { return memory_use().resident_bytes; }

// Frees 64 MB of blocks that are between blocks in use; returns the blocks in use.
std::vector<std::string> fragment_heap() {
  std::vector<std::string> kept, gone;
  for (int i = 0; i < 4096; ++i) {
    gone.emplace_back(16 * 1024, 'x');
    kept.emplace_back(100, 'y');
  }
  return kept;
}

TEST(FreeMemory, MemoryFreedInTheMiddleOfTheHeapIsReturned) {
  if (mallinfo2().arena == 0) GTEST_SKIP() << "mallinfo2() reports nothing for this allocator";
  IoLoop loop("timer");
  FreeMemory memory(loop, loop);
  memory.look();
  const std::size_t before = resident_bytes();
  const auto kept = fragment_heap();
  const std::size_t full = resident_bytes();
  ASSERT_GT(full, before + (32u << 20));
  EXPECT_TRUE(memory.look());
  EXPECT_LT(resident_bytes(), before + (16u << 20));
  EXPECT_FALSE(memory.look());  // nothing was freed since
  EXPECT_EQ(kept.back(), std::string(100, 'y'));
}

// If look() runs at the peak of a burst, the memory never exceeds the measured size later.
TEST(FreeMemory, MemoryFreedAfterACheckAtThePeakIsReturned) {
  if (mallinfo2().arena == 0) GTEST_SKIP() << "mallinfo2() reports nothing for this allocator";
  IoLoop loop("timer");
  FreeMemory memory(loop, loop);
  memory.look();
  std::vector<std::string> kept, burst;
  for (int i = 0; i < 4096; ++i) {
    burst.emplace_back(16 * 1024, 'x');
    kept.emplace_back(100, 'y');
  }
  const auto more = fragment_heap();
  EXPECT_TRUE(memory.look());
  const std::size_t peak = resident_bytes();
  burst = {};
  EXPECT_TRUE(memory.look());
  EXPECT_LT(resident_bytes() + (32u << 20), peak);
  EXPECT_FALSE(memory.look());
  EXPECT_EQ(kept.back(), more.back());
}

TEST(FreeMemory, LooksNowAndThenUntilItIsStopped) {
  if (mallinfo2().arena == 0) GTEST_SKIP() << "mallinfo2() reports nothing for this allocator";
  IoLoop loop("timer");
  loop.start();
  FreeMemory memory(loop, loop, std::chrono::milliseconds(1));
  memory.look();
  const std::size_t before = resident_bytes();
  const auto kept = fragment_heap();
  memory.start();
  while (resident_bytes() > before + (16u << 20)) usleep(1000);
  memory.stop();
  loop.stop();
  EXPECT_EQ(kept.back(), std::string(100, 'y'));
  EXPECT_LE(resident_bytes(), before + (16u << 20));
}

}  // namespace
}  // namespace backplane
