#include "watchcache/summary.hpp"

#include <gtest/gtest.h>

#include "watchcache/object_index.hpp"

namespace backplane {
namespace {

ObjectRef entry(int i, int round) {
  auto made = std::make_shared<ObjectEntry>();
  const std::string name = "n" + std::to_string(1000 + i);
  made->set_identity("/k/" + name, {}, name);
  made->set_labels({{"app", "a" + std::to_string(i % 7)}, {"round", std::to_string(round)}});
  made->set_fields({"node" + std::to_string((i + round) % 50), ""});
  return made;
}

TEST(Summary, HasNoFalseNegatives) {
  Summary summary;
  for (int i = 0; i < 32; ++i) summary.add(*entry(i, 1));
  for (int i = 0; i < 32; ++i) {
    const auto one = entry(i, 1);
    EXPECT_TRUE(summary.may_hold({{name_term(one->name())},
                                  {label_key_term("app")},
                                  {label_term("app", one->labels()[0].second)},
                                  {label_term("round", "9"), label_term("round", "1")},
                                  {field_term(0, one->fields()[0])},
                                  {field_term(1, "")}}));
  }
}

TEST(Summary, HasFewFalsePositives) {
  Summary summary;
  for (int i = 0; i < 32; ++i) summary.add(*entry(i, 1));
  int wrong = 0;
  for (int i = 0; i < 10'000; ++i) wrong += summary.may_hold(label_term("app", "other" + std::to_string(i))) ? 1 : 0;
  EXPECT_LT(wrong, 300);
  EXPECT_FALSE(summary.may_hold({{label_key_term("app")}, {}}));  // a group without a match
}

// Every run's summary contains at least its entries' terms, however the index was built.
TEST(Summary, OfARunCoversItsEntriesThroughEveryChange) {
  ObjectIndex index;
  for (int i = 0; i < 500; ++i) index.put(entry(i, 0));
  std::vector<ObjectIndex> versions;
  for (int round = 1; round < 40; ++round) {
    versions.push_back(index.share());
    for (int i = round % 3; i < 700; i += 3) index.put(entry(i, round));
    for (int i = round % 11; i < 700; i += 11) index.remove(entry(i, round)->key());
  }
  versions.push_back(index.share());
  for (const auto& version : versions) {
    auto cursor = version.cursor({});
    std::size_t seen = 0;
    for (auto run = cursor.next_run(); !run.entries.empty(); run = cursor.next_run()) {
      for (const auto& each : run.entries) {
        ++seen;
        EXPECT_TRUE(run.summary->may_hold(
            {{name_term(each->name())}, {label_term("round", each->labels()[1].second)}, {field_term(0, each->fields()[0])}}));
      }
    }
    EXPECT_EQ(seen, version.size());
  }
}

// After a number of removals, the terms of removed entries are no longer in the summary.
TEST(Summary, OfARunForgetsRemovedEntries) {
  ObjectIndex index;
  for (int i = 0; i < 20; ++i) index.put(entry(i, 0));
  for (int round = 1; round < 200; ++round) {
    for (int i = 0; i < 20; ++i) index.put(entry(i, round));
  }
  auto cursor = index.cursor({});
  const auto run = cursor.next_run();
  int old = 0;
  for (int round = 0; round < 190; ++round) old += run.summary->may_hold(label_term("round", std::to_string(round))) ? 1 : 0;
  EXPECT_LT(old, 20);
}

}  // namespace
}  // namespace backplane
