// Loading of a cache from its store.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <set>

#include "base/io_loop.hpp"
#include "storage/memory_storage.hpp"
#include "storage/object_storage.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {
namespace {

constexpr std::string_view kStored = "stored:";
constexpr int kObjects = 3'500;  // several pages

// A store whose values have a prefix that decoding removes. The decoding of values whose key ends with 5 must wait for read().  The first
// page is not decoded before the second page is requested.
class Pages final : public ObjectStorage {
 public:
  explicit Pages(StorageBackend& below) : ObjectStorage(below) {}
  Task<Result<RangeResult>> stored_range(RangeRequest request) override {
    {
      const std::lock_guard lock(mutex_);
      ++asked_;
      largest_ = std::max(largest_, request.limit);
    }
    changed_.notify_all();
    if (request.limit > most_.load()) {
      ++refused_;
      co_return internal_error("received message larger than max");
    }
    auto reading = backend_.range(std::move(request));
    auto result = co_await std::move(reading);
    if (!removes_ || !result.ok() || result->items.empty()) co_return result;
    // Removes the first object of the next page before that page is read.
    TxnRequest removal;
    removal.removes.push_back(result->items.front().key);
    removed_.insert(result->items.front().key);
    auto removing = backend_.txn(std::move(removal));
    auto removed = co_await std::move(removing);
    EXPECT_TRUE(removed.ok());
    co_return result;
  }
  bool removes_ = false;           // set before the load
  std::set<std::string> removed_;  // read after the load
  // A range with a larger limit fails.
  std::atomic<std::int64_t> most_{1'000'000};
  std::atomic<int> refused_{0};  // the number of such failures
  std::int64_t largest() const {
    const std::lock_guard lock(mutex_);
    return largest_;
  }
  std::size_t read_now(std::vector<KeyValue>& items, std::size_t from) const override {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, std::chrono::seconds(10), [this] { return asked_ > 1; })) return items.size();
    }
    for (; from < items.size() && !items[from].key.ends_with("5"); ++from) {
      KeyValue& item = items[from];
      if (item.key.ends_with("7")) {
        item.unreadable = std::make_shared<const Status>(500, Reason::kNone, "damaged");
      } else {
        unwrap(item);
      }
    }
    return from;
  }
  Task<void> read(KeyValue& item) const override {
    ++waited_;
    unwrap(item);
    co_return;
  }
  mutable std::atomic<int> waited_{0};

 private:
  static void unwrap(KeyValue& item) { item.value = item.value.slice(kStored.size(), item.value.size() - kStored.size()); }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  int asked_ = 0;
  std::int64_t largest_ = 0;
};

std::string name_of(int i) { return "c" + std::to_string(10'000 + i); }

void load_all(Pages& storage) {
  IoLoop loop("test"), pump("pump");
  BlockingPool pool(2);
  set_blocking_executor(&pool);
  loop.start();
  pump.start();
  for (int i = 0; i < kObjects; ++i) {
    TxnRequest request;
    const std::string name = name_of(i);
    request.puts.push_back({"/registry/configmaps/n/" + name,
                            SharedBytes(std::string(kStored) + R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":")" + name +
                                        R"(","namespace":"n"}})"),
                            0});
    ASSERT_TRUE(run_on(loop, storage.txn(std::move(request))).ok());
  }
  auto hub = make_cache_hub(storage, pump);
  CacheConfig config;
  config.prefix = "/registry/configmaps/";
  config.kind = "ConfigMap";
  config.api_version = "v1";
  config.resource = {"", "configmaps"};
  auto cache = hub->add(std::move(config), true);
  ASSERT_TRUE(run_on(loop, hub->start()).ok());
  // Each key returns its own object, and the unreadable objects are reported.
  for (int i = 0; i < kObjects; ++i) {
    const std::string key = "/registry/configmaps/n/" + name_of(i);
    auto found = run_on(loop, cache->get(key, ""));
    if (storage.removed_.contains(key)) {
      ASSERT_TRUE(found.ok() && *found == nullptr) << key << " was removed while the cache was loaded";
      continue;
    }
    if (i % 10 == 7) {
      ASSERT_FALSE(found.ok()) << i;
      continue;
    }
    ASSERT_TRUE(found.ok() && *found) << i << found.status().message();
    ASSERT_EQ((*found)->name(), name_of(i));
  }
  EXPECT_GE(storage.waited_.load(), kObjects / 10 - 2);
  EXPECT_EQ(cache->size(), static_cast<std::size_t>(kObjects - kObjects / 10) - storage.removed_.size());
  run_on(loop, hub->stop());
  set_blocking_executor(nullptr);
  pool.stop();
  pump.stop();
  loop.stop();
}

TEST(Load, APageIsAskedForWhileTheOneBeforeIsRead) {
  const auto memory = make_memory_storage();
  Pages storage(*memory);
  load_all(storage);
  EXPECT_GT(storage.largest(), 1'000) << "small objects, large pages";
}

TEST(Load, WhatChangesBetweenPagesIsNotLost) {
  const auto memory = make_memory_storage();
  Pages storage(*memory);
  storage.removes_ = true;
  load_all(storage);
  EXPECT_GT(storage.removed_.size(), 1u);
}

TEST(Load, APageThatIsTooMuchIsAskedForAgainAsASmallerOne) {
  const auto memory = make_memory_storage();
  Pages storage(*memory);
  storage.most_ = 1'000;
  load_all(storage);
  EXPECT_GT(storage.largest(), 1'000);
  EXPECT_EQ(storage.refused_.load(), 1) << "what was too much once is not asked for again";
}

}  // namespace
}  // namespace backplane
