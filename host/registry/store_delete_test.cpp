#include "backplane/types/json_reading.hpp"
#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

class StoreDeleteTest : public StoreTest {
 protected:
  static DeleteOptions policy(std::string name) {
    DeleteOptions options;
    options.propagation_policy = std::move(name);
    return options;
  }
  static DeleteOptions grace(std::int64_t seconds) {
    DeleteOptions options;
    options.grace_period_seconds = seconds;
    return options;
  }
};

TEST_F(StoreDeleteTest, RemovesAPlainObjectInOneTransaction) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  cache().catch_up();
  const int before = storage.transactions;
  const auto removed = remove("a");
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_TRUE(removed->deleted);
  EXPECT_FALSE(removed->return_object);
  EXPECT_EQ(storage.transactions, before + 1);
  EXPECT_TRUE(storage.data.empty());
  EXPECT_EQ(remove("a").status().message(), R"(things.example.com "a" not found)");
}

TEST_F(StoreDeleteTest, AnObjectThatThisVeryDeleteMayHaveRemovedIsNotSaidToBeMissing) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  cache().catch_up();
  storage.lose_next_response = true;
  EXPECT_EQ(remove("a").status().message(), "the connection broke");
}

TEST_F(StoreDeleteTest, AnObjectWithFinalizersIsOnlyMarked) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a","generation":3,"finalizers":["example.com/x"])")).ok());
  const auto marked = remove("a");
  ASSERT_TRUE(marked.ok());
  EXPECT_FALSE(marked->deleted);
  EXPECT_TRUE(marked->return_object);
  const Object object = parsed(marked->object);
  EXPECT_NE(meta_text(object, "deletionTimestamp"), "");
  EXPECT_EQ(get_int_path(object, "metadata.deletionGracePeriodSeconds"), 0);
  EXPECT_EQ(get_int_path(object, "metadata.generation"), 4);
  const Revision revision = marked->object->revision;
  const auto again = remove("a");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->return_object);
  EXPECT_EQ(again->object->revision, revision);
}

TEST_F(StoreDeleteTest, PropagationPoliciesBecomeFinalizers) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  auto marked = remove("a", policy("Orphan"));
  ASSERT_TRUE(marked.ok());
  EXPECT_FALSE(marked->deleted);
  EXPECT_EQ(to_json(*find_path(parsed(marked->object), "metadata.finalizers")), R"(["orphan"])");
  marked = remove("a", policy("Foreground"));
  ASSERT_TRUE(marked.ok());
  EXPECT_EQ(to_json(*find_path(parsed(marked->object), "metadata.finalizers")), R"(["foregroundDeletion"])");
  const auto removed = remove("a", policy("Background"));
  ASSERT_TRUE(removed.ok());
  EXPECT_TRUE(removed->deleted);
}

TEST_F(StoreDeleteTest, PreconditionsAreCheckedAgainstTheKind) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  const std::string uid(meta_text(parsed(*get("a")), "uid"));
  DeleteOptions options;
  options.preconditions.uid = "wrong";
  auto refused = remove("a", options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            R"(Operation cannot be fulfilled on Thing.example.com "a": the UID in the precondition (wrong) does )"
            "not match the UID in record (" +
                uid + "). The object might have been deleted and then recreated");
  options.preconditions.uid = uid;
  options.preconditions.resource_version = "99";
  refused = remove("a", options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(
      refused.status().message().find("the ResourceVersion in the precondition (99) does not match the ResourceVersion in record (1)"),
      std::string::npos);
  options.preconditions.resource_version = "1";
  EXPECT_TRUE(remove("a", options).ok());
}

TEST_F(StoreDeleteTest, AGracefulKindIsMarkedFirstAndTheGraceMayOnlyShrink) {
  auto strategy = std::make_shared<TestStrategy>(KindFacts{.returns_deleted = true});
  strategy->grace = 30;
  make(strategy);
  ASSERT_TRUE(create(thing(R"("name":"a","generation":1)")).ok());
  auto result = remove("a");
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->deleted);
  EXPECT_EQ(get_int_path(parsed(result->object), "metadata.deletionGracePeriodSeconds"), 30);
  EXPECT_EQ(get_int_path(parsed(result->object), "metadata.generation"), 2);
  result = remove("a", grace(60));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(get_int_path(parsed(result->object), "metadata.deletionGracePeriodSeconds"), 30);
  result = remove("a", grace(5));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(get_int_path(parsed(result->object), "metadata.deletionGracePeriodSeconds"), 5);
  EXPECT_EQ(get_int_path(parsed(result->object), "metadata.generation"), 2);
  result = remove("a", grace(-1));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(get_int_path(parsed(result->object), "metadata.deletionGracePeriodSeconds"), 1);
  result = remove("a", grace(0));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->deleted);
  EXPECT_TRUE(result->return_object);
  EXPECT_EQ(get_int_path(parsed(result->object), "metadata.deletionGracePeriodSeconds"), 0);
  EXPECT_TRUE(storage.data.empty());
}

