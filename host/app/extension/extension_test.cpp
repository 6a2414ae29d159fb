#include <gtest/gtest.h>

#include "app/extension/admission_review.hpp"
#include "app/extension/json_difference.hpp"
#include "app/extension/namespace_check.hpp"
#include "app/extension/outer_client.hpp"
#include "app/extension/outer_storage.hpp"
#include "app/extension/registration.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/types/schema.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"
#include "turn_executor.hpp"

namespace backplane {
namespace {

Object tree(std::string_view text) { return parse_json(text, {}, nullptr)->get_object(); }

TEST(JsonDifference, PatchesGiveTheOtherObject) {
  struct Row {
    const char *before, *after;
  };
  constexpr Row kRows[] = {{R"({})", R"({})"},
                           {R"({"a":1})", R"({"a":2})"},
                           {R"({"a":{"b/c":1,"~":2}})", R"({"a":{"b/c":3}})"},
                           {R"({"a":[1,2]})", R"({"a":[1,2,3],"b":{}})"},
                           {R"({"a":{"b":1}})", R"({"a":[]})"}};
  for (const Row& row : kRows) {
    Value patched = tree(row.before);
    const Array operations = json_difference(tree(row.before), tree(row.after));
    ASSERT_TRUE(json_patch(patched, operations).ok()) << row.before;
    EXPECT_EQ(patched, Value(tree(row.after))) << row.before;
  }
  EXPECT_TRUE(json_difference(tree(R"({"a":1})"), tree(R"({"a":1})")).empty());
}

TEST(OuterClient, GroupsOfPaths) {
  EXPECT_EQ(group_of_path("/api/v1/pods?watch=1"), "");
  EXPECT_EQ(group_of_path("/apis/apps/v1/deployments"), "apps");
  EXPECT_EQ(group_of_path("/apis/apps?x=/y"), "apps");
  for (const char* path : {"/apis", "/apis/", "/api", "/api/", "/healthz", "/openapi/v2", ""}) EXPECT_FALSE(group_of_path(path)) << path;
}

ExtensionSettings settings() {
  ExtensionSettings out;
  out.service_namespace = "kube-system";
  out.service_name = "stock";
  out.advertise_address = "192.0.2.1";
  return out;
}

TEST(Registration, AServiceWithEndpointsOrWithAnExternalName) {
  std::vector<GroupVersionInfo> versions(1);
  versions[0].group_version = {"stock.example.com", "v1"};
  versions[0].group_priority_minimum = 100000;
  auto objects = api_service_objects(settings(), versions, {6444, "PEM"});
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[1].resource.resource, "endpointslices");
  const Object& spec = objects[2].object["spec"].get_object();
  EXPECT_EQ(spec.at("groupPriorityMinimum"), 20000);
  EXPECT_EQ(spec.at("versionPriority"), 1);
  EXPECT_EQ(spec.at("service").at("port"), 443);
  ExtensionSettings named = settings();
  named.external_name = "runner.example.com";
  objects = api_service_objects(named, versions, {6444, "PEM"});
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].object["spec"].at("externalName"), "runner.example.com");
  EXPECT_EQ(objects[1].object["spec"].at("service").at("port"), 6444);
  EXPECT_TRUE(api_service_objects(named, {}, {6444, "PEM"}).empty());
}

TEST(Registration, AWebhookForEachStepOfARule) {
  WebhookRule rule{"KeepShelves", false, true, {"DELETE"}, {{"library.example.com", "*", "shelves"}}};
  auto objects = webhook_objects(settings(), {rule}, {6444, "PEM"});
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].resource.resource, "validatingwebhookconfigurations");
  const Object& hook = objects[0].object["webhooks"].at(0).get_object();
  EXPECT_EQ(hook.at("name"), "keepshelves.stock.backplane.dev");
  EXPECT_EQ(hook.at("clientConfig").at("url"), "https://192.0.2.1:6444/admission-webhooks/validate/KeepShelves");
}

// Labels objects, adds a warning, and refuses objects that are named "no".
class Rule final : public AdmissionRunner {
 public:
  Task<Status> admit(AdmissionAttributes& attributes) override {
    ensure_object(*attributes.object, "metadata")["labels"] = Object{{"user", attributes.user->name}};
    attributes.warn("labelled");
    co_return attributes.annotate("example.com/rule", "ran");
  }
  Task<Status> validate(const AdmissionAttributes& attributes) override {
    co_return attributes.name == "no" ? admission_forbidden(attributes, "it is named no") : Status();
  }
};

