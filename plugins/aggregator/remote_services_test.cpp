#include "remote_services.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

// Answers by path; what it does not know is not found.
class FakeClient final : public LoopbackClient {
 public:
  Task<Response> request(std::string, std::string target, Headers, std::string) override {
    const auto found = answers.find(target);
    if (found == answers.end()) co_return Response{404, R"({"message":"not found"})", {}};
    co_return found->second;
  }
  std::map<std::string, Response> answers;
};

class SilentLogger final : public Logger {
 public:
  void error(std::string_view) override {}
  void warn(std::string_view) override {}
  void info(std::string_view) override {}
  void debug(std::string_view) override {}
};

class FakeGroups final : public DynamicGroups {
 public:
  Status change(GroupsChange change) override {
    changes.push_back(std::move(change));
    return {};
  }
  std::vector<GroupsChange> changes;
};

const std::string kService = "/api/v1/namespaces/n/services/agg";
const std::string kEndpoints = "/api/v1/namespaces/n/endpoints/agg";
const std::string kSlices = "/apis/discovery.k8s.io/v1/namespaces/n/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dagg";

Object apiservice() {
  return json::parse(R"({"metadata":{"name":"v1.agg.io"},"spec":{"group":"agg.io","version":"v1","groupPriorityMinimum":100,
    "versionPriority":10,"service":{"namespace":"n","name":"agg","port":443}}})")
      .as_object();
}

// Runs where it is called: nothing in it waits.
Task<void> ask(RemoteServices& remotes, const Object& object, Availability& out) {
  auto asking = remotes.availability(object);
  out = co_await std::move(asking);
}
class InlineExecutor final : public Executor {
 public:
  void post(std::function<void()> work) override { work(); }
  void post(std::coroutine_handle<> frame) override { frame.resume(); }
  std::function<void()> after(std::chrono::nanoseconds, std::function<void()>) override {
    return [] {};
  }
};

class RemoteServicesTest : public ::testing::Test {
 protected:
  std::string availability() {
    RemoteServices remotes(logger_, groups_);
    remotes.use(client_);
    Availability out;
    InlineExecutor executor;
    const Object object = apiservice();
    spawn_detached(executor, ask(remotes, object, out));
    return out.status + " " + out.reason + ": " + out.message;
  }
  void serve(const std::string& spec) { client_.answers[kService] = {200, R"({"kind":"Service","spec":)" + spec + "}", {}}; }

  SilentLogger logger_;
  FakeClient client_;
  std::shared_ptr<FakeGroups> groups_ = std::make_shared<FakeGroups>();
};

TEST_F(RemoteServicesTest, SayHowFarTheServiceIsThere) {
  EXPECT_EQ(availability(), R"(False ServiceNotFound: service/agg in "n" is not present)");
  client_.answers[kService] = {500, R"({"message":"broken"})", {}};
  EXPECT_EQ(availability(), R"(Unknown ServiceAccessError: service/agg in "n" cannot be checked due to: broken)");
  serve(R"({"type":"ClusterIP","ports":[{"name":"http","port":80}]})");
  EXPECT_EQ(availability(), R"(False ServicePortError: service/agg in "n" is not listening on port 443)");
  serve(R"({"type":"ClusterIP","ports":[{"name":"http","port":80},{"name":"https","port":443}]})");
  EXPECT_EQ(availability(), R"(False EndpointsNotFound: cannot find endpointslices for service/agg in "n")");
  client_.answers[kEndpoints] = {200, R"({"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"name":"http"}]}]})", {}};
  EXPECT_EQ(availability(), R"(False MissingEndpoints: endpointslices for service/agg in "n" have no addresses with port name "https")");
  client_.answers[kEndpoints] = {200, R"({"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"name":"https"}]}]})", {}};
  EXPECT_EQ(availability(),
            "False FailedDiscoveryCheck: failing or missing response from https://agg.n.svc:443/apis/agg.io/v1: this server does not "
            "forward requests to other API servers");
}

TEST_F(RemoteServicesTest, EndpointSlicesAreAskedWhereTheyAreServed) {
  serve(R"({"type":"ClusterIP","ports":[{"name":"https","port":443}]})");
  client_.answers[kSlices] = {200, R"({"items":[]})", {}};
  EXPECT_EQ(availability(), R"(False EndpointsNotFound: cannot find endpointslices for service/agg in "n")");
  client_.answers[kSlices] = {
      200, R"({"items":[{"endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":false}}],"ports":[{"name":"https"}]}]})", {}};
  EXPECT_EQ(availability().find("False MissingEndpoints"), 0u);
  client_.answers[kSlices] = {200, R"({"items":[{"endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"name":"https"}]}]})", {}};
  EXPECT_EQ(availability().find("False FailedDiscoveryCheck"), 0u);
  client_.answers[kSlices] = {403, R"({"message":"forbidden"})", {}};
  EXPECT_EQ(availability(), R"(Unknown EndpointsAccessError: service/agg in "n" cannot be checked due to: forbidden)");
}

TEST_F(RemoteServicesTest, ServicesOfOtherTypesAreNotLookedInto) {
  serve(R"({"type":"ExternalName","externalName":"example.com"})");
  EXPECT_EQ(availability().find("False FailedDiscoveryCheck"), 0u);
}

TEST_F(RemoteServicesTest, AGroupVersionIsForwardedOnceUntilItChangesOrGoes) {
  RemoteServices remotes(logger_, groups_);
  Object object = apiservice();
  remotes.note(object);
  remotes.note(object);
  ASSERT_EQ(groups_->changes.size(), 1u);
  ASSERT_EQ(groups_->changes[0].forwarded.size(), 1u);
  EXPECT_EQ(groups_->changes[0].forwarded[0].group_version.to_string(), "agg.io/v1");
  EXPECT_EQ(groups_->changes[0].forwarded[0].group_priority_minimum, 100);
  object.at("spec").as_object()["versionPriority"] = 11;
  remotes.note(object);
  EXPECT_EQ(groups_->changes.size(), 2u);
  EXPECT_EQ(remotes.names(), std::vector<std::string>{"v1.agg.io"});
  remotes.forget("v1.agg.io");
  remotes.forget("v1.agg.io");
  ASSERT_EQ(groups_->changes.size(), 3u);
  EXPECT_EQ(groups_->changes[2].withdrawn[0].to_string(), "agg.io/v1");
}

}  // namespace
}  // namespace backplane
