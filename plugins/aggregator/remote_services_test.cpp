#include "remote_services.hpp"

#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace backplane {
namespace {

using test::FakeHost;
using test::FakeStore;

Object apiservice() {
  return json::parse(R"({"metadata":{"name":"v1.agg.io"},"spec":{"group":"agg.io","version":"v1","groupPriorityMinimum":100,
    "versionPriority":10,"service":{"namespace":"n","name":"agg","port":443}}})")
      .as_object();
}

std::shared_ptr<FakeStore> store_of(std::string kind) {
  ResourceConfig config;
  config.kind = {"", "v1", std::move(kind)};
  return std::make_shared<FakeStore>(std::move(config));
}

Task<void> ask(RemoteServices& remotes, const Object& object, Result<Availability>& out) {
  auto asking = remotes.availability(object);
  out = co_await std::move(asking);
}

class RemoteServicesTest : public ::testing::Test {
 protected:
  RemoteServicesTest() {
    host_.served["services"] = services_;
    host_.served["endpoints"] = endpoints_;
  }
  ~RemoteServicesTest() override {
    host_.stop.fire();
    host_.turns.settle(true);
    EXPECT_EQ(host_.running, 0);
  }
  std::string availability() {
    Result<Availability> out;
    const Object object = apiservice();
    host_.spawn("ask", ask(remotes_, object, out));
    host_.turns.settle();
    if (!out.ok()) return out.status().message();
    return out->status + " " + out->reason + ": " + out->message;
  }
  void put(FakeStore& store, const std::string& name, const std::string& rest) {
    store.put(json::parse(R"({"metadata":{"namespace":"n","name":")" + name + R"("},)" + rest + "}").as_object(), WatchEvent::Type::kAdded);
    host_.turns.settle();
  }
  void serve(const std::string& spec) { put(*services_, "agg", R"("spec":)" + spec); }

  FakeHost host_;
  std::shared_ptr<FakeStore> services_ = store_of("Service"), endpoints_ = store_of("Endpoints"), slices_ = store_of("EndpointSlice");
  std::vector<std::string> changed_;
  RemoteServices remotes_{host_, host_.groups, [this](const std::string& name) { changed_.push_back(name); }};
};

TEST_F(RemoteServicesTest, SayHowFarTheServiceIsThere) {
  EXPECT_EQ(availability(), R"(False ServiceNotFound: service/agg in "n" is not present)");
  serve(R"({"type":"ClusterIP","ports":[{"name":"http","port":80}]})");
  EXPECT_EQ(availability(), R"(False ServicePortError: service/agg in "n" is not listening on port 443)");
  serve(R"({"type":"ClusterIP","clusterIP":"10.0.0.7","ports":[{"name":"http","port":80},{"name":"https","port":443}]})");
  EXPECT_EQ(availability(), R"(False EndpointsNotFound: cannot find endpointslices for service/agg in "n")");
  put(*endpoints_, "agg", R"("subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"name":"http"}]}])");
  EXPECT_EQ(availability(), R"(False MissingEndpoints: endpointslices for service/agg in "n" have no addresses with port name "https")");
  put(*endpoints_, "agg", R"("subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"name":"https"}]}])");
  EXPECT_EQ(availability(),
            "False FailedDiscoveryCheck: failing or missing response from https://10.0.0.7:443/apis/agg.io/v1: this server does not "
            "forward requests to other API servers");
}

// All of them were said to give no response at a name of the cluster.
TEST_F(RemoteServicesTest, SayWhyAServiceCannotBeAsked) {
  const std::string failing = "False FailedDiscoveryCheck: failing or missing response from ";
  put(*endpoints_, "agg", R"("subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{}]}])");
  serve(R"({"type":"ClusterIP","clusterIP":"None","ports":[{"port":443}]})");
  EXPECT_EQ(availability(), R"(False FailedDiscoveryCheck: cannot route to service with ClusterIP "None")");
  serve(R"({"type":"ClusterIP","clusterIP":"fd00::7","ports":[{"port":443}]})");
  EXPECT_EQ(availability().find(failing + "https://[fd00::7]:443/apis/agg.io/v1: "), 0u) << availability();
  serve(R"({"type":"NodePort","clusterIP":"10.0.0.7","ports":[{"port":80}]})");
  EXPECT_EQ(availability(), R"(False FailedDiscoveryCheck: no service port 443 found for service "agg")");
  serve(R"({"type":"LoadBalancer","clusterIP":"10.0.0.7","ports":[{"port":443}]})");
  EXPECT_EQ(availability().find(failing + "https://10.0.0.7:443/"), 0u) << "endpoints are asked for cluster addresses alone";
  serve(R"({"type":"ExternalName","externalName":"agg.example.com"})");
  EXPECT_EQ(availability().find(failing + "https://agg.example.com:443/"), 0u) << availability();
}

