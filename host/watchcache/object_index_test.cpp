#include "watchcache/object_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <thread>

namespace backplane {
namespace {

ObjectRef entry(std::string key, Revision revision = 1) {
  auto made = std::make_shared<ObjectEntry>();
  made->set_identity(key, {}, {});
  made->revision = revision;
  return made;
}

std::string key_of(int i) { return "/k/" + std::to_string(5'000'000 + i); }

std::string walk(ObjectIndex::Cursor cursor) {
  std::string text;
  while (const auto* each = cursor.next()) text.append((*each)->key()).append(" ");
  return text;
}

using Model = std::map<std::string, Revision>;

void expect_same(const ObjectIndex& index, const Model& model) {
  ASSERT_EQ(index.size(), model.size());
  auto cursor = index.cursor({});
  for (const auto& [key, revision] : model) {
    const auto* each = cursor.next();
    ASSERT_NE(each, nullptr);
    ASSERT_EQ((*each)->key(), key);
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
    // The index grows at first, then shrinks.
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
  for (int i = 0; i < 5000; ++i) index.put(entry(key_of(i * 2)));
  for (int i : {0, 1, 31, 32, 33, 1024, 4999}) {
    EXPECT_EQ(index.rank(key_of(i * 2)), static_cast<std::size_t>(i));
    EXPECT_EQ(index.rank(key_of(i * 2 + 1)), static_cast<std::size_t>(i + 1));
    auto cursor = index.cursor_at(static_cast<std::size_t>(i));
    EXPECT_EQ((*cursor.next())->key(), key_of(i * 2));
    cursor = index.cursor(key_of(i * 2 - 1));
    EXPECT_EQ((*cursor.next())->key(), key_of(i * 2));
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

// ---- leaves that are loaded packed

KeyValue stored(int i, Revision revision) {
  KeyValue item;
  item.key = key_of(i);
  item.value =
      SharedBytes(R"({"kind":"Thing","apiVersion":"v1","metadata":{"name":"n)" + std::to_string(i) + R"(","labels":{"app":"a"}}})");
  item.create_revision = item.mod_revision = revision;
  return item;
}

std::shared_ptr<const EntryBuilder> builder() {
  CacheConfig config;
  config.prefix = "/k/";
  config.namespaced = false;
  config.kind = "Thing";
  config.api_version = "v1";
  return std::make_shared<const EntryBuilder>(config);
}

using Runs = std::vector<std::shared_ptr<const PackedEntries>>;

// Fills `index` with runs of different sizes, and `model` with the same entries.
Runs fill(ObjectIndex& index, Model& model, int count) {
  Runs runs;
  for (int i = 0; i < count;) {
    std::vector<KeyValue> items;
    const std::size_t size = 1 + static_cast<std::size_t>(i * 7) % PackedEntries::kMost;
    for (; items.size() < size && i < count; ++i) {
      items.push_back(stored(i, i + 1));
      model[items.back().key] = i + 1;
    }
    runs.push_back(std::make_shared<const PackedEntries>(builder(), items));
    index.append(runs.back());
  }
  return runs;
}

TEST(PackedIndex, HoldsWhatWasLoaded) {
  ObjectIndex index;
  Model model;
  fill(index, model, 3000);
  expect_same(index, model);
  for (int i = 0; i < 3000; i += 113) {
    const ObjectRef found = index.find(key_of(i));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->name(), std::to_string(5'000'000 + i));
    EXPECT_EQ(found->labels().copy(), (Labels{{"app", "a"}}));
    EXPECT_NE(found->json().view().find("\"resourceVersion\":\"" + std::to_string(i + 1) + "\""), std::string_view::npos);
    EXPECT_EQ(index.rank(key_of(i)), static_cast<std::size_t>(i));
    auto cursor = index.cursor_at(static_cast<std::size_t>(i));
    EXPECT_EQ((*cursor.next())->key(), key_of(i));
  }
  EXPECT_EQ(index.find(key_of(3000)), nullptr);
  EXPECT_EQ(index.rank("/z"), 3000u);
}

TEST(PackedIndex, ReadingOneObjectBuildsNoOtherRun) {
  ObjectIndex index;
  Model model;
  const Runs runs = fill(index, model, 500);
  ASSERT_NE(index.find(key_of(250)), nullptr);
  EXPECT_EQ(std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run->built(); }), 1);
}

TEST(PackedIndex, ARunReportsWhetherItWasBuilt) {
  ObjectIndex index;
  Model model;
  fill(index, model, 40);
  auto first = index.cursor({}), second = index.cursor({});
  const auto run = first.next_run();
  EXPECT_TRUE(run.built_now);
  EXPECT_TRUE(run.summary->may_hold({{label_term("app", "a")}}));
  EXPECT_FALSE(run.summary->may_hold({{label_term("app", "b")}}));
  EXPECT_FALSE(second.next_run().built_now);
}

TEST(PackedIndex, KeysAreReadWithoutBuildingEntries) {
  ObjectIndex index;
  Model model;
  const Runs runs = fill(index, model, 500);
  index.put(entry(key_of(499), 9000));  // builds the last run
  model[key_of(499)] = 9000;
  Model found;
  std::vector<KeyAt> keys;
  for (auto cursor = index.cursor({}); cursor.next_keys(keys); keys.clear()) {
    for (const KeyAt& each : keys) found[each.key] = each.revision;
  }
  EXPECT_EQ(found, model);
  EXPECT_EQ(std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run->built(); }), 1);
  // The cursor begins in the middle of a run: one that is packed, and one that is built.
  for (const int from : {100, 498}) {
    auto cursor = index.cursor(key_of(from));
    ASSERT_TRUE(cursor.next_keys(keys));
    EXPECT_EQ(keys.front().key, key_of(from));
    keys.clear();
  }
}

