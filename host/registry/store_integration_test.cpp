// The store over the memory backend and the real watch cache.
#include <gtest/gtest.h>

#include "base/task_group.hpp"
#include "registry/object_store.hpp"
#include "registry/store_fixture.hpp"
#include "storage/busy_storage.hpp"
#include "storage/memory_storage.hpp"

namespace backplane::registry_test {
namespace {

class StoreIntegrationTest : public ::testing::Test {
 protected:
  explicit StoreIntegrationTest(std::unique_ptr<StorageBackend> storage = make_memory_storage())
      : loop_("requests"), pump_("pump"), storage_(std::move(storage)) {
    loop_.start();
    pump_.start();
    hub_ = make_cache_hub(objects_, pump_);
    ResourceConfig config;
    config.kind = {"", "v1", "Thing"};
    config.resource = "things";
    config.schema = &schema_;
    config.strategy = std::make_shared<TestStrategy>();
    store_ = make_store(environment_, std::move(config)).value();
    environment_.start(objects_, *hub_, admission_);
    EXPECT_TRUE(run_on(pump_, hub_->start()).ok());
  }
  ~StoreIntegrationTest() override {
    store_.reset();
    environment_.stop();
    run_on(pump_, hub_->stop());
    hub_.reset();
    EXPECT_TRUE(run_on(loop_, storage_->stop()).ok());
    storage_.reset();
    pump_.stop();
    loop_.stop();
  }

  static void prepare(RequestContext& context) {
    context.info.ns = "default";
    context.info.is_resource_request = true;
  }
  Result<ObjectRef> create(const std::string& name) {
    RequestContext context;
    prepare(context);
    Object object =
        json::parse(R"({"kind":"Thing","apiVersion":"v1","metadata":{"name":")" + name + R"("},"data":{"n":0}})", context.arena())
            .as_object();
    return run_on(loop_, store_->create(context, object, {}));
  }
  Result<ObjectRef> get(const std::string& name) {
    RequestContext context;
    prepare(context);
    return run_on(loop_, store_->get(context, name, {}));
  }

  IoLoop loop_;
  IoLoop pump_;
  // A store over the same prefix with another cache.
  Result<std::shared_ptr<StandardStorage>> make_successor(const Hold& hold = {}) {
    ResourceConfig config;
    config.kind = {"", "v2", "Thing"};
    config.resource = "things";
    config.schema = &schema_;
    config.strategy = std::make_shared<TestStrategy>();
    return make_store(environment_, std::move(config), hold);
  }

  OrderingSchema schema_;
  FakeAdmission admission_;
  std::unique_ptr<StorageBackend> storage_;
  ObjectStorage objects_{*storage_};
  std::unique_ptr<CacheHub> hub_;
  StoreEnvironment environment_;
  std::shared_ptr<StandardStorage> store_;
};

TEST_F(StoreIntegrationTest, AWriteIsInEveryLaterRead) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = "n" + std::to_string(i);
    const auto created = create(name);
    ASSERT_TRUE(created.ok()) << created.status().message();
    const auto found = get(name);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ((*found)->json().view(), (*created)->json().view());
  }
  RequestContext context;
  prepare(context);
  auto listed = run_on(loop_, store_->list(context, {}));
  ASSERT_TRUE(listed.ok());
  auto objects = run_on(loop_, listed->items->next());
  ASSERT_TRUE(objects.ok());
  EXPECT_EQ(objects->size(), 20u);
}

TEST_F(StoreIntegrationTest, TheAnswerOfAWriteAndTheCacheShareOneEntry) {
  ASSERT_TRUE(get("none").status().code() == 404) << "the cache is loaded";
  int shared = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "n" + std::to_string(i);
    const auto created = create(name);
    ASSERT_TRUE(created.ok());
    const auto found = get(name);
    ASSERT_TRUE(found.ok());
    if (*found == *created) ++shared;
  }
  // If two requests start at the same time, each makes a store.
  EXPECT_GE(shared, 10);
}

// A custom resource whose definition changes gets a new store before the new definition is published.
TEST_F(StoreIntegrationTest, AStoreWithASuccessorServesUntilThatIsPublished) {
  ASSERT_TRUE(create("a").ok());
  RequestContext context;
  prepare(context);
  ListOptions options;
  options.watch = true;
  auto stream = run_on(loop_, store_->watch(context, options));
  ASSERT_TRUE(stream.ok());
  auto next = make_successor();
  ASSERT_TRUE(next.ok()) << next.status().message();
  ASSERT_TRUE(create("b").ok());
  const auto found = get("b");
  ASSERT_TRUE(found.ok()) << found.status().message();
  std::size_t events = 0;
  while (events < 2) events += run_on(loop_, (*stream)->next())->size();
  environment_.end_replaced(nullptr);
  auto end = run_on(loop_, (*stream)->next());
  EXPECT_TRUE(!end.ok() || end->empty()) << "what watches the old one ends";
  EXPECT_TRUE(run_on(loop_, (*next)->get(context, "b", {})).ok());
}

