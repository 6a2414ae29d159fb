#include "remote_services.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <backplane/kit/discovery_shapes.hpp>
#include <backplane/net/forwarded_documents.hpp>

#include "fake_host.hpp"

namespace backplane {
namespace {

using kit::aggregated_resources;
using kit::legacy_resources;
using test::FakeHost;
using test::FakeStore;

Object apiservice() {
  return json::parse(R"({"metadata":{"name":"v1.agg.io"},"spec":{"group":"agg.io","version":"v1","groupPriorityMinimum":100,
    "versionPriority":10,"caBundle":"cGVt","service":{"namespace":"n","name":"agg","port":443}}})")
      .as_object();
}

std::shared_ptr<FakeStore> store_of(std::string kind) {
  ResourceConfig config;
  config.kind = {"", "v1", std::move(kind)};
  return std::make_shared<FakeStore>(std::move(config));
}

// Responds by path; 404 for an unknown path.
struct FakeServer {
  std::map<std::string, std::pair<std::string, std::string>> pages;  // content type and body
  std::map<std::string, std::string> etags;
  std::vector<HttpCall> calls;
  Status down;  // no response
};

class FakeAnswer final : public HttpAnswer {
 public:
  FakeAnswer(int code, Headers headers, std::string body) : code_(code), headers_(std::move(headers)), body_(std::move(body)) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override { co_return std::exchange(body_, {}); }
  void cancel() override {}

 private:
  const int code_;
  const Headers headers_;
  std::string body_;
};

class FakeClient final : public HttpClient {
 public:
  explicit FakeClient(FakeServer& server) : server_(server) {}
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    server_.calls.push_back(call);
    if (!server_.down.ok()) co_return server_.down;
    const auto found = server_.pages.find(call.target);
    if (found == server_.pages.end()) co_return std::unique_ptr<HttpAnswer>(std::make_unique<FakeAnswer>(404, Headers(), ""));
    Headers headers(1, Header("Content-Type", found->second.first));
    if (const auto etag = server_.etags.find(call.target); etag != server_.etags.end()) {
      headers.emplace_back("Etag", etag->second);
      const bool known = std::find(call.headers.begin(), call.headers.end(), Header("If-None-Match", etag->second)) != call.headers.end();
      if (known) co_return std::unique_ptr<HttpAnswer>(std::make_unique<FakeAnswer>(304, std::move(headers), ""));
    }
    co_return std::unique_ptr<HttpAnswer>(std::make_unique<FakeAnswer>(200, std::move(headers), found->second.second));
  }

 private:
  FakeServer& server_;
};

// Appends the availability to a list; Autoregister writes it to the APIService.
Task<Status> record_report(std::vector<std::string>& reports, std::string name, Availability availability) {
  reports.push_back(name + " " + availability.status + " " + availability.reason + ": " + availability.message);
  co_return Status();
}

class RemoteServicesTest : public ::testing::Test {
 protected:
  RemoteServicesTest() {
    host_.served["services"] = services_;
    host_.served["endpointslices"] = slices_;
    host_.clients = [this](ClientConfig config) -> Result<std::shared_ptr<HttpClient>> {
      configs_.push_back(std::move(config));
      return std::shared_ptr<HttpClient>(std::make_shared<FakeClient>(server_));
    };
    remotes_ = std::make_shared<RemoteServices>(host_, host_.groups, [this](std::string name, Availability availability) {
      return record_report(reports_, std::move(name), std::move(availability));
    });
    remotes_->start_checks();
    remotes_->start_readings();
  }
  ~RemoteServicesTest() override {
    remotes_->stop();
    host_.stop.fire();
    host_.turns.run_until_idle(true);
    EXPECT_EQ(host_.running, 0);
  }
  void note(Object object = apiservice()) {
    remotes_->note(object);
    host_.turns.run_until_idle();
  }
  std::string last_report() const { return reports_.empty() ? "" : reports_.back(); }
  void put(FakeStore& store, const std::string& name, const std::string& rest) {
    store.put(json::parse(R"({"metadata":{"namespace":"n","name":")" + name + R"("},)" + rest + "}").as_object(), WatchEvent::Type::kAdded);
    host_.turns.run_until_idle();
  }
  void serve(const std::string& spec) { put(*services_, "agg", R"("spec":)" + spec); }
  void slice(const std::string& endpoints, const std::string& port = R"({"name":"https","port":6443})") {
    slices_->put(json::parse(R"({"metadata":{"namespace":"n","name":"agg-1","labels":{"kubernetes.io/service-name":"agg"}},"ports":[)" +
                             port + R"(],"endpoints":)" + endpoints + "}")
                     .as_object(),
                 WatchEvent::Type::kAdded);
    host_.turns.run_until_idle();
  }
  void answer() {
    server_.pages["/apis/agg.io/v1"] = {"application/json", R"({"kind":"APIResourceList","resources":[{"name":"things"}]})"};
  }
  const ForwardedDocuments& documents() const { return *host_.groups->documents.at("agg.io/v1"); }

