#include "gc/name_pool.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace backplane::controllers::gc {
namespace {

TEST(NamePool, HoldsTheNamesAfterAnyChanges) {
  std::mt19937 random(3);  // NOLINT: the same changes in every run
  NamePool pool;
  std::map<std::uint32_t, std::string> model;
  for (int step = 0; step < 20'000; ++step) {
    if (!model.empty() && random() % 2 == 0) {
      const auto any = std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
      pool.release(any->first);
      model.erase(any);
      continue;
    }
    const std::size_t length = random() % 50 == 0 ? 250 + random() % 100'000 : 1 + random() % 70;
    const std::string name(length, static_cast<char>('a' + random() % 26));
    const std::uint32_t handle = pool.take(name);
    ASSERT_TRUE(model.emplace(handle, name).second);
  }
  for (const auto& [handle, name] : model) ASSERT_EQ(pool.text(handle), name);
}

TEST(NamePool, TheRoomOfReleasedNamesIsUsedAgain) {
  NamePool pool;
  std::vector<std::uint32_t> handles;
  for (int i = 0; i < 10'000; ++i) handles.push_back(pool.take("web-5d4f8c7b9d-" + std::to_string(i)));
  const std::size_t bytes = pool.bytes();
  EXPECT_LE(bytes, 10'000u * 24 + (64u << 10));
  for (const std::uint32_t handle : handles) pool.release(handle);
  for (int i = 0; i < 10'000; ++i) pool.take("api-5d4f8c7b9d-" + std::to_string(i));
  EXPECT_EQ(pool.bytes(), bytes);
}

TEST(NamePool, ALongNameIsFreed) {
  NamePool pool;
  const std::size_t before = pool.bytes();
  const std::uint32_t handle = pool.take(std::string(1000, 'x'));
  EXPECT_EQ(pool.text(handle).size(), 1000u);
  pool.release(handle);
  EXPECT_EQ(pool.bytes(), before);
}

TEST(NamePool, ANameEndsAtItsFirstNul) {
  NamePool pool;
  EXPECT_EQ(pool.text(pool.take({"ab\0cd", 5})), "ab");
  EXPECT_EQ(pool.take({"\0cd", 3}), NamePool::kEmpty);
  EXPECT_EQ(pool.text(NamePool::kEmpty), "");
}

}  // namespace
}  // namespace backplane::controllers::gc
