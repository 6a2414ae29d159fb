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

// Page faults of what is allocated on a thread that has a heap of its own.
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

TEST(HeapRoom, WhatIsAllocatedThenFindsItsPagesThere) {
  if (mallinfo2().arena == 0) GTEST_SKIP() << "this allocator says nothing of itself";
  // As the host has them.
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const long without = faults_of(0), with = faults_of(std::size_t{3} << 20);
  EXPECT_GT(without, 400);
  EXPECT_LT(with, 100);
}

TEST(HeapRoom, MoreThanItMakesIsNoError) {
  const std::size_t before = memory_use().resident_bytes;
  make_heap_room(std::size_t{1} << 40);
  EXPECT_LT(memory_use().resident_bytes, before + (std::size_t{16} << 20));
}

}  // namespace
}  // namespace backplane