TEST_F(StoreDeleteTest, AGracefulDeleteThatAnotherWriterCompletesSucceeds) {
  auto strategy = std::make_shared<TestStrategy>(KindFacts{.returns_deleted = true});
  strategy->grace = 0;
  make(strategy);
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  cache().catch_up();
  storage.before_next_txn = [this](const TxnRequest&) { storage.before_next_txn = [this](const TxnRequest&) { storage.data.clear(); }; };
  const auto result = remove("a");
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->deleted);
}

TEST_F(StoreDeleteTest, KindsWithFinalizersOfTheirOwnGetNoGracePeriod) {
  auto strategy = std::make_shared<TestStrategy>(KindFacts{.status = true, .returns_deleted = true});
  make(strategy);
  ASSERT_TRUE(create(thing(R"("name":"a")", R"(,"spec":{"finalizers":["kubernetes"]})")).ok());
  const auto marked = remove("a");
  ASSERT_TRUE(marked.ok());
  const Object object = parsed(marked->object);
  EXPECT_NE(meta_text(object, "deletionTimestamp"), "");
  EXPECT_EQ(find_path(object, "metadata.deletionGracePeriodSeconds"), nullptr);
  EXPECT_EQ(get_string_path(object, "status.phase"), "Terminating");
  Change finalized([](Object& changed) { ensure_object(changed, "spec")["finalizers"] = Array(); });
  ASSERT_TRUE(update("a", finalized).ok());
  EXPECT_TRUE(storage.data.empty());
}

TEST_F(StoreDeleteTest, ADryRunRemovesAndMarksNothing) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  ASSERT_TRUE(create(thing(R"("name":"b","finalizers":["example.com/x"])")).ok());
  DeleteOptions options;
  options.dry_run = true;
  const auto removed = remove("a", options);
  ASSERT_TRUE(removed.ok());
  EXPECT_TRUE(removed->deleted);
  const auto marked = remove("b", options);
  ASSERT_TRUE(marked.ok());
  EXPECT_NE(meta_text(parsed(marked->object), "deletionTimestamp"), "");
  EXPECT_EQ(meta_text(parsed(*get("b")), "deletionTimestamp"), "");
  EXPECT_TRUE(get("a").ok());
}

// As upstream, a dry run ends before the marked object would be removed.
TEST_F(StoreDeleteTest, ADryRunIsAdmittedOnce) {
  auto strategy = std::make_shared<TestStrategy>();
  strategy->grace = 30;
  make(strategy);
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  DeleteOptions options = grace(0);
  for (const bool dry_run : {true, false}) {
    options.dry_run = dry_run;
    admission.asked.clear();
    const auto removed = remove("a", options);
    ASSERT_TRUE(removed.ok()) << removed.status().message();
    EXPECT_TRUE(removed->deleted);
    EXPECT_EQ(admission.asked.size(), dry_run ? 2U : 4U);
  }
}

TEST_F(StoreDeleteTest, ADryRunIsJudgedByTheNewestObject) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  cache().catch_up();
  Object marked = json::parse(storage.data.at(key("a")).value.view()).as_object();
  ObjectMeta(marked).set_finalizers({"example.com/x"});
  storage.put(key("a"), to_json(marked));
  DeleteOptions options;
  options.dry_run = true;
  const auto tried = remove("a", options);
  ASSERT_TRUE(tried.ok()) << tried.status().message();
  EXPECT_FALSE(tried->deleted);
}

// The garbage collector would not remove its finalizer from such an object.
TEST_F(StoreDeleteTest, KindsThatTheCollectorDoesNotKnowAskItForNothing) {
  for (const char* policy : {"Orphan", "Foreground"}) {
    make(std::make_shared<TestStrategy>(KindFacts{.has_dependents = false}));
    ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
    DeleteOptions options;
    options.propagation_policy = policy;
    const auto removed = remove("a", options);
    ASSERT_TRUE(removed.ok()) << removed.status().message();
    EXPECT_TRUE(removed->deleted) << policy;
  }
}

TEST_F(StoreDeleteTest, AdmissionMayRefuse) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  admission.refusal = forbidden("example.com", "things", "a", "this thing may not be deleted");
  const auto refused = remove("a");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(), R"(things.example.com "a" is forbidden: this thing may not be deleted)");
  EXPECT_FALSE(storage.data.empty());
}

TEST_F(StoreDeleteTest, ACollectionIsRemovedObjectByObjectAndListed) {
  make(std::make_shared<TestStrategy>());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(create(thing("\"name\":\"n" + std::to_string(i) + "\"")).ok());
  ASSERT_TRUE(create(thing(R"("name":"held","finalizers":["example.com/x"])")).ok());
  context = request("deletecollection");
  auto removed = run(store->remove_collection(*context, {}, {}));
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  auto listed = run(removed->items->next());
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->size(), 51u);
  EXPECT_EQ(storage.data.size(), 1u);
  EXPECT_EQ(removed->revision, 51);
}

