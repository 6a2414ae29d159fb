#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

class StoreUpdateTest : public StoreTest {
 protected:
  void make_with_one(std::shared_ptr<TestStrategy> strategy, const std::string& metadata = R"("name":"a")", const std::string& rest = "") {
    make(std::move(strategy));
    const auto created = create(thing(metadata, rest));
    ASSERT_TRUE(created.ok()) << created.status().message();
    cache().catch_up();
    admission.asked.clear();
  }
  // Writes the object as another client would.
  void meanwhile(const std::string& name, const std::string& member, const std::string& value) {
    Object object = json::parse(storage.data.at(key(name)).value.view()).as_object();
    ensure_object(object, "data")[member] = value;
    storage.put(key(name), to_json(object));
  }
};

TEST_F(StoreUpdateTest, AppliesTheStrategysDefaultsToCreatesAndUpdates) {
  auto strategy = std::make_shared<TestStrategy>();
  strategy->default_colour = "red";
  make(strategy);
  const auto created = create(thing(R"("name":"a")"));
  ASSERT_TRUE(created.ok()) << created.status().message();
  EXPECT_EQ(get_string_path(parsed(*created), "data.colour"), "red");
  Replacement blue(thing(R"("name":"a")", R"(,"data":{"colour":"blue"})"));
  ASSERT_TRUE(update("a", blue).ok());
  EXPECT_EQ(get_string_path(parsed(*get("a")), "data.colour"), "blue");
  Replacement none(thing(R"("name":"a")"));
  ASSERT_TRUE(update("a", none).ok());
  EXPECT_EQ(get_string_path(parsed(*get("a")), "data.colour"), "red");
}

TEST_F(StoreUpdateTest, ReplacesTheObjectAndKeepsWhatNoUpdateMayChange) {
  make_with_one(std::make_shared<TestStrategy>());
  const Object before = parsed(*get("a"));
  Replacement info(thing(R"("name":"a","creationTimestamp":"2001-01-01T00:00:00Z","generation":9)", R"(,"data":{"k":"2"})"));
  const auto updated = update("a", info);
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  const Object after = parsed(updated->object);
  EXPECT_EQ(meta_text(after, "uid"), meta_text(before, "uid"));
  EXPECT_EQ(meta_text(after, "creationTimestamp"), meta_text(before, "creationTimestamp"));
  EXPECT_EQ(find_path(after, "metadata.generation"), nullptr);
  EXPECT_EQ(meta_text(after, "resourceVersion"), "2");
  EXPECT_EQ(get_string_path(after, "data.k"), "2");
  EXPECT_EQ(admission.asked, (std::vector<std::string>{"admit update Thing default/a", "validate update Thing default/a"}));
}

// kube-apiserver writes its endpoint leases without a name.
TEST_F(StoreUpdateTest, AnObjectStoredWithoutANameHasTheNameOfItsKey) {
  make_with_one(std::make_shared<TestStrategy>());
  storage.put(key("a"), R"({"kind":"Thing","apiVersion":"example.com/v1","metadata":{"namespace":"default"}})");
  Replacement info(thing(R"("name":"a")", R"(,"data":{"k":"2"})"));
  const auto updated = update("a", info);
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(meta_text(parsed(updated->object), "name"), "a");
}

TEST_F(StoreUpdateTest, AStaleResourceVersionConflicts) {
  make_with_one(std::make_shared<TestStrategy>());
  meanwhile("a", "x", "1");
  Replacement info(thing(R"("name":"a","resourceVersion":"1")"));
  const auto refused = update("a", info);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 409);
  EXPECT_EQ(refused.status().message(),
            R"(Operation cannot be fulfilled on things.example.com "a": the object has been modified; please apply your changes to the )"
            "latest version and try again");
}

// A retry would be computed from a state that already includes the write.
TEST_F(StoreUpdateTest, AWriteWithAnUnknownOutcomeIsNotRepeated) {
  make_with_one(std::make_shared<TestStrategy>());
  Change one_more([](Object& object) {
    Object& data = ensure_object(object, "data");
    data["k"] = std::string(get_string(data, "k")) + "x";
  });
  storage.lose_next_response = true;
  const auto updated = update("a", one_more);
  ASSERT_FALSE(updated.ok());
  EXPECT_EQ(updated.status().message(), "the connection broke");
  EXPECT_EQ(one_more.calls, 1);
  cache().catch_up();
  EXPECT_EQ(get_string_path(parsed(*get("a")), "data.k"), "x");
}