// A build of a plugin is staged with another cache, and discarded.
TEST_F(StoreIntegrationTest, ADiscardedSuccessorLeavesTheFormerCacheInService) {
  ASSERT_TRUE(create("a").ok());
  const auto before = store_->host_store()->served().stored().backing()->cache;
  RequestContext context;
  prepare(context);
  ListOptions options;
  options.watch = true;
  auto stream = run_on(loop_, store_->watch(context, options));
  ASSERT_TRUE(stream.ok());
  const Hold hold = std::make_shared<int>();
  auto next = make_successor(hold);
  ASSERT_TRUE(next.ok()) << next.status().message();
  EXPECT_TRUE(run_on(loop_, (*next)->get(context, "a", {})).ok()) << "what is staged reads through its own cache";
  next = internal_error("discarded");
  environment_.end_replaced(hold);
  ASSERT_TRUE(create("b").ok());
  EXPECT_TRUE(get("b").ok());
  std::size_t events = 0;
  while (events < 2) events += run_on(loop_, (*stream)->next())->size();
  EXPECT_TRUE(run_on(loop_, store_->watch(context, options)).ok());
  EXPECT_TRUE(run_on(loop_, store_->list(context, {})).ok());
  CacheConfig of_prefix;
  of_prefix.prefix = store_->host_store()->served().stored().keys().root();
  EXPECT_EQ(hub_->add(std::move(of_prefix), false), before) << "it is the cache of the prefix again";
}

TEST_F(StoreIntegrationTest, OnlyThePublicationOfTheSuccessorEndsTheFormerCache) {
  ASSERT_TRUE(create("a").ok());
  RequestContext context;
  prepare(context);
  ListOptions options;
  options.watch = true;
  auto stream = run_on(loop_, store_->watch(context, options));
  ASSERT_TRUE(stream.ok());
  const Hold hold = std::make_shared<int>();
  auto next = make_successor(hold);
  ASSERT_TRUE(next.ok()) << next.status().message();
  environment_.end_replaced(std::make_shared<int>());
  environment_.end_replaced(nullptr);
  ASSERT_TRUE(create("b").ok());
  std::size_t events = 0;
  while (events < 2) events += run_on(loop_, (*stream)->next())->size();
  environment_.end_replaced(hold);
  auto end = run_on(loop_, (*stream)->next());
  EXPECT_TRUE(!end.ok() || end->empty());
  EXPECT_TRUE(get("b").ok()) << "requests in progress are completed";
  ASSERT_TRUE(create("c").ok());
  EXPECT_TRUE(get("c").ok());
}

// The first request makes the store of a custom resource, after its definition has been published.
TEST_F(StoreIntegrationTest, ACacheThatIsRetiredAfterThePublicationGoesWithItsLastUser) {
  ASSERT_TRUE(create("a").ok());
  RequestContext context;
  prepare(context);
  ListOptions options;
  options.watch = true;
  auto stream = run_on(loop_, store_->watch(context, options));
  ASSERT_TRUE(stream.ok());
  const std::weak_ptr<ResourceCache> before = store_->host_store()->served().stored().backing()->cache;
  environment_.end_replaced(nullptr);
  auto next = make_successor();
  ASSERT_TRUE(next.ok()) << next.status().message();
  store_ = std::move(*next);
  ASSERT_TRUE(create("b").ok());
  EXPECT_FALSE(before.expired()) << "it is watched";
  (*stream)->cancel();
  EXPECT_TRUE(run_on(loop_, (*stream)->next())->empty());
  stream->reset();
  // The pump may hold a reference to the cache while it delivers an event.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!before.expired() && std::chrono::steady_clock::now() < until) ASSERT_TRUE(get("b").ok());
  EXPECT_TRUE(before.expired());
}

TEST_F(StoreIntegrationTest, StoresThatAreGoneLeaveNothingBehind) {
  for (int i = 0; i < 10; ++i) {
    ResourceConfig config;
    config.kind = {"", "v1", "Thing"};
    config.resource = "others" + std::to_string(i);
    config.schema = &schema_;
    config.strategy = std::make_shared<TestStrategy>();
    ASSERT_TRUE(make_store(environment_, std::move(config)).ok());
  }
  EXPECT_EQ(environment_.state()->stores.size(), 1u) << "that of the fixture";
}

// A gate function that counts its copies.
struct CountedGates {
  explicit CountedGates(int& counter) : copies(&counter) {}
  CountedGates(const CountedGates& other) : copies(other.copies) { ++*copies; }
  CountedGates(CountedGates&&) noexcept = default;
  CountedGates& operator=(const CountedGates&) = delete;
  CountedGates& operator=(CountedGates&&) = delete;
  ~CountedGates() = default;
  bool operator()(std::string_view) const { return true; }

  int* copies;
};