  FakeHost host_;
  std::shared_ptr<FakeStore> services_ = store_of("Service"), slices_ = store_of("EndpointSlice");
  FakeServer server_;
  std::vector<ClientConfig> configs_;
  std::vector<std::string> reports_;
  std::shared_ptr<RemoteServices> remotes_;
};

TEST_F(RemoteServicesTest, SayHowFarTheServiceIsThere) {
  note();
  EXPECT_EQ(last_report(), R"(v1.agg.io False ServiceNotFound: service/agg in "n" is not present)");
  serve(R"({"type":"ClusterIP","ports":[{"name":"http","port":80}]})");
  EXPECT_EQ(last_report(), R"(v1.agg.io False ServicePortError: service/agg in "n" is not listening on port 443)");
  serve(R"({"type":"ClusterIP","clusterIP":"10.0.0.7","ports":[{"name":"http","port":80},{"name":"https","port":443}]})");
  EXPECT_EQ(last_report(), R"(v1.agg.io False EndpointsNotFound: cannot find endpointslices for service/agg in "n")");
  slice(R"([{"addresses":["10.0.0.1"],"conditions":{"ready":false}}])");
  EXPECT_EQ(last_report(),
            R"(v1.agg.io False MissingEndpoints: endpointslices for service/agg in "n" have no addresses with port name "https")");
  for (const char* port : {"", R"({"name":"https"})", R"({"port":6443})", R"({"name":"http","port":6443})"}) {
    slice(R"([{"addresses":["10.0.0.1"]}])", port);
    EXPECT_EQ(last_report().find("v1.agg.io False MissingEndpoints"), 0u) << port;
  }
  answer();
  slice(R"([{"addresses":["10.0.0.2"],"conditions":{"ready":false}},{"addresses":["10.0.0.1"],"conditions":{}}])");
  EXPECT_EQ(last_report(), "v1.agg.io True Passed: all checks passed") << "without the condition an endpoint is ready";
  EXPECT_EQ(configs_.back().server, "https://10.0.0.7:443") << "the service's address, not the endpoint's";
}

// Regression: all of them got the message about a missing response at a DNS name of the cluster.
TEST_F(RemoteServicesTest, SayWhyAServiceCannotBeAsked) {
  const std::string failed = "v1.agg.io False FailedDiscoveryCheck: ";
  note();
  slice(R"([{"addresses":["10.0.0.1"]}])", R"({"name":"","port":443})");
  serve(R"({"type":"ClusterIP","clusterIP":"None","ports":[{"port":443}]})");
  EXPECT_EQ(last_report(), failed + R"(cannot route to service with ClusterIP "None")");
  serve(R"({"type":"NodePort","clusterIP":"10.0.0.7","ports":[{"port":80}]})");
  EXPECT_EQ(last_report(), failed + R"(no service port 443 found for service "agg")");
  serve(R"({"type":"LoadBalancer","clusterIP":"fd00::7","ports":[{"port":443}]})");
  const std::string url = "https://[fd00::7]:443/apis/agg.io/v1";
  EXPECT_EQ(last_report(), failed + "failing or missing response from " + url + ": bad status from " + url + ": 404");
  server_.down = service_unavailable("dial tcp 10.0.0.9:443: connect: connection refused");
  serve(R"({"type":"ExternalName","externalName":"agg.example.com"})");
  EXPECT_EQ(last_report(), failed +
                               "failing or missing response from https://agg.example.com:443/apis/agg.io/v1: Get "
                               "\"https://agg.example.com:443/apis/agg.io/v1\": dial tcp 10.0.0.9:443: connect: connection refused");
}

