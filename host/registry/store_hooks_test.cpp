// The calls of begin, join and finish of the hooks for each write, and the changes that are committed with it.
#include <deque>
#include <stdexcept>

#include "backplane/rest/store_hooks.hpp"
#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

Object parsed(const ObjectRef& entry) { return json::parse(entry->json().view()).as_object(); }

// Records the calls. Creates an object in another store, a companion, together with each object, and removes it with the object.
class Recorder final : public StoreHooks {
 public:
  mutable std::vector<std::string> calls;
  std::shared_ptr<StandardStorage> companions;  // the store of the companions; null: join() adds nothing
  mutable std::deque<std::string> names;        // the names of companions, one for each begin; the last one is used repeatedly
  Status refusal;

  class Write final : public BegunWrite {
   public:
    Write(const Recorder& hooks, std::string companion, bool removes)
        : hooks_(hooks), companion_(std::move(companion)), removes_(removes) {}
    Task<Result<bool>> join(RequestContext& context, StoreTransaction& transaction) override {
      hooks_.calls.push_back(transaction.again() ? "join again" : "join");
      if (hooks_.companions == nullptr) co_return true;
      GetOptions options;
      if (!transaction.again() && !removes_) options.resource_version = "0";
      RequestContext own;
      own.info.ns = context.info.ns;
      std::string name = companion_;
      auto found = co_await hooks_.companions->get(own, std::move(name), std::move(options));
      if (removes_) {
        if (!found.ok() || !get_string_path(parsed(*found), "data.of").empty()) co_return true;  // removed, or another object's companion
        Status removed = transaction.remove(*hooks_.companions, *found);
        if (!removed.ok()) co_return removed;
        co_return true;
      }
      if (found.ok()) co_return false;
      Object object = json::parse(R"({"kind":"Mate","apiVersion":"example.com/v1","metadata":{"name":")" + companion_ + "\"}}").as_object();
      Status joined = transaction.create(*hooks_.companions, context.info.ns, companion_, std::move(object));
      if (!joined.ok()) co_return joined;
      co_return true;
    }
    Task<void> finish(bool kept) override {
      hooks_.calls.push_back(kept ? "kept" : "not kept");
      co_return;
    }

   private:
    const Recorder& hooks_;
    std::string companion_;
    bool removes_;
  };

  Task<Result<Begun>> begin_create(RequestContext&, Object& object, bool dry_run) const override {
    co_return begin(dry_run ? "begin dry create" : "begin create", object);
  }
  Task<Result<Begun>> begin_update(RequestContext&, Object& object, const Object&, bool dry_run) const override {
    co_return begin(dry_run ? "begin dry update" : "begin update", object);
  }
  Task<Result<Begun>> begin_delete(RequestContext&, const Object& old) const override {
    calls.push_back("begin delete " + std::string(get_string_path(old, "data.mate")));
    co_return Begun(std::make_unique<Write>(*this, std::string(get_string_path(old, "data.mate")), true));
  }
  void after_create(RequestContext&, const ObjectRef& stored) const override {
    calls.push_back("after create " + std::string(stored->name()));
  }
  void after_update(RequestContext&, const ObjectRef& stored) const override {
    calls.push_back("after update " + std::string(stored->name()));
  }
  void after_delete(RequestContext&, const ObjectRef&) const override { calls.push_back("after delete"); }

 private:
  Result<Begun> begin(std::string what, Object& object) const {
    calls.push_back(std::move(what));
    if (!refusal.ok()) return refusal;
    std::string name = names.empty() ? "mate" : names.front();
    if (names.size() > 1) names.pop_front();
    if (companions != nullptr) ensure_object(object, "data")["mate"] = name;
    return Begun(std::make_unique<Write>(*this, std::move(name), false));
  }
};

class StoreHooksTest : public StoreTest {
 protected:
  using Calls = std::vector<std::string>;
  // The key of an object of `store`. The cache() of the fixture may be that of the companions.
  std::string key(const std::string& name) { return "/registry/things/default/" + name; }

