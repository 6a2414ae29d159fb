// POST: the stored object, options of writes, dry run, and bodies that are decoded on the offload pool.
#include "base/offload_pool.hpp"
#include "endpoints/testing/write_cases.hpp"

namespace backplane::testing {
namespace {

using CreateTest = Api;

TEST_F(CreateTest, CreateAnswersWith201AndTheStoredObject) {
  use_config_maps();
  const Response got = send("POST", maps(), R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"b":"2","a":"1"}})");
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(
      got.body(),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"8"},"data":{"a":"1","b":"2"}})"
      "\n");
}

// Regression: a body of a million items blocked the loop of a connection for seconds.
// The storage may belong to a plugin, so it is called on the connection's executor.
TEST_F(CreateTest, LargeBodiesAreDecodedOffTheLoopOfTheConnection) {
  OffloadPool offload_pool(1);
  offload_pool.start();
  set_offload_pool(&offload_pool);
  use_config_maps();
  const auto of = [](std::size_t bytes) { return R"({"metadata":{"name":"a"},"data":{"k":")" + std::string(bytes, 'v') + R"("}})"; };
  const Headers merge = {{"Content-Type", "application/merge-patch+json"}};
  for (const bool large : {false, true}) {
    const std::string body = of(large ? 200 << 10 : 10);
    store_->objects.clear();
    for (const auto& [method, path, headers] :
         {std::tuple{"POST", maps(), Headers()}, {"PUT", maps("/a"), Headers()}, {"PATCH", maps("/a"), merge}}) {
      store_->asked_on = nullptr;
      const std::size_t offloaded = offload_pool.turns();
      const Response got = send(method, path, body, headers);
      EXPECT_LT(got.code(), 300) << method;
      EXPECT_EQ(store_->asked_on, &loop_) << method;
      EXPECT_EQ(offload_pool.turns(), offloaded + (large ? 1 : 0)) << method;
      EXPECT_EQ(got.exchange->wrong_executor_calls, 0) << method;
    }
    EXPECT_EQ(send("POST", maps(), body).code(), 409);
    EXPECT_EQ(send("POST", maps(), body + "x").code(), 400);
  }
  set_offload_pool(nullptr);
  offload_pool.stop();
}

TEST_F(CreateTest, CreateTakesYaml) {
  use_config_maps();
  const Response got = send("POST", maps(), "metadata:\n  name: a\ndata:\n  k: v\n", {{"Content-Type", "application/yaml"}});
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(json::parse(got.body()).at("data").at("k").get_string(), "v");
}

// The storage decides about managedFields that the client sends.
TEST_F(CreateTest, SystemFieldsOfTheClientAreDropped) {
  use_config_maps();
  const Response got =
      send("POST", maps(),
           R"({"metadata":{"name":"a","uid":"mine","creationTimestamp":"2001-01-01T00:00:00Z","generation":5,"selfLink":"/x",)"
           R"("managedFields":[]}})");
  EXPECT_EQ(
      got.body(),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"8","generation":5,"managedFields":[{}]}})"
      "\n");
}

TEST_F(CreateTest, KindAndVersionComeFromThePathWhenTheBodyHasNone) {
  use_config_maps();
  EXPECT_EQ(send("POST", maps(), R"({"metadata":{"name":"bare"}})").code(), 201);
  EXPECT_EQ(send("POST", maps(), R"({"kind":"ConfigMap","metadata":{"name":"kindonly"}})").code(), 201);
}

// Regression: the client got the error of rules that the deadline had ended, because the timer waited for the same thread.
TEST_F(CreateTest, ARefusalAfterTheDeadlineIsATimeout) {
  use_config_maps();
  deadline_ = std::chrono::steady_clock::now() - std::chrono::milliseconds(1);
  const Response late = send("POST", maps(), "{bad");
  EXPECT_EQ(late.code(), 504);
  EXPECT_NE(late.body().find("request did not complete within the allotted timeout"), std::string::npos) << late.body();
  deadline_ = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_EQ(send("POST", maps(), "{bad").code(), 400);
}

struct OptionRule {
  std::string query;
  std::string message;
};
TEST_F(CreateTest, OptionsAreValidated) {
  use_config_maps();
  const std::string invalid = "CreateOptions.meta.k8s.io \"\" is invalid: ";
  const std::vector<OptionRule> rules = {
      {"dryRun=Some", invalid + "dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""},
      {"dryRun=All&dryRun=x", invalid + "dryRun: Unsupported value: [\"All\",\"x\"]: supported values: \"All\""},
      {"fieldValidation=x",
       invalid + "fieldValidation: Unsupported value: \"x\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""},
      {"fieldManager=" + std::string(129, 'a'), invalid + "fieldManager: Too long: may not be more than 128 bytes"},
      {"fieldManager=a%07", invalid + "fieldManager: Invalid value: \"a\\a\": invalid character U+0007 (at position 1)"},
  };
  for (const OptionRule& rule : rules) {
    const Response got = send("POST", maps("?" + rule.query), R"({"metadata":{"name":"a"}})");
    EXPECT_EQ(got.code(), 422) << rule.query;
    EXPECT_EQ(message_of(got), rule.message) << rule.query;
  }
}

TEST_F(CreateTest, DryRunReachesStoreAndContext) {
  use_config_maps();
  EXPECT_EQ(send("POST", maps("?dryRun=All&fieldManager=me"), R"({"metadata":{"name":"a"}})").code(), 201);
  EXPECT_TRUE(store_->write_options.dry_run);
  EXPECT_TRUE(store_->was_dry_run);
  EXPECT_EQ(store_->write_options.field_manager, "me");
  EXPECT_TRUE(store_->objects.empty());
}

TEST_F(CreateTest, ACreatedObjectCanBeATable) {
  use_config_maps();
  const Response got = send("POST", maps(), R"({"metadata":{"name":"a"}})", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(json::parse(got.body()).at("kind").get_string(), "Table");
}

}  // namespace
}  // namespace backplane::testing