TEST_F(RemoteServicesTest, TheServerIsVerifiedByItsServicesNameAndTheBundle) {
  host_.flags["proxy-client-cert-file"] = "/front.crt";
  host_.flags["proxy-client-key-file"] = "/front.key";
  answer();
  serve(R"({"type":"ExternalName","externalName":"localhost"})");
  note();
  const ClientConfig& config = configs_.front();
  EXPECT_EQ(config.tls_server_name, "agg.n.svc");
  EXPECT_EQ(config.certificate_authority, "pem");
  EXPECT_EQ(config.client_certificate_file, "/front.crt");
  EXPECT_EQ(config.client_key_file, "/front.key");
  EXPECT_FALSE(config.insecure_skip_tls_verify);
  Headers sent = server_.calls.front().headers;
  EXPECT_EQ(sent[0], Header("X-Remote-User", "system:kube-aggregator"));
  EXPECT_EQ(sent[1], Header("X-Remote-Group", "system:masters"));
}

TEST_F(RemoteServicesTest, AServerThatFailsIsLookedAtAgainSoonAndLaterEachTime) {
  serve(R"({"type":"ExternalName","externalName":"localhost"})");
  note();
  EXPECT_EQ(last_report().find("v1.agg.io False FailedDiscoveryCheck"), 0u);
  host_.turns.fire_timers();
  host_.turns.fire_timers();
  std::vector<std::chrono::nanoseconds> pauses = host_.turns.delays;
  EXPECT_NE(std::find(pauses.begin(), pauses.end(), std::chrono::milliseconds(5)), pauses.end());
  EXPECT_NE(std::find(pauses.begin(), pauses.end(), std::chrono::milliseconds(10)), pauses.end());
  answer();
  host_.turns.fire_timers();
  EXPECT_EQ(last_report(), "v1.agg.io True Passed: all checks passed");
  pauses = host_.turns.delays;
  EXPECT_NE(std::find(pauses.begin(), pauses.end(), std::chrono::seconds(30)), pauses.end());
}

TEST_F(RemoteServicesTest, FollowsOnlyItsServiceAndEndpoints) {
  note();
  const std::size_t before = reports_.size();
  put(*services_, "other", R"("spec":{})");
  EXPECT_EQ(reports_.size(), before);
  serve(R"({"type":"ExternalName"})");
  EXPECT_EQ(reports_.size(), before + 1);
  slice("[]");
  EXPECT_EQ(reports_.size(), before + 2);
  services_->erase("agg");
  host_.turns.run_until_idle();
  EXPECT_EQ(reports_.size(), before + 3);
  remotes_->forget("v1.agg.io");
  serve(R"({"type":"ExternalName"})");
  EXPECT_EQ(reports_.size(), before + 3);
}

TEST_F(RemoteServicesTest, AGroupVersionIsForwardedOnceUntilItChangesOrGoes) {
  Object object = apiservice();
  note(object);
  note(object);
  EXPECT_EQ(host_.groups->times, 1);
  EXPECT_EQ(host_.groups->forwarded, std::vector<std::string>{"agg.io/v1"});
  object.at("spec").as_object()["versionPriority"] = 11;
  note(object);
  EXPECT_EQ(host_.groups->times, 2);
  remotes_->forget("v1.agg.io");
  remotes_->forget("v1.agg.io");
  EXPECT_EQ(host_.groups->times, 3);
  EXPECT_TRUE(host_.groups->forwarded.empty());
}

TEST_F(RemoteServicesTest, DiscoveryIsWhatTheServerSaidLastAndStaleWhileItDoesNot) {
  answer();
  server_.pages["/openapi/v3/apis/agg.io/v1"] = {"application/json", R"({"openapi":"3.0.0"})"};
  note();
  EXPECT_FALSE(documents().current);
  EXPECT_TRUE(documents().resources.empty());
  serve(R"({"type":"ExternalName","externalName":"localhost"})");
  EXPECT_TRUE(documents().current);
  EXPECT_EQ(get_string(documents().resources.at(0).as_object(), "resource"), "things");
  EXPECT_EQ(*documents().openapi_v3, R"({"openapi":"3.0.0"})");
  services_->erase("agg");
  host_.turns.run_until_idle();
  EXPECT_FALSE(documents().current);
  EXPECT_EQ(documents().resources.size(), 1u) << "what was known stays";
}

