#include <gtest/gtest.h>

#include "app/extension/admission_review.hpp"
#include "app/extension/json_difference.hpp"
#include "app/extension/outer_client.hpp"
#include "app/extension/registration.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/types/schema.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"

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

// Labels objects, warns, and refuses those that are named "no".
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

}  // namespace
}  // namespace backplane
