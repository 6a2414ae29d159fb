// Caches that differ from their store.
#include <gtest/gtest.h>

#include <thread>

#include "backplane/core/metrics.hpp"
#include "base/io_loop.hpp"
#include "storage/memory_storage.hpp"
#include "storage/object_storage.hpp"
#include "watchcache/consistency.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {
namespace {

// A store whose watches omit events, and whose ranges fail, on request.
class LossyStorage final : public ObjectStorage {
 public:
  explicit LossyStorage(StorageBackend& backend) : ObjectStorage(backend) {}
  std::atomic<bool> drops_events{false};
  std::atomic<bool> damaged{false};

  Task<Result<RangeResult>> range(RangeRequest request) override {
    if (damaged.load()) co_return internal_error("block checksum mismatch");
    auto reading = backend_.range(std::move(request));
    auto result = co_await std::move(reading);
    co_return result;
  }
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override {
    auto below = backend_.watch(std::move(prefix), after);
    if (!below.ok()) return below;
    return std::unique_ptr<StorageWatch>(std::make_unique<Watch>(*this, std::move(*below)));
  }

 private:
  class Watch final : public StorageWatch {
   public:
    Watch(LossyStorage& owner, std::unique_ptr<StorageWatch> below) : owner_(owner), below_(std::move(below)) {}
    Task<Result<EventBatch>> next() override {
      auto reading = below_->next();
      auto batch = co_await std::move(reading);
      if (batch.ok() && owner_.drops_events.load()) batch->events.clear();
      co_return batch;
    }
    void cancel() override { below_->cancel(); }

   private:
    LossyStorage& owner_;
    const std::unique_ptr<StorageWatch> below_;
  };
};

// The number of comparisons with this outcome.
double ended(const std::string& outcome) {
  for (const auto& metric : Metric::all()) {
    if (metric.name != "apiserver_storage_consistency_checks_total") continue;
    const auto series = metric.series.find({"", "configmaps", outcome});
    return series != metric.series.end() ? series->second.value : 0;
  }
  return 0;
}

class Consistency : public testing::Test {
 protected:
  Consistency() {
    loop_.start();
    pump_.start();
    CacheOptions options;
    options.comparison_period = std::chrono::milliseconds(1);
    hub_ = make_cache_hub(storage_, pump_, options);
    CacheConfig config;
    config.prefix = "/registry/configmaps/";
    config.resource = {"", "configmaps"};
    config.kind = "ConfigMap";
    config.api_version = "v1";
    cache_ = hub_->add(config, true);
    EXPECT_TRUE(run_on(loop_, hub_->start()).ok());
  }
  ~Consistency() override {
    run_on(loop_, hub_->stop());
    pump_.stop();
    loop_.stop();
  }

  void put(const std::string& name) {
    TxnRequest request;
    request.puts.push_back({key(name), SharedBytes(R"({"metadata":{"name":")" + name + "\"}}"), 0});
    EXPECT_TRUE(run_on(loop_, storage_.txn(std::move(request))).ok());
  }
  void remove(const std::string& name) {
    TxnRequest request;
    request.removes.push_back(key(name));
    EXPECT_TRUE(run_on(loop_, storage_.txn(std::move(request))).ok());
  }
  // The revision of the object in the cache; 0: absent.
  Revision cached(const std::string& name) {
    EXPECT_TRUE(run_on(loop_, cache_->wait_current()).ok());
    const ObjectRef found = cache_->peek(key(name));
    return found ? found->revision : 0;
  }
  static std::string key(const std::string& name) { return "/registry/configmaps/ns/" + name; }
  template <class Condition>
  static void wait_until(const Condition& condition) {
    while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  IoLoop loop_{"test"};
  IoLoop pump_{"pump"};
  const std::unique_ptr<StorageBackend> memory_ = make_memory_storage();
  LossyStorage storage_{*memory_};
  std::unique_ptr<CacheHub> hub_;
  std::shared_ptr<ResourceCache> cache_;
};

TEST_F(Consistency, ACacheThatMissedAnObjectIsReadAgain) {
  put("a");
  EXPECT_EQ(cached("a"), 2);
  const double failures = ended("failure");
  storage_.drops_events = true;
  put("b");
  wait_until([&] { return cached("b") == 3; });
  EXPECT_GT(ended("failure"), failures);
}

TEST_F(Consistency, ACacheThatMissedAChangeIsReadAgain) {
  put("a");
  EXPECT_EQ(cached("a"), 2);
  storage_.drops_events = true;
  put("a");
  wait_until([&] { return cached("a") == 3; });
}

TEST_F(Consistency, ACacheThatMissedADeletionIsReadAgain) {
  put("a");
  put("b");
  EXPECT_EQ(cached("b"), 3);
  storage_.drops_events = true;
  remove("b");
  wait_until([&] { return cached("b") == 0; });
  remove("a");
  wait_until([&] { return cached("a") == 0; });
}

TEST_F(Consistency, AConsistentCacheIsNotReloaded) {
  const double failures = ended("failure"), successes = ended("success");
  for (int i = 0; i < 1'000; ++i) put("c" + std::to_string(i % 300));
  remove("c0");
  wait_until([&] { return ended("success") > successes + 2; });
  EXPECT_EQ(ended("failure"), failures);
  EXPECT_TRUE(cache_->ready());
}

TEST_F(Consistency, AStoreThatCannotBeReadIsNoReasonToReadItAgain) {
  put("a");
  EXPECT_EQ(cached("a"), 2);
  const double errors = ended("error");
  storage_.damaged = true;
  wait_until([&] { return ended("error") > errors; });
  EXPECT_TRUE(cache_->ready());
  EXPECT_EQ(cached("a"), 2);
}

}  // namespace
}  // namespace backplane
