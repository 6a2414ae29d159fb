#include "backplane/types/json_reading.hpp"
#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

class StoreCreateTest : public StoreTest {};

TEST_F(StoreCreateTest, SetsSystemMetadataAndStoresTheObjectWithoutItsResourceVersion) {
  make(std::make_shared<TestStrategy>());
  const auto created =
      create(thing(R"("name":"a","uid":"mine","creationTimestamp":"2001-01-01T00:00:00Z","generation":5,"selfLink":"/x")"));
  ASSERT_TRUE(created.ok()) << created.status().message();
  const Object object = parsed(*created);
  EXPECT_EQ(meta_namespace(object), "default");
  EXPECT_EQ(meta_text(object, "uid").size(), 36u);
  EXPECT_NE(meta_text(object, "creationTimestamp"), "2001-01-01T00:00:00Z");
  EXPECT_EQ(meta_text(object, "resourceVersion"), "1");
  EXPECT_EQ(get_int_path(object, "metadata.generation"), 5);
  EXPECT_EQ(find_path(object, "metadata.selfLink"), nullptr);

  const std::string stored(storage.data.at("/registry/things/default/a").value.view());
  EXPECT_EQ(stored.find("resourceVersion"), std::string::npos);
  EXPECT_EQ(stored.rfind(R"({"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"a")", 0), 0u) << stored;
}

TEST_F(StoreCreateTest, StartsTheGenerationAtOneWhereTheKindHasOne) {
  auto strategy = std::make_shared<TestStrategy>(KindFacts{.generation = true, .status = true});
  make(strategy);
  const auto created = create(thing(R"("name":"a","generation":5)", R"(,"status":{"phase":"x"})"));
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(get_int_path(parsed(*created), "metadata.generation"), 1);
  EXPECT_EQ(find(parsed(*created), "status"), nullptr);
}

TEST_F(StoreCreateTest, RefusesAResourceVersionExceptZero) {
  make(std::make_shared<TestStrategy>());
  const auto refused = create(thing(R"("name":"b","resourceVersion":"1")"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 500);
  EXPECT_EQ(refused.status().reason(), Reason::kNone);
  EXPECT_EQ(refused.status().message(), "resourceVersion should not be set on objects to be created");
  EXPECT_TRUE(storage.data.empty());
  EXPECT_TRUE(create(thing(R"("name":"c","resourceVersion":"0")")).ok());
}

TEST_F(StoreCreateTest, AnswersAlreadyExistsForATakenName) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  const auto second = create(thing(R"("name":"a")"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().reason(), Reason::kAlreadyExists);
  EXPECT_EQ(second.status().message(), R"(things.example.com "a" already exists)");
}

TEST_F(StoreCreateTest, ReportsThatTheTakenNameIsBeingDeleted) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a","finalizers":["example.com/x"])")).ok());
  ASSERT_TRUE(remove("a").ok());
  const auto second = create(thing(R"("name":"a")"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().message(), R"(object is being deleted: things.example.com "a" already exists)");
}

TEST_F(StoreCreateTest, GeneratesANameFromThePrefix) {
  make(std::make_shared<TestStrategy>());
  const auto created = create(thing(R"("generateName":"gen-")"));
  ASSERT_TRUE(created.ok());
  EXPECT_EQ((*created)->name().size(), 9u);
  EXPECT_EQ((*created)->name().rfind("gen-", 0), 0u);
  const auto cut = create(thing("\"generateName\":\"" + std::string(80, 'g') + "\""));
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ((*cut)->name().size(), 63u);
}

TEST_F(StoreCreateTest, TriesAnotherGeneratedNameWhenTheFirstIsTaken) {
  make(std::make_shared<TestStrategy>());
  // Another client takes the generated name just before the write, three times.
  int taken = 0;
  std::function<void(const TxnRequest&)> take = [&](const TxnRequest& request) {
    storage.put(request.puts.front().key, "{}");
    if (++taken < 3) storage.before_next_txn = take;
  };
  storage.before_next_txn = take;
  const auto created = create(thing(R"("generateName":"gen-")"));
  ASSERT_TRUE(created.ok()) << created.status().message();
  EXPECT_EQ(storage.transactions, 4);
  EXPECT_EQ(storage.data.size(), 4u);
  EXPECT_EQ(admission.asked.front(), "admit create Thing default/");
}

