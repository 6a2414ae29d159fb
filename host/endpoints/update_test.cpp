// Tests of PUT, and of storages that end on another executor.
#include "endpoints/testing/write_cases.hpp"

namespace backplane::testing {
namespace {

using UpdateTest = Api;

TEST_F(UpdateTest, AStorageThatEndsOnAnotherExecutorIsAnsweredForOnTheConnectionsOwn) {
  use_config_maps();
  IoLoop foreign("foreign");
  foreign.start();
  store_->put(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-a"}})");
  store_->executor = &foreign;
  struct Case {
    const char* method;
    std::string path;
    std::string body;
    int code;
  };
  const std::vector<Case> cases = {
      {"GET", maps("/a"), "", 200},
      {"GET", maps("/missing"), "", 404},
      {"GET", maps(""), "", 200},
      {"POST", maps(""), R"({"metadata":{"name":"b"}})", 201},
      {"PUT", maps("/a"), R"({"metadata":{"name":"a"},"data":{"k":"2"}})", 200},
      {"PATCH", maps("/a"), R"({"data":{"k":"3"}})", 200},
      {"DELETE", maps("/a"), "", 200},
      {"DELETE", maps(""), "", 200},
  };
  for (const Case& each : cases) {
    Headers headers;
    if (each.method == std::string_view("PATCH")) headers.emplace_back("Content-Type", "application/merge-patch+json");
    const Response got = send(each.method, each.path, each.body, headers);
    EXPECT_EQ(got.code(), each.code) << each.method << " " << each.path << " " << got.body();
    EXPECT_EQ(got.exchange->wrong_executor_calls, 0) << each.method << " " << each.path;
  }
  store_->on_get = [] { throw std::runtime_error("a bug, and far away"); };
  EXPECT_EQ(send("GET", maps("/a")).exchange->wrong_executor_calls, 0);
  store_->executor = nullptr;
  foreign.stop();
}

TEST_F(UpdateTest, UpdateAnswers200OrWhenItCreated201) {
  use_config_maps();
  store_->put(kStoredMap);
  EXPECT_EQ(send("PUT", maps("/a"), R"({"metadata":{"name":"a"},"data":{"k":"2"}})").code(), 200);
  EXPECT_EQ(send("PUT", maps("/new"), R"({"metadata":{"name":"new"}})").code(), 201);
}

TEST_F(UpdateTest, UpdateSendsTheSameObjectAgainWhenItLostARace) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->lost_races = 2;
  const Response got = send("PUT", maps("/a"), R"({"metadata":{"name":"a","resourceVersion":"5","uid":"u-a"},"data":{"k":"2"}})");
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(store_->attempts, 3);
  EXPECT_EQ(json::parse(got.body()).at("data").at("k").get_string(), "2");
  EXPECT_EQ(store_->preconditions.uid, "u-a");
}

TEST_F(UpdateTest, UpdateChecksNameAndNamespace) {
  use_config_maps();
  store_->put(kStoredMap);
  EXPECT_EQ(message_of(send("PUT", maps("/a"), R"({"metadata":{"name":"b"}})")),
            "the name of the object (b) does not match the name on the URL (a)");
  EXPECT_EQ(message_of(send("PUT", maps("/a"), "{}")), "the name of the object (a based on URL) was undeterminable: name must be provided");
  EXPECT_EQ(message_of(send("PUT", maps("/a"), R"({"metadata":{"name":"a","namespace":"other"}})")),
            "the namespace of the provided object does not match the namespace sent on the request");
  EXPECT_EQ(store_->attempts, 0);
}

TEST_F(UpdateTest, AnUpdateThatCreatesNeedsTheRightToCreate) {
  use_config_maps();
  authorizer_.answer = {Decision::kNoOpinion, "not today", {}};
  const Response refused = send("PUT", maps("/new"), R"({"metadata":{"name":"new"}})");
  EXPECT_EQ(refused.code(), 403);
  EXPECT_EQ(message_of(refused),
            "configmaps \"new\" is forbidden: User \"\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"n\": "
            "not today");
  EXPECT_EQ(authorizer_.asked, std::vector<std::string>{" create configmaps n/new"});
  EXPECT_TRUE(store_->objects.empty());
  authorizer_.answer = {Decision::kNoOpinion, "", internal_error("lost")};
  EXPECT_EQ(send("PUT", maps("/new"), R"({"metadata":{"name":"new"}})").code(), 500);
  authorizer_.answer = {Decision::kAllow, "", internal_error("lost in part")};
  EXPECT_EQ(send("PUT", maps("/new"), R"({"metadata":{"name":"new"}})").code(), 201);
  authorizer_.asked.clear();
  EXPECT_EQ(send("PUT", maps("/new"), R"({"metadata":{"name":"new"},"data":{"a":"b"}})").code(), 200);
  EXPECT_TRUE(authorizer_.asked.empty()) << "the object exists, so no create is authorized";
}

}  // namespace
}  // namespace backplane::testing
