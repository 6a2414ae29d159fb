#include "storage/compactor.hpp"

#include <atomic>
#include <future>
#include <stdexcept>

#include "storage/forwarding_storage.hpp"
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
  EXPECT_EQ(compactor.compacted()->load(), 0);
  ASSERT_TRUE(store.run(compactor.tick()).ok());
  EXPECT_EQ(compactor.compacted()->load(), 3);
  EXPECT_EQ(read_at(store, 2), Reason::kExpired);
  EXPECT_EQ(read_at(store, 3), Reason::kNone);
}

TEST(Compactor, RemovesOldRevisionsEvenIfThereAreFew) {
  OpenStore store(memory());
  Compactor compactor(*store, store.loop(), std::chrono::hours(1));
  store.put("/a", "1");
  store.put("/a", "2");
  ASSERT_TRUE(store.run(compactor.tick()).ok());
  ASSERT_TRUE(store.run(compactor.tick()).ok());
  EXPECT_EQ(read_at(store, 2), Reason::kExpired) << "a handful of revisions is forgotten like a thousand";
  EXPECT_EQ(read_at(store, 3), Reason::kNone);
}

// The first call of current_revision() throws.
class Tripping final : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  Task<Result<Revision>> current_revision() override {
    if (++asked == 1) throw std::runtime_error("tripped on purpose");
    if (asked == 3) again.set_value();
    return ForwardingStorage::current_revision();
  }

  std::atomic<int> asked{0};
  std::promise<void> again;
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
