#include "backplane/net/client.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include <deque>

#include "net/client/answers.hpp"
#include "net/client/paths.hpp"
#include "turn_executor.hpp"

namespace backplane {
namespace {

using Texts = std::vector<std::string>;

class Answer final : public HttpAnswer {
 public:
  Answer(int code, Texts parts) : code_(code), parts_(parts.begin(), parts.end()) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override {
    if (parts_.empty()) co_return std::string();
    std::string part = parts_.front();
    parts_.pop_front();
    co_return part;
  }
  void cancel() override { parts_.clear(); }

 private:
  int code_;
  std::deque<std::string> parts_;
  Headers headers_;
};

// Returns the responses that the test has set, and records the requests.
class Http final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    asked.push_back(call.method + " " + call.target + (call.body.empty() ? "" : " " + call.body));
    last = std::move(call);
    co_return std::unique_ptr<HttpAnswer>(std::make_unique<Answer>(code, parts));
  }
  int code = 200;
  Texts parts = {"{}"};
  Texts asked;
  HttpCall last;
};

class ApiClientTest : public ::testing::Test {
 protected:
  template <class T>
  T run(Task<T> task) {
    std::optional<T> out;
    turns.start(keep(std::move(task), out));
    EXPECT_TRUE(out.has_value());
    return std::move(*out);
  }
  template <class T>
  static Task<void> keep(Task<T> task, std::optional<T>& out) {
    T value = co_await std::move(task);
    out.emplace(std::move(value));
  }
  test::TurnExecutor turns;
  std::shared_ptr<Http> http = std::make_shared<Http>();
  ApiClient api{http};
  const GroupVersionResource pods{"", "v1", "pods"};
  const GroupVersionResource deployments{"apps", "v1", "deployments"};
};

TEST_F(ApiClientTest, AWholeAnswerIsReadToItsEndOrItsLimit) {
  http->parts = {"one ", "two ", "three"};
  const auto whole = run(http->call_whole({}, {13}));
  EXPECT_EQ(whole->body, "one two three");
  EXPECT_TRUE(whole->complete);
  const auto cut = run(http->call_whole({}, {7}));
  EXPECT_EQ(cut->body, "one two ");
  EXPECT_FALSE(cut->complete);
  const auto length = [](std::string_view beginning) noexcept { return beginning.size() < 6 ? std::size_t{0} : std::size_t{10}; };
  EXPECT_FALSE(run(http->call_whole({}, {100, length}))->complete) << "longer than it announced";
  EXPECT_EQ(run(http->call_whole({}, {9, length}))->body, "one two ") << "it will be longer than the limit";
}

TEST(CallBreaker, EndsACallThatIsAttachedBeforeOrAfterwards) {
  struct Call final : BreakableCall {
    void break_off(Status why) override { reasons.push_back(why.message()); }
    Texts reasons;
  };
  const auto early = std::make_shared<Call>(), late = std::make_shared<Call>();
  CallBreaker breaker;
  breaker.attach(early);
  breaker.attach(std::weak_ptr<BreakableCall>(early));
  breaker.break_off(service_unavailable("first"));
  breaker.break_off(service_unavailable("second"));
  EXPECT_EQ(early->reasons, Texts{"first"});
  breaker.attach(late);
  EXPECT_EQ(late->reasons, Texts{"first"});
}

TEST_F(ApiClientTest, AsksForWhatTheVerbsMean) {
  Object object;
  object["metadata"] = Object{{"name", "p"}};
  ListOptions list;
  list.labels = *LabelSelector::parse("a=b,c in (d,e)");
  list.limit = 5;
  list.continue_token = "to/ken";
  DeleteOptions deletion;
  deletion.propagation_policy = "Foreground";
  WriteOptions dry;
  dry.dry_run = true;
  dry.field_manager = "me";
  (void)run(api.get(pods, "ns", "p"));
  (void)run(api.list(deployments, "", list));
  (void)run(api.create(pods, "ns", object, dry));
  (void)run(api.update(deployments, "ns", object, "status"));
  (void)run(api.patch(pods, "ns", "p", PatchType::kJson, Array()));
  EXPECT_EQ(http->last.headers.back(), Header("Content-Type", "application/json-patch+json"));
  (void)run(api.remove(pods, "ns", "p", deletion));
  (void)run(api.remove_collection(pods, "ns", {}, list));
  EXPECT_EQ(
      http->asked,
      (Texts{"GET /api/v1/namespaces/ns/pods/p",
             "GET /apis/apps/v1/deployments?labelSelector=a%3Db%2Cc%20in%20%28d%2Ce%29&limit=5&continue=to%2Fken",
             R"(POST /api/v1/namespaces/ns/pods?dryRun=All&fieldManager=me {"metadata":{"name":"p"}})",
             R"(PUT /apis/apps/v1/namespaces/ns/deployments/p/status {"metadata":{"name":"p"}})", "PATCH /api/v1/namespaces/ns/pods/p []",
             R"(DELETE /api/v1/namespaces/ns/pods/p {"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground"})",
             R"(DELETE /api/v1/namespaces/ns/pods?labelSelector=a%3Db%2Cc%20in%20%28d%2Ce%29&limit=5&continue=to%2Fken )"
             R"({"kind":"DeleteOptions","apiVersion":"v1"})"}));
}