  void make_hooked(bool with_companions = false) {
    hooks = std::make_shared<Recorder>();
    ResourceConfig config;
    config.kind = {"example.com", "v1", "Thing"};
    config.resource = "things";
    config.schema = &shape;
    config.strategy = strategy;
    config.hooks = hooks;
    auto made = make_store(environment, std::move(config));
    ASSERT_TRUE(made.ok());
    store = std::move(*made);
    if (with_companions) {
      ResourceConfig mates;
      mates.kind = {"example.com", "v1", "Mate"};
      mates.resource = "mates";
      mates.schema = &shape;
      mates.strategy = std::make_shared<TestStrategy>();
      auto other = make_store(environment, std::move(mates));
      ASSERT_TRUE(other.ok());
      hooks->companions = *other;
    }
    environment.start(objects, hub, admission);
  }
  ~StoreHooksTest() override {
    if (hooks != nullptr) hooks->companions.reset();
  }
  Calls calls() { return std::exchange(hooks->calls, {}); }
  static std::string mate_key(const std::string& name) { return "/registry/mates/default/" + name; }

  OrderingSchema shape;
  std::shared_ptr<TestStrategy> strategy = std::make_shared<TestStrategy>();
  std::shared_ptr<Recorder> hooks;
};

TEST_F(StoreHooksTest, EveryWriteBeginsAndFinishes) {
  make_hooked();
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  EXPECT_EQ(calls(), (Calls{"begin create", "join", "kept", "after create a"}));
  Change change([](Object& object) { ensure_object(object, "data")["n"] = 1; });
  ASSERT_TRUE(update("a", change).ok());
  EXPECT_EQ(calls(), (Calls{"begin update", "join", "kept", "after update a"}));
  ASSERT_TRUE(remove("a").ok());
  EXPECT_EQ(calls(), (Calls{"begin delete ", "join", "kept", "after delete"}));
}

TEST_F(StoreHooksTest, AMutatingAdmissionPluginIsHeardBeforeTheHooks) {
  make_hooked();
  admission.mutate = [](AdmissionAttributes& attributes) { ensure_object(*attributes.object, "data")["mate"] = "from admission"; };
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  admission.mutate = nullptr;
  ASSERT_TRUE(remove("a").ok());
  EXPECT_EQ(hooks->calls[4], "begin delete from admission");
}

TEST_F(StoreHooksTest, RefusedWritesAndTrialsAreNotKept) {
  make_hooked();
  EXPECT_FALSE(create(thing(R"("name":"a")", R"(,"data":{"bad":"yes"})")).ok());
  EXPECT_EQ(calls(), (Calls{"begin create", "not kept"}));
  WriteOptions trial;
  trial.dry_run = true;
  ASSERT_TRUE(create(thing(R"("name":"a")"), trial).ok());
  EXPECT_EQ(calls(), (Calls{"begin dry create", "not kept"}));
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  EXPECT_FALSE(create(thing(R"("name":"a")")).ok());
  EXPECT_EQ(calls(), (Calls{"begin create", "join", "kept", "after create a", "begin create", "join", "not kept"}));
  hooks->refusal = Status(Reason::kInvalid, "no");
  EXPECT_EQ(create(thing(R"("name":"b")")).status().message(), "no");
  EXPECT_EQ(calls(), Calls{"begin create"});
}

TEST_F(StoreHooksTest, ALostRaceBeginsAnew) {
  make_hooked();
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  cache().catch_up();
  (void)calls();
  storage.before_next_txn = [this](const TxnRequest&) {
    storage.put(key("a"), R"({"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"a","namespace":"default"},"data":{"x":1}})");
  };
  Change change([](Object& object) { ensure_object(object, "data")["n"] = 1; });
  ASSERT_TRUE(update("a", change).ok());
  EXPECT_EQ(calls(), (Calls{"begin update", "join", "not kept", "begin update", "join", "kept", "after update a"}));
}

