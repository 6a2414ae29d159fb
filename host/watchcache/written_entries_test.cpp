#include "watchcache/written_entries.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace backplane {
namespace {

KeyValue written(const std::string& key, Revision revision, const std::string& value = "{}") {
  KeyValue stored;
  stored.key = key;
  stored.value = SharedBytes(value);
  stored.mod_revision = revision;
  return stored;
}

class WrittenEntriesTest : public testing::Test {
 protected:
  ObjectRef get(const KeyValue& stored) {
    return entries_.get(stored, [&] {
      ++built_;
      auto entry = std::make_shared<ObjectEntry>();
      entry->set_identity(stored.key, {}, {});
      entry->revision = stored.mod_revision;
      return ObjectRef(std::move(entry));
    });
  }
  WrittenEntries entries_;
  std::atomic<int> built_{0};
};

TEST_F(WrittenEntriesTest, BothSidesGetOneEntry) {
  const ObjectRef entry = get(written("/a", 7));
  EXPECT_EQ(get(written("/a", 7)), entry);
  EXPECT_EQ(built_.load(), 1);
}

TEST_F(WrittenEntriesTest, TheSecondSideReleasesTheEntry) {
  std::weak_ptr<const ObjectEntry> entry = get(written("/a", 7));
  get(written("/a", 7)).reset();
  EXPECT_TRUE(entry.expired());
}

TEST_F(WrittenEntriesTest, AnotherWriteHasAnotherEntry) {
  const ObjectRef entry = get(written("/a", 7));
  EXPECT_NE(get(written("/b", 7)), entry) << "another key of the same revision";
  EXPECT_NE(get(written("/a", 8)), entry);
  get(written("/c", 9));
  EXPECT_NE(get(written("/c", 9, "{\"other\":1}")), nullptr);
  EXPECT_EQ(built_.load(), 5) << "other bytes, as a store has them that was restored";
}

TEST_F(WrittenEntriesTest, WhatIsPublishedIsReleased) {
  std::weak_ptr<const ObjectEntry> entry = get(written("/a", 7));
  entries_.release(written("/a", 8));
  entries_.release(written("/b", 7));
  EXPECT_FALSE(entry.expired());
  entries_.release(written("/a", 7));
  EXPECT_TRUE(entry.expired());
}

TEST_F(WrittenEntriesTest, AFailedBuildLeavesNothing) {
  EXPECT_THROW(entries_.get(written("/a", 7), []() -> ObjectRef { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_NE(get(written("/a", 7)), nullptr);
  EXPECT_EQ(built_.load(), 1);
}

TEST_F(WrittenEntriesTest, SidesThatComeTogetherBuildOnce) {
  constexpr int kWrites = 2'000;
  std::atomic<int> arrived{0};
  std::vector<ObjectRef> seen[2] = {std::vector<ObjectRef>(kWrites), std::vector<ObjectRef>(kWrites)};
  const auto side = [&](std::vector<ObjectRef>& mine) {
    for (int i = 0; i < kWrites; ++i) {
      ++arrived;
      while (arrived.load() < 2 * (i + 1)) std::this_thread::yield();
      mine[static_cast<std::size_t>(i)] = get(written("/a", i + 1));
    }
  };
  std::thread other([&] { side(seen[1]); });
  side(seen[0]);
  other.join();
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(built_.load(), kWrites);
}

}  // namespace
}  // namespace backplane