TEST_F(RemoteServicesTest, EndpointSlicesAreAskedWhereTheyAreServed) {
  const auto slice = [&](const std::string& endpoints, const std::string& port = R"({"name":"https","port":6443})") {
    slices_->put(json::parse(R"({"metadata":{"namespace":"n","name":"agg-1","labels":{"kubernetes.io/service-name":"agg"}},"ports":[)" +
                             port + R"(],"endpoints":)" + endpoints + "}")
                     .as_object(),
                 WatchEvent::Type::kAdded);
    host_.turns.settle();
  };
  host_.served["endpointslices"] = slices_;
  serve(R"({"type":"ClusterIP","ports":[{"name":"https","port":443}]})");
  EXPECT_EQ(availability(), R"(False EndpointsNotFound: cannot find endpointslices for service/agg in "n")");
  slice(R"([{"addresses":["10.0.0.1"],"conditions":{"ready":false}}])");
  EXPECT_EQ(availability().find("False MissingEndpoints"), 0u);
  for (const char* port : {"", R"({"name":"https"})", R"({"port":6443})", R"({"name":"http","port":6443})"}) {
    slice(R"([{"addresses":["10.0.0.1"]}])", port);
    EXPECT_EQ(availability().find("False MissingEndpoints"), 0u) << port;
  }
  slice(R"([{"addresses":["10.0.0.1"]}])");
  EXPECT_EQ(availability().find("False FailedDiscoveryCheck"), 0u);
  slice(R"([{"addresses":["10.0.0.2"],"conditions":{"ready":false}},{"addresses":["10.0.0.1"],"conditions":{}}])");
  EXPECT_EQ(availability().find("False FailedDiscoveryCheck"), 0u) << "who says nothing is ready";
}

TEST_F(RemoteServicesTest, ServicesOfOtherTypesAreNotLookedInto) {
  serve(R"({"type":"ExternalName","externalName":"example.com"})");
  EXPECT_EQ(availability().find("False FailedDiscoveryCheck"), 0u);
}

TEST_F(RemoteServicesTest, AServerWithoutServicesHasNone) {
  host_.served.clear();
  EXPECT_EQ(availability(), R"(False ServiceNotFound: service/agg in "n" is not present)");
}

TEST_F(RemoteServicesTest, ChangesOfItsServiceAndEndpointsAreToldAndNobodyElses) {
  const Object object = apiservice();
  remotes_.note(object);
  availability();
  EXPECT_TRUE(changed_.empty());
  put(*services_, "other", R"("spec":{})");
  EXPECT_TRUE(changed_.empty());
  serve(R"({"type":"ExternalName"})");
  put(*endpoints_, "agg", R"("subsets":[])");
  EXPECT_EQ(changed_, (std::vector<std::string>{"v1.agg.io", "v1.agg.io"}));
  services_->erase("agg");
  host_.turns.settle();
  EXPECT_EQ(changed_.size(), 3u);
  remotes_.forget("v1.agg.io");
  serve(R"({"type":"ExternalName"})");
  EXPECT_EQ(changed_.size(), 3u);
}

TEST_F(RemoteServicesTest, AGroupVersionIsForwardedOnceUntilItChangesOrGoes) {
  Object object = apiservice();
  remotes_.note(object);
  remotes_.note(object);
  EXPECT_EQ(host_.groups->times, 1);
  EXPECT_EQ(host_.groups->forwarded, std::vector<std::string>{"agg.io/v1"});
  object.at("spec").as_object()["versionPriority"] = 11;
  remotes_.note(object);
  EXPECT_EQ(host_.groups->times, 2);
  remotes_.forget("v1.agg.io");
  remotes_.forget("v1.agg.io");
  EXPECT_EQ(host_.groups->times, 3);
  EXPECT_TRUE(host_.groups->forwarded.empty());
}

}  // namespace
}  // namespace backplane
