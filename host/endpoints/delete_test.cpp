// DELETE of objects and collections.
#include "endpoints/testing/write_cases.hpp"

namespace backplane::testing {
namespace {

using DeleteTest = Api;

TEST_F(DeleteTest, DeleteReturnsAStatusThatNamesTheObject) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response got = send("DELETE", maps("/a"));
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(got.body(),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"details\":{\"name\":\"a\",\"kind\":"
            "\"configmaps\","
            "\"uid\":\"u-a\"}}\n");
}

TEST_F(DeleteTest, ReadErrorsAreIgnoredOnlyWithTheGateAndThePermission) {
  use_config_maps();
  const std::string asked = "?ignoreStoreReadErrorWithClusterBreakingPotential=true";
  store_->put(kStoredMap);
  EXPECT_EQ(send("DELETE", maps("/a" + asked)).code(), 200);
  EXPECT_FALSE(store_->delete_options.ignore_read_error) << "without the gate it is not there";

  scope_.unsafe_deletes = true;
  handler_ = make_resource_handler(scope_);
  store_->put(kStoredMap);
  authorizer_.asked.clear();
  EXPECT_EQ(send("DELETE", maps("/a" + asked)).code(), 200);
  EXPECT_TRUE(store_->delete_options.ignore_read_error);
  EXPECT_EQ(authorizer_.asked, std::vector<std::string>{" unsafe-delete-ignore-read-errors configmaps n/a"});
  authorizer_.answer = {Decision::kNoOpinion, "not today", {}};
  const Response refused = send("DELETE", maps("/a" + asked));
  EXPECT_EQ(refused.code(), 403);
  EXPECT_EQ(message_of(refused),
            "configmaps \"a\" is forbidden: not permitted to do \"unsafe-delete-ignore-read-errors\", reason: not today");
  EXPECT_EQ(
      message_of(send("DELETE", maps("/a" + asked + "&dryRun=All&gracePeriodSeconds=0"))),
      "DeleteOptions.meta.k8s.io \"\" is invalid: [ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set "
      "together with .dryRun, ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with "
      ".gracePeriodSeconds]");
  const Response collection = send("DELETE", maps(asked));
  EXPECT_EQ(collection.code(), 422);
  EXPECT_NE(message_of(collection).find("is not allowed with DELETECOLLECTION, try again after removing the option"), std::string::npos);
}

TEST_F(DeleteTest, DeleteOfAGroupedResourceNamesTheGroup) {
  use_foos();
  store_->put(kStoredFoo);
  EXPECT_EQ(send("DELETE", "namespaces/n/foos/f").body(),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"details\":{\"name\":\"f\",\"group\":"
            "\"example.com\","
            "\"kind\":\"foos\",\"uid\":\"u-f\"}}\n");
}

TEST_F(DeleteTest, DeleteAnswersWithTheObjectWhenItStaysOrTheKindReturnsIt) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->keep_deleted = true;
  EXPECT_EQ(send("DELETE", maps("/a")).body(), std::string(kStoredMap) + "\n");
  store_->keep_deleted = false;
  store_->returns_deleted = true;
  EXPECT_EQ(send("DELETE", maps("/a")).body(), std::string(kStoredMap) + "\n");
}

TEST_F(DeleteTest, DeleteIsOnlyAcceptedWhenDependentsAreToGoAndTheObjectStays) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->keep_deleted = true;
  EXPECT_EQ(send("DELETE", maps("/a?orphanDependents=false")).code(), 202);
  EXPECT_EQ(send("DELETE", maps("/a?orphanDependents=true")).code(), 200);
  store_->keep_deleted = false;
  EXPECT_EQ(send("DELETE", maps("/a?orphanDependents=false")).code(), 200);
}

TEST_F(DeleteTest, DeleteOptionsComeFromTheBodyOrTheQuery) {
  use_config_maps();
  store_->put(kStoredMap);
  EXPECT_EQ(send("DELETE", maps("/a?gracePeriodSeconds=5&propagationPolicy=Foreground&dryRun=All")).code(), 200);
  EXPECT_EQ(store_->delete_options.grace_period_seconds, 5);
  EXPECT_EQ(store_->delete_options.propagation_policy, "Foreground");
  EXPECT_TRUE(store_->was_dry_run);
  const std::string body =
      R"({"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":7,"preconditions":{"uid":"u","resourceVersion":"5"},"orphanDependents":true})";
  EXPECT_EQ(send("DELETE", maps("/a?gracePeriodSeconds=5&dryRun=All"), body).code(), 200);
  EXPECT_EQ(store_->delete_options.grace_period_seconds, 7);
  EXPECT_EQ(store_->delete_options.preconditions.uid, "u");
  EXPECT_EQ(store_->delete_options.preconditions.resource_version, "5");
  EXPECT_EQ(store_->delete_options.orphan_dependents, true);
  EXPECT_FALSE(store_->was_dry_run) << "a body hides the query";
}

TEST_F(DeleteTest, DeleteOptionsThatCannotBeReadAreBadRequests) {
  use_config_maps();
  store_->put(kStoredMap);
  const std::vector<Refusal> refusals = {
      {R"({"apiVersion":"v1","kind":"Pod"})", "no kind \"Pod\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\""},
      {"{bad", "couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of object key string"},
      {R"({"gracePeriodSeconds":"x"})",
       "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64"},
  };
  for (const Refusal& refusal : refusals) {
    const Response got = send("DELETE", maps("/a"), refusal.body);
    EXPECT_EQ(got.code(), 400) << refusal.body;
    EXPECT_EQ(message_of(got), refusal.message);
  }
}

TEST_F(DeleteTest, DeleteOptionsThatMayNotStandTogetherAreInvalid) {
  use_config_maps();
  store_->put(kStoredMap);
  const std::string invalid = "DeleteOptions.meta.k8s.io \"\" is invalid: ";
  const std::vector<Refusal> refusals = {
      {R"({"dryRun":["Some"]})", invalid + "dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""},
      {R"({"propagationPolicy":"Orphan","orphanDependents":true})",
       invalid + "propagationPolicy: Invalid value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set"},
      {R"({"propagationPolicy":"Odd"})",
       invalid + "propagationPolicy: Unsupported value: \"Odd\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""},
  };
  for (const Refusal& refusal : refusals) {
    const Response got = send("DELETE", maps("/a"), refusal.body);
    EXPECT_EQ(got.code(), 422) << refusal.body;
    EXPECT_EQ(message_of(got), refusal.message);
  }
}

TEST_F(DeleteTest, DeletingACollectionReturnsTheListOfDeletedObjects) {
  use_config_maps();
  EXPECT_EQ(send("DELETE", maps("?labelSelector=a%3Db"), "{}").body(),
            "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}\n");
  EXPECT_EQ(store_->list_options.labels.to_string(), "a=b");
}

// A request that has been authorized as a watch is served as a watch, however its path is written.
TEST_F(DeleteTest, AWatchWithTheMethodOfADeletionDeletesNothing) {
  use_config_maps();
  ASSERT_EQ(send("POST", maps(), R"({"metadata":{"name":"a"}})").code(), 201);
  for (const char* path : {"/api/v1/watch/", "//api/v1/watch/"}) {
    auto exchange = std::make_shared<FakeExchange>("DELETE", path + maps("/a"), Headers{}, std::string());
    RequestContext context;
    context.info = info_of(*exchange, "watch/" + maps("/a"));
    context.info.path = path + maps("/a");
    run_on(loop_, run(*handler_, context, *exchange));
    EXPECT_EQ(store_->objects.count("a"), 1u) << path;
  }
}

}  // namespace
}  // namespace backplane::testing
