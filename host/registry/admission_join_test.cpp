// Admission plugins that add changes to the transaction of a write. The plugin of this test counts the objects of each namespace in another
// object, and the count is always exact.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/task_group.hpp"
#include "registry/store_fixture.hpp"
#include "storage/busy_storage.hpp"

namespace backplane::registry_test {
namespace {

// Counts objects, and refuses creates that would exceed `limit` objects.
class CountedObjects final : public WriteAdmission {
 public:
  std::shared_ptr<StandardStorage> counts;
  std::int64_t limit = 1'000;
  std::atomic<int> begun{0}, kept{0}, dropped{0};
  Status refusal;                 // the result of validate()
  bool late = false;              // true: begin() sets the request's deadline to a time that has passed
  int stale = 0;                  // the next `stale` calls of join() return false
  std::vector<std::string> seen;  // the operation and apiVersion of each call of begin()

  Task<Status> admit(AdmissionAttributes&) override { co_return Status(); }
  Task<Status> validate(const AdmissionAttributes&) override { co_return refusal; }
  bool reads_managed_fields(const AdmissionAttributes&) const noexcept override { return false; }
  bool begins(const AdmissionAttributes& attributes) const noexcept override {
    return attributes.operation == AdmissionOperation::kCreate || attributes.operation == AdmissionOperation::kDelete;
  }
  Task<Result<Begun>> begin(const AdmissionAttributes& attributes) override {
    Begun out;
    if (attributes.resource.resource != "things") co_return out;
    const bool is_new = attributes.operation == AdmissionOperation::kCreate;
    const Object* shown = is_new ? attributes.object : attributes.old_object;
    EXPECT_NE(shown, nullptr);
    if (late) attributes.context->deadline = std::chrono::steady_clock::time_point();
    seen.push_back((is_new ? "create " : "delete ") + std::string(get_string(*shown, "apiVersion")));
    ++begun;
    out.push_back(std::make_unique<Write>(*this, is_new ? 1 : -1));
    co_return out;
  }

 private:
  class Write final : public BegunWrite {
   public:
    Write(CountedObjects& owner, int change) : owner_(owner), change_(change) {}
    Task<Result<bool>> join(RequestContext& context, StoreTransaction& transaction) override {
      if (owner_.stale > 0) {
        --owner_.stale;
        co_return false;
      }
      RequestContext own;
      own.info.ns = context.info.ns;
      auto reading = owner_.counts->get(own, "count", GetOptions());
      auto found = co_await std::move(reading);
      Object count = found.ok()
                         ? json::parse((*found)->json().view()).as_object()
                         : json::parse(R"({"kind":"Count","apiVersion":"v1","metadata":{"name":"count"},"data":{"n":0}})").as_object();
      const std::int64_t now = get_int_path(count, "data.n").value_or(0) + change_;
      if (now > owner_.limit) co_return Status(Reason::kForbidden, "exceeded quota");
      count["data"].as_object()["n"] = now;
      const Status joined = found.ok() ? transaction.replace(*owner_.counts, *found, std::move(count))
                                       : transaction.create(*owner_.counts, own.info.ns, "count", std::move(count));
      if (!joined.ok()) co_return joined;
      co_return true;
    }
    Task<void> finish(bool was_kept) override {
      ++(was_kept ? owner_.kept : owner_.dropped);
      co_return;
    }

   private:
    CountedObjects& owner_;
    const int change_;
  };
};

class AdmissionJoinTest : public ::testing::Test {
 protected:
  AdmissionJoinTest() {
    loop_.start();
    pump_.start();
    store_ = make("Thing", "things");
    admission_.counts = make("Count", "counts");
    environment_.start(objects_, *hub_, admission_);
    EXPECT_TRUE(run_on(pump_, hub_->start()).ok());
  }
  ~AdmissionJoinTest() override {
    store_.reset();
    admission_.counts.reset();
    environment_.stop();
    run_on(pump_, hub_->stop());
    hub_.reset();
    pump_.stop();
    loop_.stop();
  }

  std::shared_ptr<StandardStorage> make(const std::string& kind, const std::string& resource) {
    ResourceConfig config;
    config.kind = {"", "v1", kind};
    config.resource = resource;
    config.schema = &schema_;
    config.strategy = std::make_shared<TestStrategy>();
    return std::move(*make_store(environment_, std::move(config)));
  }
  static void prepare(RequestContext& context) {
    context.info.ns = "default";
    context.info.resource = "things";
    context.info.is_resource_request = true;
  }
  Result<ObjectRef> create(const std::string& name, WriteOptions options = {}) {
    RequestContext context;
    prepare(context);
    Object object = thing(name, context);
    return run_on(loop_, store_->create(context, object, std::move(options)));
  }
  static Object thing(const std::string& name, RequestContext& context) {
    return json::parse(R"({"kind":"Thing","apiVersion":"v1","metadata":{"name":")" + name + R"("},"data":{"n":0}})", context.arena())
        .as_object();
  }
  static Task<void> create_one(StandardStorage& store, std::string name, std::atomic<int>& created) {
    RequestContext context;
    prepare(context);
    Object object = thing(name, context);
    auto creating = store.create(context, object, WriteOptions());
    auto made = co_await std::move(creating);
    if (made.ok()) ++created;
  }
  static Task<void> remove_one(StandardStorage& store, std::string name) {
    RequestContext context;
    prepare(context);
    auto removing = store.remove(context, std::move(name), DeleteOptions());
    const auto removed = co_await std::move(removing);
    EXPECT_TRUE(removed.ok()) << removed.status().message();
  }
  static Task<void> close_and_wait(TaskGroup& group) {
    group.close();
    co_await group.wait_all();
  }
  std::int64_t counted() {
    RequestContext context;
    prepare(context);
    const auto found = run_on(loop_, admission_.counts->get(context, "count", {}));
    return found.ok() ? get_int_path(json::parse((*found)->json().view()).as_object(), "data.n").value_or(-1) : 0;
  }
  std::int64_t listed() {
    RequestContext context;
    prepare(context);
    auto found = run_on(loop_, store_->list(context, {}));
    EXPECT_TRUE(found.ok());
    std::int64_t count = 0;
    EXPECT_TRUE(run_on(loop_, for_each(*found->items, [&count](const ObjectEntry&) { ++count; })).ok());
    return count;
  }
  void expect_right(std::int64_t things) {
    EXPECT_EQ(listed(), things);
    EXPECT_EQ(counted(), things);
    EXPECT_EQ(admission_.begun, admission_.kept + admission_.dropped) << "each ends once";
  }