TEST_F(StoreHooksTest, AnUpdateThatTakesTheLastFinalizerIsADeletion) {
  make_hooked(true);
  hooks->names = {"mate"};
  ASSERT_TRUE(create(thing(R"("name":"a","finalizers":["example.com/x"])")).ok());
  ASSERT_TRUE(storage.data.contains(mate_key("mate")));
  ASSERT_TRUE(remove("a").ok());
  (void)calls();
  Change released([](Object& object) { ObjectMeta(object).set_finalizers({}); });
  const auto updated = update("a", released);
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_TRUE(updated->deleted);
  EXPECT_EQ(calls(), (Calls{"begin update", "not kept", "begin delete mate", "join", "kept", "after delete"}));
  EXPECT_TRUE(storage.data.empty()) << "the companion goes with the object";
}

TEST_F(StoreHooksTest, CompanionsAreCommittedWithTheObject) {
  make_hooked(true);
  const int before = storage.transactions;
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  EXPECT_EQ(storage.transactions, before + 1);
  EXPECT_EQ(storage.data.count(mate_key("mate")), 1u);
  EXPECT_EQ(storage.data.count(key("a")), 1u);
  ASSERT_TRUE(remove("a").ok());
  EXPECT_EQ(storage.transactions, before + 2);
  EXPECT_TRUE(storage.data.empty());
}

TEST_F(StoreHooksTest, ACompanionOfAnotherWriterIsChosenAgain) {
  make_hooked(true);
  hooks->names = {"taken", "free"};
  storage.before_next_txn = [this](const TxnRequest&) {
    storage.put(mate_key("taken"), R"({"kind":"Mate","apiVersion":"example.com/v1","metadata":{"name":"taken","namespace":"default"}})");
  };
  const auto created = create(thing(R"("name":"a")"));
  ASSERT_TRUE(created.ok()) << created.status().message();
  EXPECT_EQ(get_string_path(parsed(*created), "data.mate"), "free");
  EXPECT_EQ(calls(), (Calls{"begin create", "join", "join again", "not kept", "begin create", "join", "kept", "after create a"}));
  EXPECT_EQ(storage.data.count(mate_key("free")), 1u);
}

TEST_F(StoreHooksTest, ACompanionThatWasGivenAwayMeanwhileStays) {
  make_hooked(true);
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  storage.before_next_txn = [this](const TxnRequest&) {
    storage.put(mate_key("mate"),
                R"({"kind":"Mate","apiVersion":"example.com/v1","metadata":{"name":"mate","namespace":"default"},"data":{"of":"b"}})");
  };
  ASSERT_TRUE(remove("a").ok());
  const Calls seen = calls();
  EXPECT_NE(std::find(seen.begin(), seen.end(), "join again"), seen.end()) << "the transaction must have noticed";
  EXPECT_EQ(storage.data.count(mate_key("mate")), 1u);
  EXPECT_EQ(storage.data.count(key("a")), 0u);
}

TEST_F(StoreHooksTest, BackgroundWorkHasTransactionsOfItsOwn) {
  make_hooked(true);
  StandardStorage* const transactor = store.get();
  ASSERT_NE(transactor, nullptr);
  context = request("update");
  Recorder::Write makes(*hooks, "mate", false);
  auto made = run(transactor->transact(*context, makes));
  ASSERT_TRUE(made.ok() && *made);
  EXPECT_EQ(storage.data.count(mate_key("mate")), 1u);
  made = run(transactor->transact(*context, makes));
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(*made) << "it is there already";
  Recorder::Write removes(*hooks, "mate", true);
  ASSERT_TRUE(run(transactor->transact(*context, removes)).ok());
  EXPECT_TRUE(storage.data.empty());
}

TEST_F(StoreHooksTest, UpdatesThatCreateAreCreations) {
  strategy = std::make_shared<TestStrategy>(KindFacts{.create_on_update = true});
  make_hooked(true);
  Replacement wanted(thing(R"("name":"a")"));
  const auto made = update("a", wanted);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_TRUE(made->created);
  EXPECT_EQ(calls(), (Calls{"begin create", "join", "kept", "after create a"}));
  EXPECT_EQ(storage.data.count(mate_key("mate")), 1u);
}

