#include <gtest/gtest.h>

#include "backplane/core/json_access.hpp"
#include "backplane/types/base64.hpp"
#include "common/request_fields.hpp"
#include "webhooks/review_answer.hpp"
#include "webhooks/review_request.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr std::string_view kPatchText = R"([{"op":"add","path":"/foo","value":"bar"}])";

std::string with_patch(std::string text) {
  const std::string place = "$patch";
  if (const auto at = text.find(place); at != std::string::npos) text.replace(at, place.size(), to_base64(kPatchText));
  return text;
}

struct AnswerCase {
  const char* name;
  const char* version;
  bool mutating;
  const char* body;
  const char* why;  // null: usable
};

constexpr const char* kAbsent = "received invalid webhook response: webhook response was absent";

// Cases of upstream's request/admissionreview_test.go, and cases that the decoder refuses.
const AnswerCase kAnswers[] = {
    {"v1beta1 allowed", "v1beta1", false, R"({"response":{"allowed":true}})", nullptr},
    {"v1 allowed", "v1", false, R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"123","allowed":true}})",
     nullptr},
    {"v1beta1 no response", "v1beta1", false, R"({})", kAbsent},
    {"v1 no response", "v1", false, R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})", kAbsent},
    {"v1 wrong uid", "v1", false,
     R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"1234","allowed":true}})",
     R"(received invalid webhook response: expected response.uid="123", got "1234")"},
    {"v1beta1 any uid", "v1beta1", false, R"({"response":{"uid":"1234","allowed":true}})", nullptr},
    {"v1 without kind", "v1", false, R"({"response":{"uid":"123","allowed":true}})",
     "received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind="},
    {"v1 patch", "v1", true,
     R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"123","allowed":true,"patch":"$patch","patchType":"JSONPatch"}})",
     nullptr},
    {"v1beta1 patch without type", "v1beta1", true, R"({"response":{"allowed":true,"patch":"$patch"}})", nullptr},
    {"v1 patch without type", "v1", true,
     R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"123","allowed":true,"patch":"$patch"}})",
     "received invalid webhook response: webhook returned response.patch but not response.patchType"},
    {"v1 type without patch", "v1", true,
     R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"123","allowed":true,"patchType":"JSONPatch"}})",
     "received invalid webhook response: webhook returned response.patchType but not response.patch"},
    {"v1 empty type", "v1", true,
     R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"123","allowed":true,"patch":"$patch","patchType":""}})",
     R"(received invalid webhook response: webhook returned invalid response.patchType of "")"},
    {"v1 patch of a validating webhook", "v1", false,
     R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"123","allowed":true,"patch":"$patch"}})",
     "received invalid webhook response: validating webhook may not return response.patch"},
    {"v1 type of a validating webhook", "v1", false,
     R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"123","allowed":true,"patchType":"JSONPatch"}})",
     "received invalid webhook response: validating webhook may not return response.patchType"},
    {"another version", "v1", false, R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"allowed":true}})",
     "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion"},
    {"another kind", "v1", false, R"({"kind":"Other","apiVersion":"admission.k8s.io/v1"})",
     R"(failed to call webhook: no kind "Other" is registered for version "admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111")"},
    {"type of v1 that is a number", "v1", true,
     R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"patchType":7}})",
     "failed to call webhook: json: cannot unmarshal number into Go struct field AdmissionResponse.response.patchType of type "
     "v1.PatchType"},
    {"type of v1beta1 that is a number", "v1beta1", true, R"({"response":{"patchType":7}})",
     "failed to call webhook: json: cannot unmarshal number into Go struct field AdmissionResponse.response.patchType of type "
     "v1beta1.PatchType"},
    {"half a document", "v1", false, R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","resp)",
     "failed to call webhook: couldn't get version/kind; json parse error: unexpected end of JSON input"},
    {"empty", "v1", false, "", "failed to call webhook: 0-length response with status code: 200 and content type: application/json"},
};

TEST(WebhookAnswerTest, IsVerifiedAsUpstreamDoes) {
  for (const AnswerCase& each : kAnswers) {
    const ReadAnswer read = read_review_answer({200, "application/json", with_patch(each.body)}, each.version, "123", each.mutating);
    const auto* failure = std::get_if<WebhookFailure>(&read);
    if (each.why != nullptr) {
      ASSERT_NE(failure, nullptr) << each.name;
      EXPECT_EQ(failure->why, each.why) << each.name;
      EXPECT_EQ(failure->code, 503) << each.name;
    } else {
      ASSERT_EQ(failure, nullptr) << each.name << ": " << failure->why;
      EXPECT_TRUE(std::get<ReviewAnswer>(read).allowed) << each.name;
    }
  }
}

TEST(WebhookAnswerTest, CarriesPatchAnnotationsAndWarnings) {
  const ReadAnswer read = read_review_answer(
      {200, "application/json",
       with_patch(R"({"response":{"allowed":true,"patch":"$patch","auditAnnotations":{"b":"2","a":"1"},"warnings":["one","two"]}})")},
      "v1beta1", "123", true);
  const auto& answer = std::get<ReviewAnswer>(read);
  EXPECT_EQ(answer.patch, kPatchText);
  EXPECT_EQ(answer.patch_type, "JSONPatch");
  EXPECT_EQ(answer.audit_annotations, (std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(answer.warnings, (std::vector<std::string>{"one", "two"}));
}

TEST(WebhookAnswerTest, TypesAreChecked) {
  const ReadAnswer read = read_review_answer(
      {200, "", R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"1","allowed":"yes"}})"}, "v1", "1",
      false);
  EXPECT_EQ(std::get<WebhookFailure>(read).why,
            "failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool");
}