class Review : public ::testing::Test {
 protected:
  Review() { loop_.start(); }
  ~Review() override { loop_.stop(); }
  Result<Object> ask(bool mutating, std::string body) {
    auto answer = run_on(loop_, answer_review(rule_, mutating, std::move(body)));
    if (!answer.ok()) return std::move(answer).status();
    return Object(tree(*answer)["response"].get_object());
  }
  static std::string review(const std::string& name) {
    return R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","operation":"CREATE","name":")" + name +
           R"(","namespace":"default","kind":{"group":"","version":"v1","kind":"ConfigMap"},"resource":{"group":"","version":"v1",)" +
           R"("resource":"configmaps"},"userInfo":{"username":"jane"},"object":{"metadata":{"name":")" + name + R"("}},"oldObject":null}})";
  }
  IoLoop loop_{"review"};
  Rule rule_;
};

TEST_F(Review, AMutationIsAPatchWithWarningsAndAnnotations) {
  auto response = ask(true, review("a"));
  ASSERT_TRUE(response.ok()) << response.status().message();
  EXPECT_EQ(response->at("uid"), "u");
  EXPECT_EQ(response->at("allowed"), true);
  EXPECT_EQ(from_base64(get_string(*response, "patch")), R"([{"op":"add","path":"/metadata/labels","value":{"user":"jane"}}])");
  EXPECT_EQ(response->at("warnings"), Value(Array{"labelled"}));
  EXPECT_EQ(response->at("auditAnnotations").at("example.com.rule"), "ran");
}

TEST_F(Review, ARefusalHasItsStatus) {
  auto response = ask(false, review("no"));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->at("allowed"), false);
  EXPECT_EQ(response->at("status").at("code"), 403);
  EXPECT_EQ(response->at("status").at("message"), R"(configmaps "no" is forbidden: it is named no)");
  EXPECT_EQ(ask(false, review("yes"))->at("allowed"), true);
}

TEST_F(Review, BodiesThatAreNoReviewAreRefused) {
  for (const char* body : {"", "[]", "{}", R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})",
                           R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","request":{"uid":"u"}})",
                           R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","operation":"READ"}})"}) {
    EXPECT_EQ(ask(true, body).status().code(), 400) << body;
  }
}

// A response. The response of a watch ends with cancel().
class OuterAnswer final : public HttpAnswer {
 public:
  OuterAnswer(int code, std::string body, bool watch) : code_(code), body_(std::move(body)), watch_(watch) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override {
    if (watch_) co_await cancelled_.future();
    co_return std::exchange(body_, {});
  }
  void cancel() override { cancelled_.set(true); }

 private:
  const int code_;
  std::string body_;
  const bool watch_;
  const Headers headers_;
  Promise<bool> cancelled_;
};

// kube-apiserver over etcd 3.4: it refuses lists in watches. Its namespaces are default, and ending, which is being deleted.
class OuterServer final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    asked.push_back(call.target);
    const std::string path = call.target.substr(0, call.target.find('?'));
    const bool watch = call.target.find("watch=true") != std::string::npos;
    if (call.target.find("sendInitialEvents=true") != std::string::npos) {
      co_return answer(500, R"({"kind":"Status","code":500,"message":"the required storage feature RequestWatchProgress is disabled"})");
    }
    if (watch) co_return answer(200, "", true);
    if (path == "/api/v1/namespaces") {
      co_return answer(200, R"({"kind":"NamespaceList","metadata":{"resourceVersion":"9"},"items":[)"
                            R"({"metadata":{"name":"default","resourceVersion":"1"},"status":{"phase":"Active"}},)"
                            R"({"metadata":{"name":"ending","resourceVersion":"2"},"status":{"phase":"Terminating"}}]})");
    }
    if (path == "/api/v1/namespaces/new") co_return answer(200, R"({"metadata":{"name":"new"},"status":{"phase":"Active"}})");
    if (path == "/api/v1/namespaces/unreadable") {
      co_return answer(403, R"({"kind":"Status","code":403,"reason":"Forbidden","message":"namespaces \"unreadable\" is forbidden"})");
    }
    co_return answer(404, R"({"kind":"Status","code":404,"reason":"NotFound","message":"namespaces \"absent\" not found"})");
  }
  std::vector<std::string> asked;

 private:
  static std::unique_ptr<HttpAnswer> answer(int code, std::string body, bool watch = false) {
    return std::make_unique<OuterAnswer>(code, std::move(body), watch);
  }
};