  IoLoop loop_{"requests"}, pump_{"pump"};
  OrderingSchema schema_;
  CountedObjects admission_;
  BusyStorage storage_;
  ObjectStorage objects_{storage_};
  std::unique_ptr<CacheHub> hub_ = make_cache_hub(objects_, pump_);
  StoreEnvironment environment_;
  std::shared_ptr<StandardStorage> store_;
};

TEST_F(AdmissionJoinTest, AWriteWhoseTimeIsOverIsNotCommitted) {
  admission_.late = true;
  const auto made = create("late");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), 504);
  expect_right(0);
}

TEST_F(AdmissionJoinTest, TheCountIsNeverOffUnderConcurrency) {
  admission_.limit = 20;
  std::atomic<int> created{0};
  LoggedTaskGroup group;
  for (int i = 0; i < 32; ++i) group.spawn(loop_, "create", create_one(*store_, "n" + std::to_string(i), created));
  run_on(loop_, close_and_wait(group));
  EXPECT_EQ(created, 20);
  EXPECT_GT(storage_.lost, 0) << "they met";
  expect_right(20);
}

TEST_F(AdmissionJoinTest, CreatesAndDeletesMeet) {
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(create("old" + std::to_string(i)).ok());
  std::atomic<int> created{0};
  LoggedTaskGroup group;
  for (int i = 0; i < 16; ++i) {
    group.spawn(loop_, "create", create_one(*store_, "new" + std::to_string(i), created));
    group.spawn(loop_, "remove", remove_one(*store_, "old" + std::to_string(i)));
  }
  run_on(loop_, close_and_wait(group));
  EXPECT_EQ(created, 16);
  expect_right(16);
}

TEST_F(AdmissionJoinTest, ACollectionIsCountedDown) {
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(create("n" + std::to_string(i)).ok());
  expect_right(40);
  RequestContext context;
  prepare(context);
  ASSERT_TRUE(run_on(loop_, store_->remove_collection(context, {}, {})).ok());
  expect_right(0);
}

TEST_F(AdmissionJoinTest, AWriteThatFailsLaterCountsNothing) {
  ASSERT_TRUE(create("a").ok());
  EXPECT_EQ(create("a").status().reason(), Reason::kAlreadyExists);
  expect_right(1);
  admission_.refusal = Status(Reason::kForbidden, "no");
  const int begun = admission_.begun;
  EXPECT_EQ(create("b").status().reason(), Reason::kForbidden);
  EXPECT_EQ(admission_.begun, begun) << "a refused write joins nothing";
  expect_right(1);
}

TEST_F(AdmissionJoinTest, ADryRunCountsNothing) {
  WriteOptions options;
  options.dry_run = true;
  ASSERT_TRUE(create("a", options).ok());
  ASSERT_TRUE(create("b").ok());
  RequestContext context;
  prepare(context);
  DeleteOptions removal;
  removal.dry_run = true;
  ASSERT_TRUE(run_on(loop_, store_->remove(context, "b", removal)).ok());
  ASSERT_TRUE(run_on(loop_, store_->remove_collection(context, removal, {})).ok());
  EXPECT_EQ(admission_.begun, 1);
  expect_right(1);
}

TEST_F(AdmissionJoinTest, AMarkedObjectCountsUntilItsLastFinalizerIsRemoved) {
  ASSERT_TRUE(create("a").ok());
  RequestContext context;
  prepare(context);
  Change held([](Object& object) { ObjectMeta(object).set_finalizers({"example.com/x"}); });
  ASSERT_TRUE(run_on(loop_, store_->update(context, "a", held, {}, false)).ok());
  ASSERT_TRUE(run_on(loop_, store_->remove(context, "a", {})).ok());
  expect_right(1);
  Change released([](Object& object) { ObjectMeta(object).set_finalizers({}); });
  ASSERT_TRUE(run_on(loop_, store_->update(context, "a", released, {}, false)).ok());
  expect_right(0);
  // A deletion that began with an entry from before the update is repeated with the stored object, and admitted again.
  auto& seen = admission_.seen;
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen, (std::vector<std::string>{"create v1", "delete v1"}));
}

TEST_F(AdmissionJoinTest, AStaleJoinBeginsAgain) {
  admission_.stale = 2;
  ASSERT_TRUE(create("a").ok());
  EXPECT_EQ(admission_.begun, 3);
  EXPECT_EQ(admission_.dropped, 2);
  expect_right(1);
}

}  // namespace
}  // namespace backplane::registry_test