std::ptrdiff_t built(const Runs& runs) {
  return std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run->built(); });
}

TEST(PackedIndex, ATransientReadLeavesTheRunsPacked) {
  ObjectIndex index;
  Model model;
  const Runs runs = fill(index, model, 500);
  index.put(entry(key_of(499), 9000));  // builds the last run
  model[key_of(499)] = 9000;
  ASSERT_EQ(built(runs), 1);
  Model found;
  std::vector<std::weak_ptr<const ObjectEntry>> entries;
  std::shared_ptr<const std::vector<ObjectRef>> owner;
  auto cursor = index.cursor({});
  for (;;) {
    const auto run = cursor.next_run_transient(owner);
    if (run.entries.empty()) break;
    EXPECT_EQ(owner != nullptr, run.summary == nullptr);
    for (const ObjectRef& each : run.entries) found[std::string(each->key())] = each->revision;
    if (owner != nullptr && run.entries.size() > 1) entries.push_back(run.entries.back());
  }
  EXPECT_EQ(found, model);
  EXPECT_EQ(built(runs), 1);
  EXPECT_FALSE(entries.empty());
  for (const auto& each : entries) EXPECT_TRUE(each.expired());
  // The cursor begins in the middle of a run.
  auto middle = index.cursor(key_of(100));
  EXPECT_EQ(middle.next_run_transient(owner).entries.front()->key(), key_of(100));
}

TEST(PackedIndex, PositionsAreFoundWithoutBuildingEntries) {
  ObjectIndex index;
  Model model;
  const Runs runs = fill(index, model, 500);
  for (const int i : {0, 1, 7, 100, 250, 498, 499}) {
    EXPECT_EQ(index.rank(key_of(i)), static_cast<std::size_t>(i));
    EXPECT_EQ(index.rank(key_of(i) + "x"), static_cast<std::size_t>(i + 1));
  }
  EXPECT_EQ(index.rank("/z"), 500u);
  EXPECT_EQ(built(runs), 0);
}

TEST(PackedIndex, ChangesLeaveOlderVersionsAsTheyWere) {
  std::mt19937 random(5);
  ObjectIndex index;
  Model model;
  fill(index, model, 2000);
  std::vector<std::pair<ObjectIndex, Model>> versions;
  versions.emplace_back(index.share(), model);
  for (int i = 0; i < 4000; ++i) {
    const std::string key = key_of(static_cast<int>(random() % 2500));
    if (random() % 2 == 0) {
      EXPECT_EQ(index.remove(key) != nullptr, model.erase(key) == 1);
    } else {
      index.put(entry(key, 10'000 + i));
      model[key] = 10'000 + i;
    }
    if (i % 400 == 0) versions.emplace_back(index.share(), model);
  }
  for (const auto& [version, then] : versions) expect_same(version, then);
  expect_same(index, model);
}

TEST(PackedIndex, ManyReadersBuildARunOnce) {
  ObjectIndex index;
  Model model;
  fill(index, model, 640);
  std::array<std::vector<const ObjectEntry*>, 4> seen;
  std::vector<std::thread> readers;
  for (auto& mine : seen) {
    readers.emplace_back([&index, &mine] {
      auto cursor = index.cursor({});
      while (const auto* each = cursor.next()) mine.push_back(each->get());
    });
  }
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(seen[0].size(), 640u);
  for (const auto& other : seen) EXPECT_EQ(other, seen[0]);
}

}  // namespace
}  // namespace backplane