TEST(WebhookAnswerTest, ErrorCodesHaveClientGosTexts) {
  const auto why = [](int code, std::string type, std::string body) {
    const ReadAnswer read = read_review_answer({code, std::move(type), std::move(body)}, "v1", "1", false);
    const auto& failure = std::get<WebhookFailure>(read);
    return std::to_string(failure.code) + " " + failure.why.substr(std::string_view("failed to call webhook: ").size());
  };
  EXPECT_EQ(why(404, "text/plain", "page not found"), "404 the server could not find the requested resource");
  EXPECT_EQ(why(500, "text/plain", " broken \n"), R"(500 an error on the server ("broken") has prevented the request from succeeding)");
  EXPECT_EQ(why(500, "application/json", "{}"), R"(500 an error on the server ("unknown") has prevented the request from succeeding)");
  EXPECT_EQ(why(302, "text/html", ""), "302 the server responded with the status code 302 but did not return more information");
  EXPECT_EQ(why(403, "application/json", R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":418})"), "418 no");
}

struct DenialCase {
  const char* name;
  const char* result;
  const char* rest;
  int code;
};

// Cases of upstream's errors/statuserror_test.go.
const DenialCase kDenials[] = {
    {"nil result", R"({})", " without explanation", 400},
    {"only message", R"({"message":"you shall not pass"})", ": you shall not pass", 400},
    {"only reason", R"({"reason":"Forbidden"})", ": Forbidden", 400},
    {"message and reason", R"({"message":"you shall not pass","reason":"Forbidden"})", ": you shall not pass", 400},
    {"custom 4xx status code", R"({"code":401})", " without explanation", 401},
    {"custom 5xx status code", R"({"code":500})", " without explanation", 500},
    {"200 status code", R"({"code":200})", " without explanation", 400},
    {"399 status code", R"({"code":399})", " without explanation", 400},
    {"success status overridden", R"({"status":"Success"})", " without explanation", 400},
};

TEST(WebhookDenial, HasUpstreamsTextAndCode) {
  for (const DenialCase& each : kDenials) {
    const Status status = denied_by("h.example.com", json::parse(each.result).get_object());
    EXPECT_EQ(status.message(), R"(admission webhook "h.example.com" denied the request)" + std::string(each.rest)) << each.name;
    EXPECT_EQ(status.code(), each.code) << each.name;
  }
  const Status status = denied_by("h", json::parse(R"({"code":422,"reason":"Invalid","message":"m","details":{"name":"n","kind":"k",
      "causes":[{"reason":"FieldValueInvalid","message":"bad","field":"spec.a"}],"retryAfterSeconds":3}})")
                                           .get_object());
  EXPECT_EQ(status.reason(), Reason::kInvalid);
  ASSERT_NE(status.details(), nullptr);
  EXPECT_EQ(status.details()->name, "n");
  EXPECT_EQ(status.details()->retry_after_seconds, 3);
  ASSERT_EQ(status.details()->causes.size(), 1u);
  EXPECT_EQ(status.details()->causes[0].field, "spec.a");
}

TEST(WebhookReview, HasTheMembersOfTheGoStructInTheirOrder) {
  AdmissionAttributes attributes;
  attributes.operation = AdmissionOperation::kUpdate;
  attributes.resource = {"apps", "v1", "deployments"};
  attributes.kind = {"apps", "v1", "Deployment"};
  attributes.ns = "ns";
  attributes.name = "web";
  attributes.dry_run = true;
  UserInfo user;
  user.name = "jane";
  user.groups = {"a", "b"};
  user.extra = {{"z", {"1"}}, {"c", {"2", "3"}}};
  attributes.user = user;
  WriteOptions options;
  options.dry_run = true;
  options.field_manager = "test";
  attributes.options = options;
  const Value object = json::parse(R"({"kind":"Deployment","apiVersion":"apps/v1beta1","metadata":{"name":"web"}})");
  const ServedAs target{{"apps", "v1beta1", "deployments"}, {"apps", "v1beta1", "Deployment"}};
  const EncodedReview review = encode_review("v1", attributes, target, &object.get_object(), nullptr);
  EXPECT_EQ(review.body("u-1"),
            R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-1",)"
            R"("kind":{"group":"apps","version":"v1beta1","kind":"Deployment"},)"
            R"("resource":{"group":"apps","version":"v1beta1","resource":"deployments"},)"
            R"("requestKind":{"group":"apps","version":"v1","kind":"Deployment"},)"
            R"("requestResource":{"group":"apps","version":"v1","resource":"deployments"},)"
            R"("name":"web","namespace":"ns","operation":"UPDATE",)"
            R"("userInfo":{"username":"jane","groups":["a","b"],"extra":{"c":["2","3"],"z":["1"]}},)"
            R"("object":{"kind":"Deployment","apiVersion":"apps/v1beta1","metadata":{"name":"web"}},"oldObject":null,"dryRun":true,)"
            R"("options":{"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1","dryRun":["All"],"fieldManager":"test"}}})"
            "\n");
}

TEST(WebhookReview, ASubresourceIsNamed) {
  AdmissionAttributes attributes;
  attributes.operation = AdmissionOperation::kConnect;
  attributes.subresource = "exec";
  const Object request = request_fields(attributes, {}, {}, json::storage_ptr());
  EXPECT_EQ(get_string(request, "subResource"), "exec");
  EXPECT_EQ(get_string(request, "requestSubResource"), "exec");
  EXPECT_TRUE(find(request, "options")->is_null());
  EXPECT_EQ(find(request, "name"), nullptr);
}

}  // namespace
}  // namespace backplane::admission::webhooks