TEST_F(StoreUpdateTest, AVersionNewerThanTheCacheIsJudgedByTheBackend) {
  make_with_one(std::make_shared<TestStrategy>());
  meanwhile("a", "x", "1");
  Replacement info(thing(R"("name":"a","resourceVersion":"2")", R"(,"data":{"k":"3"})"));
  const auto updated = update("a", info);
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(updated->object->revision, 3);
}

TEST_F(StoreUpdateTest, APatchThatLosesARaceIsComputedAgainFromTheNewObject) {
  make_with_one(std::make_shared<TestStrategy>(), R"("name":"a")", R"(,"data":{"k":"1"})");
  storage.before_next_txn = [this](const TxnRequest&) { meanwhile("a", "other", "theirs"); };
  Change info([](Object& object) { ensure_object(object, "data")["k"] = "mine"; });
  const auto updated = update("a", info, {}, "patch");
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(info.calls, 2);
  EXPECT_EQ(get_string_path(parsed(updated->object), "data.k"), "mine");
  EXPECT_EQ(get_string_path(parsed(updated->object), "data.other"), "theirs");
}

TEST_F(StoreUpdateTest, ALostTryTakesItsWarningsBack) {
  make_with_one(std::make_shared<TestStrategy>());
  storage.before_next_txn = [this](const TxnRequest&) { meanwhile("a", "other", "theirs"); };
  Change info([](Object& object) {
    const bool theirs = get_string_path(object, "data.other") == "theirs";
    ensure_object(object, "data")["warn"] = theirs ? "of the second" : "of the first";
  });
  ASSERT_TRUE(update("a", info, {}, "patch").ok());
  EXPECT_EQ(info.calls, 2);
  EXPECT_EQ(context->warnings(), std::vector<std::string>{"of the second"});
}

TEST_F(StoreUpdateTest, AWriteThatChangesNothingKeepsTheResourceVersion) {
  make_with_one(std::make_shared<TestStrategy>(), R"("name":"a")", R"(,"data":{"k":"1"})");
  const int before = storage.transactions;
  Replacement info(thing(R"("name":"a")", R"(,"data":{"k":"1"})"));
  const auto updated = update("a", info);
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(updated->object->revision, 1);
  EXPECT_EQ(storage.transactions, before);
}

TEST_F(StoreUpdateTest, NoChangeAgainstAStaleCacheIsStillAChange) {
  make_with_one(std::make_shared<TestStrategy>(), R"("name":"a")", R"(,"data":{"k":"1"})");
  meanwhile("a", "k", "2");
  Replacement info(thing(R"("name":"a")", R"(,"data":{"k":"1"})"));
  const auto updated = update("a", info);
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(updated->object->revision, 3);
  EXPECT_EQ(get_string_path(parsed(updated->object), "data.k"), "1");
}

// A dry run has no commit that would detect a stale state, so it reads the newest object first.
TEST_F(StoreUpdateTest, ADryRunIsJudgedByTheNewestObject) {
  make_with_one(std::make_shared<TestStrategy>(), R"("name":"a")", R"(,"data":{"k":"1"})");
  meanwhile("a", "k", "2");
  Change labelled([](Object& changed) { ObjectMeta(changed).mutable_labels()["l"] = "1"; });
  WriteOptions options;
  options.dry_run = true;
  const auto tried = update("a", labelled, options);
  ASSERT_TRUE(tried.ok()) << tried.status().message();
  EXPECT_EQ(get_string_path(parsed(tried->object), "data.k"), "2");
}

TEST_F(StoreUpdateTest, AnUnconditionalUpdateIsRefusedWhereTheKindDoesNotAllowIt) {
  auto strategy = std::make_shared<TestStrategy>(KindFacts{.unconditional_update = false});
  make_with_one(strategy);
  Replacement info(thing(R"("name":"a")"));
  const auto refused = update("a", info);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 422);
  EXPECT_EQ(refused.status().message(),
            R"(things.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update)");
}

