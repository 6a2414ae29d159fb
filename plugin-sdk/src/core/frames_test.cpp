// The allocator of coroutine frames.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "backplane/core/task.hpp"

namespace backplane {
namespace {

struct Held {
  void* at;
  std::size_t size;
  unsigned char mark;
};

Held take(std::size_t size, unsigned char mark) {
  Held held{detail::take_frame(size), size, mark};
  std::memset(held.at, mark, size);
  return held;
}

// Releases a frame. Returns false if its memory has changed, which means that another frame shares it.
bool release(const Held& held) {
  const std::vector<unsigned char> expected(held.size, held.mark);
  const bool intact = std::memcmp(held.at, expected.data(), held.size) == 0;
  detail::give_frame_back(held.at, held.size);
  return intact;
}

TEST(Frames, NoTwoShareMemoryWhateverTheirSizes) {
  std::minstd_rand random(7);
  std::vector<Held> all;
  for (int i = 0; i < 20'000; ++i) {
    if (all.size() < 50 || (random() % 2 == 0 && all.size() < 3'000)) {
      all.push_back(take(1 + random() % 1'300, static_cast<unsigned char>(random())));
    } else {
      std::swap(all[random() % all.size()], all.back());
      EXPECT_TRUE(release(all.back())) << all.back().size;
      all.pop_back();
    }
  }
  for (const Held& held : all) EXPECT_TRUE(release(held)) << held.size;
}

TEST(Frames, OneThreadMayReuseWhatAnotherReleases) {
  std::vector<Held> all;
  for (std::size_t i = 0; i < 5'000; ++i) all.push_back(take(64 + i % 900, static_cast<unsigned char>(i)));
  std::thread other([&all] {
    for (const Held& held : all) EXPECT_TRUE(release(held)) << held.size;
    all.clear();
    for (std::size_t i = 0; i < 5'000; ++i) all.push_back(take(64 + i % 900, static_cast<unsigned char>(i * 3)));
  });
  other.join();
  for (const Held& held : all) EXPECT_TRUE(release(held)) << held.size;
}

}  // namespace
}  // namespace backplane