TEST_F(RemoteServicesTest, ADocumentOfVersion2IsAskedForWithTheEtagOfTheLast) {
  answer();
  server_.pages["/openapi/v2"] = {"application/json", R"({"swagger":"2.0","paths":{"/apis/agg.io/v1/things":{},"/apis/else.io/v1/":{}}})"};
  server_.etags["/openapi/v2"] = "\"one\"";
  note();
  serve(R"({"type":"ExternalName","externalName":"localhost"})");
  const std::string part = R"({"paths":{"/apis/agg.io/v1/things":{}},"definitions":{},"parameters":{}})";
  ASSERT_NE(documents().openapi_v2, nullptr);
  EXPECT_EQ(*documents().openapi_v2, part);
  services_->erase("agg");
  host_.turns.run_until_idle();
  server_.calls.clear();
  serve(R"({"type":"ExternalName","externalName":"localhost"})");
  const auto asked =
      std::find_if(server_.calls.begin(), server_.calls.end(), [](const HttpCall& call) { return call.target == "/openapi/v2"; });
  ASSERT_NE(asked, server_.calls.end());
  EXPECT_NE(std::find(asked->headers.begin(), asked->headers.end(), Header("If-None-Match", "\"one\"")), asked->headers.end());
  EXPECT_EQ(*documents().openapi_v2, part) << "it was 304";
  server_.pages.erase("/openapi/v2");
  services_->erase("agg");
  host_.turns.run_until_idle();
  serve(R"({"type":"ExternalName","externalName":"localhost"})");
  EXPECT_EQ(documents().openapi_v2, nullptr) << "it has none";
}

// ---- odd documents of servers

Object parse(const std::string& text) { return json::parse(text).as_object(); }

TEST(DiscoveryShapes, OfTheAggregatedForm) {
  const auto found = aggregated_resources(
      parse(R"({"items":[{"metadata":{"name":"other"}},{"metadata":{"name":"g"},"versions":[{"version":"v2"},{"version":"v1","resources":[
        {"resource":"a","scope":"Cluster","verbs":["get",7],"junk":1,"shortNames":[],"subresources":[{"subresource":"status","verbs":["get"]}, 5]},7]}]}]})"),
      {"g", "v1"});
  ASSERT_TRUE(found);
  EXPECT_EQ(to_json(*found),
            R"([{"resource":"a","responseKind":{"group":"","version":"","kind":""},"scope":"Cluster","singularResource":"",)"
            R"("verbs":["get"],"subresources":[{"subresource":"status","responseKind":{"group":"","version":"","kind":""},)"
            R"("verbs":["get"]}]}])");
  EXPECT_FALSE(aggregated_resources(parse(R"({"items":[{"metadata":{"name":"g"},"versions":[{"version":"v2"}]}]})"), {"g", "v1"}));
  for (const char* odd : {"{}", R"({"items":7})", R"({"items":[7]})", R"({"items":[{"metadata":7}]})",
                          R"({"items":[{"metadata":{"name":"g"},"versions":7}]})"}) {
    EXPECT_FALSE(aggregated_resources(parse(odd), {"g", "v1"})) << odd;
  }
}

TEST(DiscoveryShapes, OfTheOldForm) {
  const Array found = legacy_resources(parse(
      R"({"resources":[{"name":"a/status","kind":"A","verbs":["get"]},{"name":"a","namespaced":true,"kind":"A","verbs":["list"],"categories":["all"]},
        {"name":"b/x"},7]})"));
  EXPECT_EQ(to_json(found),
            R"([{"resource":"a","responseKind":{"group":"","version":"","kind":"A"},"scope":"Namespaced","singularResource":"",)"
            R"("verbs":["list"],"categories":["all"],"subresources":[{"subresource":"status","responseKind":{"group":"",)"
            R"("version":"","kind":"A"},"verbs":["get"]}]}])");
  EXPECT_TRUE(legacy_resources(parse(R"({"resources":{}})")).empty());
}

// Regression: if a version had the maximum number of resources, they were listed without subresources.
TEST(DiscoveryShapes, ManyResourcesHaveTheirSubresources) {
  constexpr int kMany = 5'000, kShown = 4'096;
  std::string resources;
  for (int i = 0; i < kMany; ++i) {
    const std::string name = "r" + std::to_string(i);
    resources += (i == 0 ? "" : ",") + (R"({"name":")" + name) + R"(","verbs":["get"]},{"name":")" + name + R"(/status","verbs":["get"]})";
  }
  const Array found = legacy_resources(parse("{\"resources\":[" + resources + "]}"));
  ASSERT_EQ(found.size(), static_cast<std::size_t>(kShown));
  for (const Value& each : found) {
    const Array* under = get_array(each.get_object(), "subresources");
    ASSERT_TRUE(under != nullptr && under->size() == 1);
  }
}

}  // namespace
}  // namespace backplane