TEST_F(StoreUpdateTest, AnUnreadableResourceVersionIsAnswered500) {
  make_with_one(std::make_shared<TestStrategy>());
  Replacement info(thing(R"("name":"a","resourceVersion":"nonsense")"));
  const auto refused = update("a", info);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 500);
  EXPECT_EQ(refused.status().message(), R"(strconv.ParseUint: parsing "nonsense": invalid syntax)");
}

TEST_F(StoreUpdateTest, AForeignUidInThePreconditionConflictsAndNamesTheKey) {
  make_with_one(std::make_shared<TestStrategy>());
  const std::string uid(meta_text(parsed(*get("a")), "uid"));
  Preconditions wanted;
  wanted.uid = "other";
  Replacement info(thing(R"("name":"a","uid":"other")"), wanted);
  const auto refused = update("a", info);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            R"(Operation cannot be fulfilled on things.example.com "a": StorageError: invalid object, Code: 4, Key: )"
            "/registry/things/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in "
            "object meta: " +
                uid);
  WriteOptions options;
  options.dry_run = true;
  EXPECT_NE(update("a", info, options).status().message().find("Key: /things/default/a,"), std::string::npos);
}

TEST_F(StoreUpdateTest, AMissingObjectIsNotFoundUnlessTheKindMayBeCreatedSo) {
  Replacement info(thing(R"("name":"a")"));
  make(std::make_shared<TestStrategy>());
  EXPECT_EQ(update("a", info).status().message(), R"(things.example.com "a" not found)");
  make(std::make_shared<TestStrategy>(KindFacts{.create_on_update = true}));
  const auto created = update("a", info);
  ASSERT_TRUE(created.ok()) << created.status().message();
  EXPECT_TRUE(created->created);
  EXPECT_EQ(admission.asked.back(), "validate create Thing default/a");
}

TEST_F(StoreUpdateTest, AnUpdateThatCreatesAsksWhetherItMayBetweenTheTwoStepsOfAdmission) {
  auto strategy = std::make_shared<TestStrategy>(KindFacts{.create_on_update = true});
  make(strategy);
  Replacement info(thing(R"("name":"a")"));
  Status answer = forbidden("example.com", "things", "a", "not you");
  info.on_create = [&] {
    admission.asked.emplace_back("may create");
    return answer;
  };
  const std::vector<std::string> refused = {"admit create Thing default/a", "may create"};
  EXPECT_EQ(update("a", info).status().message(), R"(things.example.com "a" is forbidden: not you)");
  EXPECT_EQ(admission.asked, refused);
  EXPECT_TRUE(storage.data.empty());

  answer = Status();
  admission.asked.clear();
  ASSERT_TRUE(update("a", info)->created);
  EXPECT_EQ(admission.asked, (std::vector<std::string>{"admit create Thing default/a", "may create", "validate create Thing default/a"}));
  admission.asked.clear();
  ASSERT_TRUE(update("a", info).ok());
  EXPECT_EQ(admission.asked, (std::vector<std::string>{"admit update Thing default/a", "validate update Thing default/a"}))
      << "the object exists, so no create is authorized";
}

TEST_F(StoreUpdateTest, ValidationPrecedesTheCheckOfTheRightToCreate) {
  make(std::make_shared<TestStrategy>(KindFacts{.create_on_update = true}));
  Replacement info(thing(R"("name":"a","labels":{"":"x"})"));
  info.on_create = [] { return forbidden("example.com", "things", "a", "not you"); };
  EXPECT_EQ(update("a", info).status().reason(), Reason::kInvalid);
}

TEST_F(StoreUpdateTest, BothStepsOfAdmissionSeeTheSameAttributes) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("generateName":"a-")")).ok());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  Replacement info(thing(R"("name":"a")", R"(,"spec":{"n":2})"));
  ASSERT_TRUE(update("a", info).ok());
  ASSERT_EQ(admission.shown.size(), 6u);
  for (std::size_t i = 0; i < admission.shown.size(); i += 2) EXPECT_EQ(admission.shown[i], admission.shown[i + 1]) << admission.asked[i];
}