// Counts the concurrent deletes.
class Counting final : public StoreHooks {
 public:
  mutable int now = 0;
  mutable int most = 0;
  bool throws = false;
  Task<Result<Begun>> begin_delete(RequestContext&, const Object&) const override {
    most = std::max(most, ++now);
    co_await sleep_for(std::chrono::milliseconds(2));
    --now;
    if (throws) throw std::runtime_error("the hook has had enough");
    co_return Begun();
  }
};

class StoreCollectionTest : public StoreTest {
 protected:
  void make_counted(StoreSettings settings) {
    ResourceConfig config;
    config.kind = {"example.com", "v1", "Thing"};
    config.resource = "things";
    config.schema = &shape;
    config.strategy = std::make_shared<TestStrategy>();
    config.hooks = counting;
    auto made = make_store(environment, std::move(config));
    ASSERT_TRUE(made.ok());
    store = std::move(*made);
    environment.start(objects, hub, admission, {}, settings);
    for (int i = 0; i < 150; ++i) ASSERT_TRUE(create(thing(R"("name":"n)" + std::to_string(i) + "\"")).ok());
  }
  Result<ListResult> remove_all() {
    context = request("deletecollection");
    return run(store->remove_collection(*context, {}, {}));
  }
  OrderingSchema shape;
  std::shared_ptr<Counting> counting = std::make_shared<Counting>();
};

TEST_F(StoreCollectionTest, TheFlagSetsTheNumberOfWorkers) {
  StoreSettings settings;
  settings.delete_collection_workers = 2;
  make_counted(settings);
  ASSERT_TRUE(remove_all().ok());
  EXPECT_EQ(counting->most, 128);
  EXPECT_TRUE(storage.data.empty());
}

// Regression: sequential deletes waited for one disk write each, and 64,000 objects took longer than a request's minute.
TEST_F(StoreCollectionTest, OneWorkerIsTheDefaultAndItsDeletesWaitForTheStoreTogether) {
  make_counted({});
  ASSERT_TRUE(remove_all().ok());
  EXPECT_EQ(counting->most, 64);
  EXPECT_TRUE(storage.data.empty());
}

TEST_F(StoreCollectionTest, AnExceptionInOneDeleteEndsTheRequestAndNotTheProcess) {
  counting->throws = true;
  StoreSettings settings;
  settings.delete_collection_workers = 4;
  make_counted(settings);
  const auto removed = remove_all();
  ASSERT_FALSE(removed.ok());
  EXPECT_EQ(removed.status().code(), 500);
  EXPECT_NE(removed.status().message().find("the hook has had enough"), std::string::npos) << removed.status().message();
}

TEST_F(StoreCollectionTest, WithoutAGarbageCollectorNoFinalizerIsAdded) {
  StoreSettings settings;
  settings.garbage_collection = false;
  make_counted(settings);
  DeleteOptions orphan;
  orphan.propagation_policy = "Orphan";
  const auto removed = remove("n0", orphan);
  ASSERT_TRUE(removed.ok());
  EXPECT_TRUE(removed->deleted) << "the orphan finalizer would never be taken away";
}

TEST_F(StoreTest, ObjectsThatVanishShareALease) {
  ResourceConfig config;
  config.kind = {"example.com", "v1", "Thing"};
  config.resource = "things";
  OrderingSchema shape;
  config.schema = &shape;
  config.strategy = std::make_shared<TestStrategy>();
  config.time_to_live = std::chrono::hours(1);
  auto made = make_store(environment, std::move(config));
  ASSERT_TRUE(made.ok());
  store = std::move(*made);
  environment.start(objects, hub, admission);
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  ASSERT_TRUE(create(thing(R"("name":"b")")).ok());
  Change change([](Object& object) { ensure_object(object, "data")["n"] = 1; });
  ASSERT_TRUE(update("a", change).ok());
  EXPECT_EQ(storage.granted, (std::vector<std::chrono::seconds>{std::chrono::seconds(3660)}));
  EXPECT_EQ(storage.data.at(key("a")).lease, 1);
  EXPECT_EQ(storage.data.at(key("b")).lease, 1);
  store.reset();
}

}  // namespace
}  // namespace backplane::registry_test
