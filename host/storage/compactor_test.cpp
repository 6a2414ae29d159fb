#include "storage/compactor.hpp"

#include <atomic>
#include <future>
#include <stdexcept>

#include "storage/memory_storage.hpp"
#include "storage/storage_test_kit.hpp"

namespace backplane {
namespace {

BackendMaker memory() {
  return {"Memory", [](const std::string&) -> Result<std::unique_ptr<StorageBackend>> { return make_memory_storage(); }};
}

Reason read_at(OpenStore& store, Revision revision) {
  RangeRequest request;
  request.start = "/a";
  request.revision = revision;
  auto result = store.run(store->range(request));
  return result.status().reason();
}

TEST(Compactor, ForgetsWhatTheTickBeforeSawAndNothingNewer) {
  OpenStore store(memory());
  Compactor compactor(*store, store.loop(), std::chrono::hours(1));
  store.put("/a", "1");
  store.put("/a", "2");
  ASSERT_TRUE(store.run(compactor.tick()).ok());
  EXPECT_EQ(read_at(store, 2), Reason::kNone);
  store.put("/a", "3");
  ASSERT_TRUE(store.run(compactor.tick()).ok());
  EXPECT_EQ(read_at(store, 2), Reason::kExpired);
  EXPECT_EQ(read_at(store, 3), Reason::kNone);
}

TEST(Compactor, KeepsNoRevisionsForTheirNumbersSake) {
  OpenStore store(memory());
  Compactor compactor(*store, store.loop(), std::chrono::hours(1));
  store.put("/a", "1");
  store.put("/a", "2");
  ASSERT_TRUE(store.run(compactor.tick()).ok());
  ASSERT_TRUE(store.run(compactor.tick()).ok());
  EXPECT_EQ(read_at(store, 2), Reason::kExpired) << "a handful of revisions is forgotten like a thousand";
  EXPECT_EQ(read_at(store, 3), Reason::kNone);
}

// Throws when asked for the revision, the first time.
class Tripping final : public StorageBackend {
 public:
  explicit Tripping(StorageBackend& below) : below_(below) {}
  Task<Result<Revision>> current_revision() override {
    if (++asked == 1) throw std::runtime_error("tripped on purpose");
    if (asked == 3) again.set_value();
    return below_.current_revision();
  }
  Task<Result<RangeResult>> range(RangeRequest request) override { return below_.range(std::move(request)); }
  Task<Result<TxnResult>> txn(TxnRequest request) override { return below_.txn(std::move(request)); }
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override {
    return below_.watch(std::move(prefix), after);
  }
  Task<Status> compact(Revision revision) override { return below_.compact(revision); }
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds time) override { return below_.grant_lease(time); }
  Task<Status> health(std::chrono::milliseconds time) override { return below_.health(time); }
  Task<Status> stop() override { return below_.stop(); }

  std::atomic<int> asked{0};
  std::promise<void> again;

 private:
  StorageBackend& below_;
};

TEST(Compactor, GoesOnAfterAnException) {
  OpenStore store(memory());
  Tripping tripping(*store);
  Compactor compactor(tripping, store.loop(), std::chrono::milliseconds(1));
  compactor.start();
  EXPECT_EQ(tripping.again.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  store.run(compactor.stop());
}

TEST(Compactor, StopsWhileItWaitsForItsNextTick) {
  OpenStore store(memory());
  Compactor compactor(*store, store.loop(), std::chrono::hours(1));
  compactor.start();
  const Revision first = store.put("/a", "1");
  store.put("/a", "2");
  store.run(compactor.stop());
  EXPECT_EQ(store.dump("/", first), "/a=1") << "its hour had not come";
}

}  // namespace
}  // namespace backplane
