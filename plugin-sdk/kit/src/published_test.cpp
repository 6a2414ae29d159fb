#include "backplane/kit/published.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace backplane::kit {
namespace {

// Counts its living objects, and recognizes that it is destroyed.
struct Counted {
  static std::atomic<int>& alive() {
    static std::atomic<int> count{0};
    return count;
  }
  explicit Counted(std::uint64_t of) : number(of) { ++alive(); }
  ~Counted() {
    number = ~std::uint64_t{0};
    --alive();
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  std::uint64_t number;
};

TEST(Published, AReaderKeepsItsVersionAlive) {
  Published<Counted> value;
  EXPECT_EQ(value.get(), nullptr);
  value.set(std::make_shared<const Counted>(1));
  auto first = value.get();
  value.set(std::make_shared<const Counted>(2));
  EXPECT_EQ(first->number, 1U);
  EXPECT_EQ(value.get()->number, 2U);
  EXPECT_EQ(Counted::alive(), 2);
  first.reset();
  EXPECT_EQ(Counted::alive(), 1);
  value.set(nullptr);
  EXPECT_EQ(value.get(), nullptr);
  EXPECT_EQ(Counted::alive(), 0);
}

TEST(Published, AVersionEndsWithItsObject) {
  {
    const Published<Counted> value(std::make_shared<const Counted>(1));
    EXPECT_EQ(Counted::alive(), 1);
  }
  EXPECT_EQ(Counted::alive(), 0);
}

TEST(Published, ReadersAndWritersOfManyThreads) {
  constexpr int kReaders = 4, kWriters = 2;
  constexpr std::uint64_t kVersions = 20'000;
  Published<Counted> value(std::make_shared<const Counted>(0));
  std::atomic<int> writing{kWriters};
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(kReaders + kWriters);
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t n = 1; n <= kVersions; ++n) value.set(std::make_shared<const Counted>(n));
      --writing;
    });
  }
  for (int i = 0; i < kReaders; ++i) {
    threads.emplace_back([&] {
      while (writing > 0) {
        const auto now = value.get();
        if (now->number > kVersions) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(value.get()->number, kVersions);
  EXPECT_EQ(Counted::alive(), 1);
}

}  // namespace
}  // namespace backplane::kit