TEST_F(StoreUpdateTest, SpecChangesRaiseTheGenerationAndKeepTheStatus) {
  auto strategy = std::make_shared<TestStrategy>(KindFacts{.generation = true, .status = true});
  make_with_one(strategy, R"("name":"a")", R"(,"spec":{"n":1})");
  Replacement same(thing(R"("name":"a","labels":{"x":"y"})", R"(,"spec":{"n":1,"l":[]},"status":{"phase":"Hacked"})"));
  auto updated = update("a", same);
  ASSERT_TRUE(updated.ok());
  EXPECT_EQ(get_int_path(parsed(updated->object), "metadata.generation"), 1);
  EXPECT_EQ(find(parsed(updated->object), "status"), nullptr);
  Replacement changed(thing(R"("name":"a")", R"(,"spec":{"n":2})"));
  updated = update("a", changed);
  ASSERT_TRUE(updated.ok());
  EXPECT_EQ(get_int_path(parsed(updated->object), "metadata.generation"), 2);
}

TEST_F(StoreUpdateTest, ADryRunShowsTheResultAtTheOldVersion) {
  make_with_one(std::make_shared<TestStrategy>(), R"("name":"a")", R"(,"data":{"k":"1"})");
  WriteOptions options;
  options.dry_run = true;
  Replacement info(thing(R"("name":"a")", R"(,"data":{"k":"2"})"));
  const auto updated = update("a", info, options);
  ASSERT_TRUE(updated.ok());
  EXPECT_EQ(meta_text(parsed(updated->object), "resourceVersion"), "1");
  EXPECT_EQ(get_string_path(parsed(updated->object), "data.k"), "2");
  EXPECT_EQ(get_string_path(parsed(*get("a")), "data.k"), "1");
}

TEST_F(StoreUpdateTest, RemovingTheLastFinalizerOfADeletedObjectRemovesIt) {
  make_with_one(std::make_shared<TestStrategy>(), R"("name":"a","finalizers":["example.com/x"])");
  ASSERT_TRUE(remove("a").ok());
  Change more([](Object& object) { ObjectMeta(object).set_finalizers({"example.com/x", "example.com/y"}); });
  const auto refused = update("a", more);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            R"(Thing.example.com "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being )"
            R"(deleted, found new finalizers []string{"example.com/y"})");
  ASSERT_NE(refused.status().details(), nullptr);
  EXPECT_EQ(refused.status().details()->causes.size(), 2u);
  Change none([](Object& object) { ObjectMeta(object).set_finalizers({}); });
  const auto finished = update("a", none);
  ASSERT_TRUE(finished.ok()) << finished.status().message();
  EXPECT_NE(meta_text(parsed(finished->object), "deletionTimestamp"), "");
  EXPECT_EQ(get("a").status().reason(), Reason::kNotFound);
}

TEST_F(StoreUpdateTest, ASubresourceUpdatesThroughItsOwnStrategy) {
  struct StatusStrategy final : TestStrategy {
    using TestStrategy::TestStrategy;
    void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
      object.erase("spec");
      if (const Value* spec = find(old, "spec")) object["spec"] = *spec;
    }
  };
  auto strategy = std::make_shared<TestStrategy>(KindFacts{.status = true});
  make_with_one(strategy, R"("name":"a")", R"(,"spec":{"n":1})");
  auto status_strategy = std::make_shared<StatusStrategy>(KindFacts{.status = true});
  auto status = make_subresource_store(store, status_strategy);
  ASSERT_TRUE(status.ok());
  Change info([](Object& object) {
    object["status"] = {{"phase", "Ok"}};
    object["spec"] = {{"n", 7}};
  });
  context = request("patch");
  auto* updater = dynamic_cast<Updater*>(status->get());
  ASSERT_NE(updater, nullptr);
  const auto updated = run(updater->update(*context, "a", info, {}, false));
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(get_string_path(parsed(updated->object), "status.phase"), "Ok");
  EXPECT_EQ(get_int_path(parsed(updated->object), "spec.n"), 1);
}

TEST_F(StoreUpdateTest, ASubresourceIsPrintedUnlessItsStrategySaysNo) {
  make(std::make_shared<TestStrategy>());
  const auto prints = [this](std::shared_ptr<const Strategy> strategy) {
    return (*make_subresource_store(store, std::move(strategy)))->subresource_table() != nullptr;
  };
  EXPECT_TRUE(prints(std::make_shared<TestStrategy>()));
  EXPECT_FALSE(prints(std::make_shared<TestStrategy>(KindFacts{.has_tables = false})));
}

}  // namespace
}  // namespace backplane::registry_test