TEST_F(ApiClientTest, ErrorsAreTheStatusTheServerSent) {
  const Status sent = not_found("apps", "deployments", "d");
  http->code = 404;
  http->parts = {sent.to_json()};
  const auto got = run(api.get(deployments, "ns", "d"));
  EXPECT_EQ(got.status().to_json(), sent.to_json());
  http->code = 422;
  FieldErrors errors;
  errors.required("spec.x");
  http->parts = {errors.to_status("apps", "Deployment", "d").to_json()};
  EXPECT_EQ(run(api.get(deployments, "ns", "d")).status().to_json(), http->parts[0]);
}

TEST_F(ApiClientTest, AnErrorThatIsNoStatusKeepsItsCodeAndText) {
  http->code = 503;
  http->parts = {"no ", "backend"};
  const auto got = run(api.get(pods, "ns", "p"));
  EXPECT_EQ(got.status().code(), 503);
  EXPECT_EQ(got.status().reason(), Reason::kServiceUnavailable);
  EXPECT_EQ(got.status().message(), "no backend");
  http->code = 200;
  EXPECT_EQ(run(api.get(pods, "ns", "p")).status().reason(), Reason::kInternalError) << "200 without JSON";
}

TEST_F(ApiClientTest, EventsAreReadAcrossTheirPieces) {
  http->parts = {R"({"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n","resourceVersion":"7","labels":{"x":"y"}}}})",
                 "\n{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n{\"type\":\"DEL",
                 R"(ETED","object":{"metadata":{"name":"a"}}})"
                 "\n"};
  auto stream = run(api.watch(pods, "n"));
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(http->asked, Texts{"GET /api/v1/namespaces/n/pods?watch=true"});
  EXPECT_TRUE(http->last.lasting);
  const auto first = run((*stream)->next());
  ASSERT_EQ(first->size(), 2u);
  EXPECT_EQ((*first)[0].object->name(), "a");
  EXPECT_EQ((*first)[0].object->ns(), "n");
  EXPECT_EQ((*first)[0].object->revision, 7);
  EXPECT_EQ((*first)[0].object->labels().copy(), (Labels{{"x", "y"}}));
  EXPECT_EQ((*first)[1].type, EventType::kBookmark);
  EXPECT_EQ((*first)[1].object->revision, 9);
  const auto second = run((*stream)->next());
  ASSERT_EQ(second->size(), 1u);
  EXPECT_EQ((*second)[0].type, EventType::kDeleted);
  EXPECT_TRUE(run((*stream)->next())->empty()) << "the end";
}

TEST_F(ApiClientTest, ARefusedWatchHasAReason) {
  http->code = 410;
  http->parts = {expired("too old resource version").to_json()};
  EXPECT_EQ(run(api.watch(pods, "n")).status().reason(), Reason::kExpired);
}

constexpr std::string_view kKubeconfig = R"(
apiVersion: v1
kind: Config
current-context: b
contexts:
- {name: a, context: {cluster: nowhere, user: nobody}}
- name: b
  context: {cluster: c, user: u}
clusters:
- name: c
  cluster:
    server: https://h:1
    certificate-authority-data: Q0E=
    tls-server-name: other
users:
- name: u
  user:
    token: secret
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
)";

TEST(Kubeconfig, TheCurrentContextCounts) {
  const auto config = client_config_from_kubeconfig(kKubeconfig);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->server, "https://h:1");
  EXPECT_EQ(config->certificate_authority, "CA");
  EXPECT_EQ(config->client_certificate, "CERT");
  EXPECT_EQ(config->client_key, "KEY");
  EXPECT_EQ(config->token, "secret");
  EXPECT_EQ(config->tls_server_name, "other");
  EXPECT_FALSE(config->insecure_skip_tls_verify);
}

TEST(Kubeconfig, FilesStayFilesAndMustBeThere) {
  const std::string path = testing::TempDir() + "kubeconfig-ca-" + std::to_string(getpid());
  std::ofstream(path) << "CA";
  std::string text(kKubeconfig);
  const std::string data = "certificate-authority-data: Q0E=";
  text.replace(text.find(data), data.size(), "certificate-authority: " + path);
  const auto config = client_config_from_kubeconfig(text);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->certificate_authority, "");
  EXPECT_EQ(config->certificate_authority_file, path);
  std::remove(path.c_str());
  EXPECT_EQ(client_config_from_kubeconfig(text).status().message(), "kubeconfig: " + path + " cannot be read");
}

TEST(Kubeconfig, WhatIsMissingIsNamed) {
  EXPECT_EQ(client_config_from_kubeconfig("{}").status().message(), "kubeconfig: there is no current context");
  std::string other(kKubeconfig);
  other.replace(other.find("current-context: b"), 18, "current-context: a");
  EXPECT_EQ(client_config_from_kubeconfig(other).status().message(), "kubeconfig: there is no cluster \"nowhere\"");
  std::string broken(kKubeconfig);
  broken.replace(broken.find("Q0E="), 4, "Q-_=");
  EXPECT_EQ(client_config_from_kubeconfig(broken).status().message(), "kubeconfig: certificate-authority-data is not base64");
}

}  // namespace
}  // namespace backplane