class OuterObjects : public ::testing::Test {
 protected:
  ~OuterObjects() override {
    if (informer) informer->stop();
    turns.run_until_idle();
  }
  void follow(std::shared_ptr<ListerWatcher> source) {
    informer = SharedInformer::make("namespaces", std::move(source), logger);
    turns.start(informer->run());
  }
  const GroupVersionResource namespaces{"", "v1", "namespaces"};
  const std::shared_ptr<OuterServer> outer = std::make_shared<OuterServer>();
  const std::shared_ptr<ApiClient> api = std::make_shared<ApiClient>(outer);
  test::TurnExecutor turns;
  test::QuietLogger logger;
  std::shared_ptr<SharedInformer> informer;
};

// Regression: the informers of admission rules never synced, so the rules answered no review.
TEST_F(OuterObjects, AnInformerListsIfTheOuterServerRefusesAListInAWatch) {
  follow(list_watch(make_outer_storage(api, namespaces)));
  EXPECT_TRUE(informer->has_synced());
  EXPECT_EQ(informer->indexer().list_keys(), (std::vector<std::string>{"default", "ending"}));
  const std::string path = "/api/v1/namespaces?", tail = "watch=true&allowWatchBookmarks=true&";
  EXPECT_EQ(outer->asked,
            (std::vector<std::string>{path + "resourceVersionMatch=NotOlderThan&" + tail + "sendInitialEvents=true&timeoutSeconds=300",
                                      path + "limit=500", path + "resourceVersion=9&" + tail + "timeoutSeconds=300"}));
}

class NamespaceChecks : public OuterObjects {
 protected:
  NamespaceChecks() {
    follow(list_watch(api, namespaces));
    check = make_namespace_check(informer, api);
  }
  Status ask(AdmissionOperation operation, std::string ns) {
    RequestContext context;
    AdmissionAttributes attributes = admission_attributes(context, operation, {"stock.example.com", "v1", "shelves"}, {});
    attributes.ns = std::move(ns);
    attributes.name = "top";
    if (auto known = check->admit_now(attributes)) return std::move(*known);
    Status admitted;
    turns.start(admit(*check, attributes, admitted));
    return admitted;
  }
  std::shared_ptr<AdmissionPlugin> check;

 private:
  static Task<void> admit(const AdmissionPlugin& plugin, AdmissionAttributes& attributes, Status& admitted) {
    auto admitting = plugin.admit(attributes);
    admitted = co_await std::move(admitting);
  }
};

TEST_F(NamespaceChecks, CreatesNeedANamespaceThatIsNotBeingDeleted) {
  EXPECT_TRUE(check->ready());
  EXPECT_TRUE(ask(AdmissionOperation::kCreate, "default").ok());
  EXPECT_TRUE(ask(AdmissionOperation::kCreate, "").ok());
  EXPECT_TRUE(ask(AdmissionOperation::kCreate, "new").ok()) << "the informer has no event of it yet";
  const Status refused = ask(AdmissionOperation::kCreate, "ending");
  EXPECT_EQ(refused.message(), R"(shelves.stock.example.com "top" is forbidden: unable to create new content in namespace ending because )"
                               "it is being terminated");
  EXPECT_EQ(refused.details()->causes.at(0).reason, "NamespaceTerminating");
  EXPECT_EQ(ask(AdmissionOperation::kCreate, "absent").message(), R"(namespaces "absent" not found)");
}

TEST_F(NamespaceChecks, UpdatesNeedANamespace) {
  ASSERT_TRUE(check->handles(AdmissionOperation::kUpdate));
  EXPECT_FALSE(check->handles(AdmissionOperation::kDelete)) << "objects that are left in a namespace that is gone can be deleted";
  for (const char* ns : {"default", "ending", "new", ""}) EXPECT_TRUE(ask(AdmissionOperation::kUpdate, ns).ok()) << ns;
  EXPECT_EQ(ask(AdmissionOperation::kUpdate, "absent").code(), 404);
}

TEST_F(NamespaceChecks, AnErrorOfTheOuterServerIsNotTheClients) {
  const Status refused = ask(AdmissionOperation::kUpdate, "unreadable");
  EXPECT_EQ(refused.reason(), Reason::kInternalError);
  EXPECT_EQ(refused.message(), R"(Internal error occurred: namespaces "unreadable" is forbidden)");
}

}  // namespace
}  // namespace backplane
