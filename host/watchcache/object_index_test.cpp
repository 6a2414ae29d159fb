#include "watchcache/object_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace backplane {
namespace {

ObjectRef entry(std::string key, Revision revision = 1) {
  auto made = std::make_shared<ObjectEntry>();
  made->key = std::move(key);
  made->revision = revision;
  return made;
}

std::string key_of(int i) { return "/k/" + std::to_string(5'000'000 + i); }

std::string walk(ObjectIndex::Cursor cursor) {
  std::string text;
  while (const auto* each = cursor.next()) text += (*each)->key + " ";
  return text;
}

using Model = std::map<std::string, Revision>;

void expect_same(const ObjectIndex& index, const Model& model) {
  ASSERT_EQ(index.size(), model.size());
  auto cursor = index.cursor({});
  for (const auto& [key, revision] : model) {
    const auto* each = cursor.next();
    ASSERT_NE(each, nullptr);
    ASSERT_EQ((*each)->key, key);
    ASSERT_EQ((*each)->revision, revision);
  }
  EXPECT_EQ(cursor.next(), nullptr);
}

TEST(ObjectIndex, AnEmptyIndexHasNothing) {
  ObjectIndex index;
  EXPECT_TRUE(index.empty());
  EXPECT_EQ(index.find("/a"), nullptr);
  EXPECT_EQ(index.remove("/a"), nullptr);
  EXPECT_EQ(index.rank("/a"), 0u);
  EXPECT_EQ(walk(index.cursor({})), "");
  EXPECT_EQ(walk(index.cursor_at(3)), "");
}

TEST(ObjectIndex, PutAndRemoveGiveWhatStoodThere) {
  ObjectIndex index;
  EXPECT_EQ(index.put(entry("/a", 1)), nullptr);
  EXPECT_EQ(index.put(entry("/a", 2))->revision, 1);
  EXPECT_EQ(index.size(), 1u);
  EXPECT_EQ(index.remove("/a")->revision, 2);
  EXPECT_TRUE(index.empty());
}

TEST(ObjectIndex, BehavesAsAMapOverManyRandomChanges) {
  std::mt19937 random(7);
  ObjectIndex index;
  Model model;
  for (int i = 0; i < 30'000; ++i) {
    const std::string key = key_of(static_cast<int>(random() % 3000));
    // Grows at first, then shrinks.
    const bool remove = random() % 100 < (i < 15'000 ? 30u : 70u);
    if (remove) {
      EXPECT_EQ(index.remove(key) != nullptr, model.erase(key) == 1);
    } else {
      index.put(entry(key, i));
      model[key] = i;
    }
    if (i % 5000 == 0) expect_same(index, model);
  }
  expect_same(index, model);
  for (const auto& [key, revision] : model) ASSERT_EQ(index.find(key)->revision, revision);
}

TEST(ObjectIndex, OlderVersionsStayAsTheyWere) {
  std::mt19937 random(11);
  ObjectIndex index;
  Model model;
  std::vector<std::pair<ObjectIndex, Model>> versions;
  for (int i = 0; i < 4000; ++i) {
    const std::string key = key_of(static_cast<int>(random() % 700));
    if (random() % 3 == 0) {
      index.remove(key);
      model.erase(key);
    } else {
      index.put(entry(key, i));
      model[key] = i;
    }
    if (i % 97 == 0) versions.emplace_back(index.share(), model);
  }
  for (const auto& [version, then] : versions) expect_same(version, then);
  expect_same(index, model);
}

TEST(ObjectIndex, RankAndSelectAgreeWithTheOrder) {
  ObjectIndex index;
  for (int i = 0; i < 5000; ++i) index.append(entry(key_of(i * 2)));
  for (int i : {0, 1, 31, 32, 33, 1024, 4999}) {
    EXPECT_EQ(index.rank(key_of(i * 2)), static_cast<std::size_t>(i));
    EXPECT_EQ(index.rank(key_of(i * 2 + 1)), static_cast<std::size_t>(i + 1));
    auto cursor = index.cursor_at(static_cast<std::size_t>(i));
    EXPECT_EQ((*cursor.next())->key, key_of(i * 2));
    cursor = index.cursor(key_of(i * 2 - 1));
    EXPECT_EQ((*cursor.next())->key, key_of(i * 2));
  }
  EXPECT_EQ(index.rank("/z"), 5000u);
  EXPECT_EQ(walk(index.cursor("/z")), "");
  EXPECT_EQ(walk(index.cursor_at(5000)), "");
}

TEST(ObjectIndex, ACursorKeepsItsVersionAlive) {
  auto index = std::make_unique<ObjectIndex>();
  for (int i = 0; i < 100; ++i) index->put(entry(key_of(i)));
  auto cursor = index->cursor(key_of(98));
  index.reset();
  EXPECT_EQ(walk(std::move(cursor)), key_of(98) + " " + key_of(99) + " ");
}

}  // namespace
}  // namespace backplane
