// The number of requests for a store's revision, and the reads that cause them.
#include "watchcache/paced_revisions.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

#include "base/io_loop.hpp"
#include "storage/memory_storage.hpp"
#include "storage/object_storage.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {
namespace {

TEST(Pace, TurnsComeTenMillisecondsApartOnceTheFirstOnesAreTaken) {
  Pace pace;
  const Pace::Clock::time_point begun{std::chrono::hours(1)};
  for (int turn = 0; turn <= Pace::kAtOnce; ++turn) EXPECT_EQ(pace.take(begun), Pace::Clock::duration::zero()) << turn;
  EXPECT_EQ(pace.take(begun), Pace::kPeriod);
  EXPECT_EQ(pace.take(begun), 2 * Pace::kPeriod);
  EXPECT_EQ(pace.take(begun + 3 * Pace::kPeriod), Pace::Clock::duration::zero());
  EXPECT_EQ(pace.take(begun + std::chrono::seconds(10)), Pace::Clock::duration::zero());
}

// A store that reports its revision only on request, and counts the requests.
class AskedStorage final : public ObjectStorage {
 public:
  explicit AskedStorage(StorageBackend& below) : ObjectStorage(below) {}
  std::atomic<int> asked{0};

  Task<Result<Revision>> current_revision() override {
    ++asked;
    return backend_.current_revision();
  }
  Revision committed_revision() const noexcept override { return 0; }
};

class PacedReads : public testing::Test {
 protected:
  PacedReads() {
    loop_.start();
    pump_.start();
    CacheConfig config;
    config.prefix = "/registry/configmaps/";
    config.resource = {"", "configmaps"};
    config.kind = "ConfigMap";
    config.api_version = "v1";
    cache_ = hub_->add(std::move(config), true);
    EXPECT_TRUE(run_on(loop_, hub_->start()).ok());
    EXPECT_TRUE(run_on(loop_, cache_->wait_current()).ok());
  }
  ~PacedReads() override {
    run_on(loop_, hub_->stop());
    pump_.stop();
    loop_.stop();
  }
  static Task<void> list(std::shared_ptr<ResourceCache> cache, std::promise<bool>& done) {
    CacheScope scope;
    ListOptions options;
    auto listing = cache->list(std::move(scope), std::move(options));
    const auto listed = co_await std::move(listing);
    done.set_value(listed.ok());
  }

  IoLoop loop_{"test"}, pump_{"pump"};
  const std::unique_ptr<StorageBackend> memory_ = make_memory_storage();
  AskedStorage store_{*memory_};
  const std::unique_ptr<CacheHub> hub_ = make_cache_hub(store_, pump_);
  std::shared_ptr<ResourceCache> cache_;
};

TEST_F(PacedReads, ListsShareAHundredQuestionsASecond) {
  const int before = store_.asked.load();
  const auto begun = Pace::Clock::now();
  std::vector<std::promise<bool>> lists(400);
  for (auto& done : lists) spawn_detached(loop_, list(cache_, done));
  for (auto& done : lists) EXPECT_TRUE(done.get_future().get());
  const auto turns = (Pace::Clock::now() - begun) / Pace::kPeriod;
  EXPECT_LE(store_.asked.load() - before, Pace::kAtOnce + 2 + turns);
}

TEST_F(PacedReads, AGetWaitsForNoTurn) {
  for (int i = 0; i < 3 * Pace::kAtOnce; ++i) EXPECT_TRUE(run_on(loop_, cache_->wait_current()).ok());
  const int before = store_.asked.load();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(run_on(loop_, cache_->get("/registry/configmaps/ns/a", "")).ok());
  EXPECT_EQ(store_.asked.load() - before, 100);
}

}  // namespace
}  // namespace backplane