TEST_F(StoreIntegrationTest, StoresShareWhatTheCommandLineSays) {
  int copies = 0;
  StoreSettings settings;
  settings.gates = CountedGates(copies);
  StoreEnvironment environment;
  environment.start(objects_, *hub_, admission_, {}, std::move(settings));
  const int once = copies;
  std::vector<std::shared_ptr<StandardStorage>> stores;
  for (int i = 0; i < 10; ++i) {
    ResourceConfig config;
    config.kind = {"", "v1", "Thing"};
    config.resource = "more" + std::to_string(i);
    config.schema = &schema_;
    config.strategy = std::make_shared<TestStrategy>();
    stores.push_back(make_store(environment, std::move(config)).value());
  }
  EXPECT_EQ(copies, once) << "a store with a map of all gates costs as much as ten without";
  stores.clear();
  environment.stop();
}

Task<void> add_one(StandardStorage& store, std::atomic<int>& failures) {
  RequestContext context;
  context.info.ns = "default";
  context.info.verb = "patch";
  Change change([](Object& object) { ensure_object(object, "data")["n"] = get_int_path(object, "data.n").value_or(0) + 1; });
  std::string name = "a";
  WriteOptions options;
  auto updated = co_await store.update(context, std::move(name), change, std::move(options), false);
  if (!updated.ok()) ++failures;
}

Task<void> close_and_wait(TaskGroup& group) {
  group.close();
  co_await group.wait_all();
}

TEST_F(StoreIntegrationTest, ConcurrentPatchesLoseNothing) {
  ASSERT_TRUE(create("a").ok());
  std::atomic<int> failures{0};
  LoggedTaskGroup group;
  IoLoop other("other");
  other.start();
  for (int i = 0; i < 50; ++i) {
    group.spawn(loop_, "patch", add_one(*store_, failures));
    group.spawn(other, "patch", add_one(*store_, failures));
  }
  run_on(loop_, close_and_wait(group));
  other.stop();
  EXPECT_EQ(failures, 0);
  const Object object = json::parse((*get("a"))->json().view()).as_object();
  EXPECT_EQ(get_int_path(object, "data.n"), 100);
}

class BusyStoreTest : public StoreIntegrationTest {
 protected:
  BusyStoreTest() : StoreIntegrationTest(std::make_unique<BusyStorage>()) {}
  int lost() const { return static_cast<const BusyStorage&>(*storage_).lost; }
};

TEST_F(BusyStoreTest, ManyWritersOfOneObjectLoseOnceEachAtMost) {
  ASSERT_TRUE(create("a").ok());
  std::atomic<int> failures{0};
  LoggedTaskGroup group;
  for (int i = 0; i < 64; ++i) group.spawn(loop_, "patch", add_one(*store_, failures));
  run_on(loop_, close_and_wait(group));
  EXPECT_EQ(failures, 0);
  const Object object = json::parse((*get("a"))->json().view()).as_object();
  EXPECT_EQ(get_int_path(object, "data.n"), 64);
  EXPECT_LE(lost(), 64);
}

TEST_F(StoreIntegrationTest, AWatchSeesMarkingAndRemoval) {
  const auto created = create("a");
  ASSERT_TRUE(created.ok());
  RequestContext context;
  prepare(context);
  ListOptions options;
  options.watch = true;
  options.resource_version = std::to_string((*created)->revision);
  auto stream = run_on(loop_, store_->watch(context, options));
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  Change held([](Object& object) { ObjectMeta(object).set_finalizers({"example.com/x"}); });
  ASSERT_TRUE(run_on(loop_, store_->update(context, "a", held, {}, false)).ok());
  ASSERT_TRUE(run_on(loop_, store_->remove(context, "a", {})).ok());
  Change released([](Object& object) { ObjectMeta(object).set_finalizers({}); });
  ASSERT_TRUE(run_on(loop_, store_->update(context, "a", released, {}, false)).ok());

  std::vector<WatchEvent::Type> types;
  while (types.size() < 3) {
    auto events = run_on(loop_, (*stream)->next());
    ASSERT_TRUE(events.ok());
    for (const WatchEvent& event : *events) types.push_back(event.type);
  }
  EXPECT_EQ(types, (std::vector<WatchEvent::Type>{WatchEvent::Type::kModified, WatchEvent::Type::kModified, WatchEvent::Type::kDeleted}));
  EXPECT_EQ(get("a").status().reason(), Reason::kNotFound);
}

TEST_F(StoreIntegrationTest, ACollectionIsDeletedCompletely) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(create("n" + std::to_string(i)).ok());
  RequestContext context;
  prepare(context);
  ASSERT_TRUE(run_on(loop_, store_->remove_collection(context, {}, {})).ok());
  auto listed = run_on(loop_, store_->list(context, {}));
  ASSERT_TRUE(listed.ok());
  auto left = run_on(loop_, listed->items->next());
  ASSERT_TRUE(left.ok());
  EXPECT_TRUE(left->empty());
}

}  // namespace
}  // namespace backplane::registry_test
