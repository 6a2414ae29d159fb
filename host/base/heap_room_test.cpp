#include "base/heap_room.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "base/free_memory.hpp"

namespace backplane {
namespace {

long faults() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_minflt;
}

// The number of page faults that allocations on a new thread cause after make_heap_room(room).
long faults_of(std::size_t room) {
  long count = 0;
  std::thread([&] {
    constexpr std::size_t kPiece = 3000, kPieces = 700;
    std::vector<std::unique_ptr<std::array<char, kPiece>>> kept;
    kept.reserve(kPieces);
    make_heap_room(room);
    const long before = faults();
    while (kept.size() < kPieces) kept.push_back(std::make_unique<std::array<char, kPiece>>());
    count = faults() - before;
  }).join();
  return count;
}

TEST(HeapRoom, LaterAllocationsFindTheirPagesPresent) {
  if (mallinfo2().arena == 0) GTEST_SKIP() << "mallinfo2() reports nothing for this allocator";
  // The values that the host sets.
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const long without = faults_of(0), with = faults_of(std::size_t{3} << 20);
  EXPECT_GT(without, 400);
  EXPECT_LT(with, 100);
}

TEST(HeapRoom, MemoryFreedBetweenLiveBlocksIsReturned) {
  if (mallinfo2().arena == 0) GTEST_SKIP() << "mallinfo2() reports nothing for this allocator";
  constexpr std::size_t kPiece = 64 * 1024, kPieces = 400;
  std::vector<std::unique_ptr<std::array<char, kPiece>>> pieces(kPieces);
  for (auto& piece : pieces) {
    piece = std::make_unique<std::array<char, kPiece>>();
    piece->fill('x');
  }
  // Every other block stays, so that the heap cannot shrink.
  for (std::size_t i = 0; i < kPieces; i += 2) pieces[i].reset();
  const std::size_t before = memory_use().resident_bytes;
  return_heap_room();
  EXPECT_LT(memory_use().resident_bytes + kPiece * kPieces / 4, before);
}

TEST(HeapRoom, TextsThatAreFreedWithTheirPagesTakeNoMemory) {
  std::vector<std::string> texts;
  for (int i = 0; i < 400; ++i) texts.emplace_back(64 * 1024, 'x');
  const std::size_t before = memory_use().resident_bytes;
  // Every other block stays, so that the heap cannot shrink.
  for (std::size_t i = 0; i < texts.size(); i += 2) free_with_pages(texts[i]);
  EXPECT_LT(memory_use().resident_bytes + std::size_t{400} * 64 * 1024 / 4, before);
  for (std::size_t i = 1; i < texts.size(); i += 2) EXPECT_EQ(texts[i], std::string(64 * 1024, 'x'));
  std::string small = "abc";
  free_with_pages(small);
  EXPECT_TRUE(small.empty());
}

TEST(HeapRoom, MoreThanItMakesIsNoError) {
  const std::size_t before = memory_use().resident_bytes;
  make_heap_room(std::size_t{1} << 40);
  EXPECT_LT(memory_use().resident_bytes, before + (std::size_t{16} << 20));
}

}  // namespace
}  // namespace backplane