TEST_F(StoreCreateTest, GivesUpAfterEightGeneratedNamesWithAHintToRetry) {
  make(std::make_shared<TestStrategy>());
  std::function<void(const TxnRequest&)> take = [&](const TxnRequest& request) {
    storage.put(request.puts.front().key, "{}");
    storage.before_next_txn = take;
  };
  storage.before_next_txn = take;
  const auto refused = create(thing(R"("generateName":"gen-")"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(storage.transactions, 8);
  EXPECT_EQ(refused.status().code(), 409);
  EXPECT_NE(refused.status().message().find("already exists, the server was not able to generate a unique name for the object"),
            std::string::npos);
  EXPECT_EQ(refused.status().details()->retry_after_seconds, 1);
}

TEST_F(StoreCreateTest, RefusesAnotherNamespaceThanTheRequests) {
  make(std::make_shared<TestStrategy>());
  const auto refused = create(thing(R"("name":"a","namespace":"other")"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(), "the namespace of the provided object does not match the namespace sent on the request");
  EXPECT_EQ(refused.status().code(), 400);
}

TEST_F(StoreCreateTest, ADryRunWritesNothingAndHasNoResourceVersion) {
  make(std::make_shared<TestStrategy>());
  WriteOptions options;
  options.dry_run = true;
  const auto created = create(thing(R"("name":"a")"), options);
  ASSERT_TRUE(created.ok());
  EXPECT_TRUE(storage.data.empty());
  EXPECT_EQ(meta_text(parsed(*created), "resourceVersion"), "");
  EXPECT_EQ(meta_text(parsed(*created), "uid").size(), 36u);
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  EXPECT_EQ(create(thing(R"("name":"a")"), options).status().reason(), Reason::kAlreadyExists);
}

TEST_F(StoreCreateTest, ADryRunAlsoReportsThatTheObjectIsBeingDeleted) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a","finalizers":["example.com/x"])")).ok());
  ASSERT_TRUE(remove("a").ok());
  WriteOptions options;
  options.dry_run = true;
  EXPECT_EQ(create(thing(R"("name":"a")"), options).status().message(), create(thing(R"("name":"a")")).status().message());
  EXPECT_TRUE(create(thing(R"("name":"a")"), options).status().message().starts_with("object is being deleted: "));
}

TEST_F(StoreCreateTest, ReportsTheStrategysProblemsAsInvalid) {
  make(std::make_shared<TestStrategy>());
  const auto refused = create(thing(R"("name":"a")", R"(,"data":{"bad":"yes"})"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 422);
  EXPECT_EQ(refused.status().message(), R"(Thing.example.com "a" is invalid: data.bad: Invalid value: "yes": must not be bad)");
}

TEST_F(StoreCreateTest, DropsRepeatedOwnersWithAWarning) {
  make(std::make_shared<TestStrategy>());
  const std::string owner = R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"u1"})";
  const auto created = create(thing(R"("name":"a","ownerReferences":[)" + owner + "," + owner + "]"));
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(find_path(parsed(*created), "metadata.ownerReferences")->as_array().size(), 1u);
  ASSERT_EQ(context->warnings().size(), 1u);
  EXPECT_NE(context->warnings()[0].find("contains duplicate entries"), std::string::npos);
}

// The list is as long as fits into a request; if each pair were compared, the test would take nearly an hour.
TEST_F(StoreCreateTest, ALongListOfOwnersIsGoneThroughOnce) {
  make(std::make_shared<TestStrategy>());
  const auto owner = [](int i, std::string_view name) {
    return R"({"apiVersion":"v1","kind":"P","name":")" + std::string(name) + R"(","uid":"u)" + std::to_string(i) + "\"}";
  };
  constexpr int kOwners = 60'000;
  std::string owners;
  for (int i = 0; i < kOwners; ++i) owners.append(owner(i, "p")).append(",");
  const auto created = create(thing(R"("name":"a","ownerReferences":[)" + owners + owner(7, "p") + "," + owner(7, "q") + "]"));
  ASSERT_TRUE(created.ok()) << created.status().message().substr(0, 200);
  EXPECT_EQ(find_path(parsed(*created), "metadata.ownerReferences")->as_array().size(), kOwners + 1u)
      << "the same uid is not the same owner";
  ASSERT_EQ(context->warnings().size(), 1u);
  EXPECT_TRUE(context->warnings()[0].ends_with("duplicate UID(s) observed: u7")) << context->warnings()[0];
}

TEST_F(StoreCreateTest, RunsAdmissionForRequestsOnly) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  EXPECT_EQ(admission.asked, (std::vector<std::string>{"admit create Thing default/a", "validate create Thing default/a"}));
  admission.asked.clear();
  RequestContext own;
  own.info.ns = "default";
  Object object = json::parse(thing(R"("name":"b")"), own.arena()).as_object();
  ASSERT_TRUE(run(store->create(own, object, {})).ok());
  EXPECT_TRUE(admission.asked.empty());
}

TEST_F(StoreCreateTest, AnswersUnavailableBeforeTheEnvironmentHasStarted) {
  StoreEnvironment later;
  ResourceConfig config;
  config.kind = {"", "v1", "Thing"};
  config.resource = "things";
  config.strategy = std::make_shared<TestStrategy>();
  auto early = make_store(later, std::move(config));
  ASSERT_TRUE(early.ok());
  const auto refused = run((*early)->get(*request("get"), "a", {}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 503);
}

TEST_F(StoreCreateTest, NamesMustBeLowerCasePlurals) {
  ResourceConfig config;
  config.kind = {"", "v1", "Thing"};
  config.resource = "Things";
  config.strategy = std::make_shared<TestStrategy>();
  EXPECT_FALSE(make_store(environment, std::move(config)).ok());
}

// Regression: an object that could not be parsed again was stored, and was read as an empty object.
TEST_F(StoreCreateTest, WhatCouldNotBeReadAgainIsNotStored) {
  make(std::make_shared<TestStrategy>());
  context = request("create");
  Object deep = json::parse(thing(R"("name":"a")")).as_object();
  deep["spec"] = *read_json(std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']'));
  const auto refused = run(store->create(*context, deep, {}));
  EXPECT_EQ(refused.status().reason(), Reason::kBadRequest);
  EXPECT_EQ(refused.status().message(), "the object is nested deeper than 1000 levels");
  EXPECT_TRUE(storage.data.empty());
}

}  // namespace
}  // namespace backplane::registry_test