TEST_F(StoreDeleteTest, ACollectionIsListedInPagesOfWhichOnlyTheFirstNamesAVersion) {
  make(std::make_shared<TestStrategy>());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(create(thing("\"name\":\"n" + std::to_string(i) + "\"")).ok());
  cache().page_size = 20;
  ListOptions options;
  options.resource_version = "50";
  context = request("deletecollection");
  auto removed = run(store->remove_collection(*context, {}, options));
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  auto taken = run(removed->items->next());
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(taken->size(), 50u);
  EXPECT_TRUE(storage.data.empty());
  const auto& listed = cache().listed;
  ASSERT_EQ(listed.size(), 3u);
  for (const ListOptions& each : listed) EXPECT_EQ(each.limit, 10000) << "a limit makes the version one to list at exactly";
  EXPECT_EQ(listed[0].resource_version, "50");
  EXPECT_EQ(listed[1].resource_version, "");
  EXPECT_NE(listed[1].continue_token, "");
}

TEST_F(StoreDeleteTest, ALimitOfTheClientEndsTheSweepWithItsPage) {
  make(std::make_shared<TestStrategy>());
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(create(thing("\"name\":\"n" + std::to_string(i) + "\"")).ok());
  cache().page_size = 20;
  ListOptions options;
  options.limit = 20;
  context = request("deletecollection");
  ASSERT_TRUE(run(store->remove_collection(*context, {}, options)).ok());
  EXPECT_EQ(storage.data.size(), 10u);
}

TEST_F(StoreDeleteTest, FieldSelectorsMayNameOnlyWhatTheKindDeclares) {
  auto strategy = std::make_shared<TestStrategy>();
  make(strategy);
  ListOptions options;
  options.fields = *FieldSelector::parse("data.n=1");
  context = request("list");
  EXPECT_EQ(run(store->list(*context, options)).status().message(),
            R"("data.n" is not a known field selector: only "metadata.name", "metadata.namespace")");
  options.fields = *FieldSelector::parse("metadata.name=c1");
  EXPECT_TRUE(run(store->list(*context, options)).ok());
  EXPECT_EQ(cache().last_scope.name, "c1");
  EXPECT_EQ(cache().last_scope.ns, "default");
  context->info.ns.clear();
  options.fields = *FieldSelector::parse("metadata.namespace=other");
  EXPECT_TRUE(run(store->list(*context, options)).ok());
  EXPECT_EQ(cache().last_scope.ns, "other");
}

TEST_F(StoreDeleteTest, KindsWithFieldLabelsSayWhichLabelIsNotSupported) {
  auto strategy = std::make_shared<TestStrategy>(KindFacts{.selectable = {{"spec.nodeName", "spec.nodeName", ""}}});
  make(strategy);
  ListOptions options;
  options.fields = *FieldSelector::parse("spec.nodeName=n,spec.size=5");
  context = request("list");
  EXPECT_EQ(run(store->list(*context, options)).status().message(), "field label not supported: spec.size");
}

// Kinds without labels accept the selector, and it matches nothing.
TEST_F(StoreDeleteTest, KindsWithFieldLabelsAndWithoutNamespacesAreNotSelectedByOne) {
  ListOptions options;
  options.fields = *FieldSelector::parse("metadata.namespace=other");
  make(std::make_shared<TestStrategy>(KindFacts{.namespaced = false}));
  context = request("list");
  EXPECT_TRUE(run(store->list(*context, options)).ok());
  make(std::make_shared<TestStrategy>(KindFacts{.namespaced = false, .selectable = {{"spec.nodeName", "spec.nodeName", ""}}}));
  context = request("list");
  EXPECT_EQ(run(store->list(*context, options)).status().message(), "field label not supported: metadata.namespace");
}

// Regression: the finalizers of an object that cannot be read were ignored, and the object was removed.
TEST_F(StoreDeleteTest, WhatCannotBeReadIsNotRemoved) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a","finalizers":["example.com/x"])")).ok());
  const std::string key = storage.data.begin()->first;
  storage.put(key,
              R"({"metadata":{"name":"a","finalizers":["example.com/x"]},"deep":)" + std::string(1000, '[') + std::string(1000, ']') + "}");
  EXPECT_THROW((void)remove("a"), UnreadableObject);
  EXPECT_EQ(storage.data.size(), 1u);
}

// KindFacts::returns_deleted is sufficient; the config needs no setting.
TEST_F(StoreTest, AKindWhoseFactsSayThatItsDeletesReturnTheObjectReturnsIt) {
  for (const bool returns : {false, true}) {
    KindFacts facts;
    facts.returns_deleted = returns;
    StoreEnvironment fresh;
    OrderingSchema shape;
    ResourceConfig config;
    config.kind = {"example.com", "v1", "Thing"};
    config.resource = "things";
    config.schema = &shape;
    config.strategy = std::make_shared<TestStrategy>(std::move(facts));
    store = std::move(*make_store(fresh, std::move(config)));
    fresh.start(objects, hub, admission);
    EXPECT_EQ(store->returns_deleted(), returns);
    ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
    const auto removed = remove("a");
    ASSERT_TRUE(removed.ok());
    EXPECT_EQ(removed->return_object, returns);
    store.reset();
  }
}

}  // namespace
}  // namespace backplane::registry_test
