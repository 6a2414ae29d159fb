#include "admission_targets.hpp"

#include <algorithm>
#include <array>

#include "admission/admission_config.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/types/json_reading.hpp"
#include "objects/event_limits.hpp"
#include "pods/image_policy_config.hpp"
#include "podsecurity/configuration.hpp"
#include "quota/limits_config.hpp"
#include "require.hpp"
#include "webhooks/hook_patch.hpp"
#include "webhooks/review_answer.hpp"
#include "webhooks/webhook_configuration.hpp"

namespace backplane::fuzz {
namespace {

namespace hooks = admission::webhooks;

constexpr std::string_view kUid = "123";
constexpr std::array kCodes = {200, 201, 206, 204, 302, 400, 403, 404, 406, 429, 500, 503};
constexpr std::array<std::string_view, 3> kTypes = {"application/json", "", "text/plain"};

// An input as a webhook's response. The first byte selects the headers of the response, and the request.
struct Arrival {
  WebhookAnswer answer;
  std::string version;
  bool mutating = false;
};

Arrival arrival_of(std::string_view bytes) {
  const unsigned how = bytes.empty() ? 0U : static_cast<unsigned char>(bytes.front());
  Arrival out;
  out.version = (how & 1U) == 0 ? "v1" : "v1beta1";
  out.mutating = (how & 2U) != 0;
  out.answer.content_type = kTypes[(how >> 2U) % kTypes.size()];
  out.answer.code = kCodes[(how >> 4U) % kCodes.size()];
  out.answer.body = bytes.substr(std::min<std::size_t>(1, bytes.size()));
  return out;
}

void check_denial(const hooks::ReviewAnswer& answer) {
  const Status denied = hooks::denied_by("w.example.com", answer.result);
  FUZZ_REQUIRE(!denied.ok() && denied.code() >= 400);
  FUZZ_REQUIRE(denied.message().starts_with("admission webhook \"w.example.com\" denied the request"));
  FUZZ_REQUIRE(read_json(denied.to_json()).has_value());
}

// Checks that a refused patch or operation has an error message.
void check_patch(const Object& object, std::string_view patch) {
  const auto operations = hooks::decode_hook_patch(patch, json::make_shared_resource<json::monotonic_resource>());
  if (!operations.ok()) {
    FUZZ_REQUIRE(!operations.status().message().empty());
    return;
  }
  FUZZ_REQUIRE(read_json(hooks::patch_annotation("c", "w", *operations)).has_value());
  const auto patched = hooks::apply_hook_patch(object, *operations);
  FUZZ_REQUIRE(patched.ok() ? patched->is_object() : !patched.status().message().empty());
}

template <class Parse>
void check_configuration(const std::string& text, Parse parse) {
  const auto once = parse(text);
  const auto twice = parse(text);
  FUZZ_REQUIRE(once.ok() == twice.ok());
  if (!once.ok()) FUZZ_REQUIRE(!once.status().message().empty() && once.status().message() == twice.status().message());
}

struct ConfigurationRow {
  std::string_view plugin;
  void (*check)(const std::string& text);
};
constexpr std::array<ConfigurationRow, 5> kConfigurations = {{
    {"EventRateLimit",
     [](const std::string& text) {
       check_configuration(text, [](const std::string& each) { return admission::objects::parse_event_limits(each); });
     }},
    {"ImagePolicyWebhook",
     [](const std::string& text) {
       check_configuration(text, [](const std::string& each) { return admission::pods::parse_image_policy_config(each); });
     }},
    {"PodSecurity",
     [](const std::string& text) {
       check_configuration(text, [](const std::string& each) { return admission::podsecurity::parse_configuration(each); });
     }},
    {"ResourceQuota",
     [](const std::string& text) {
       check_configuration(text, [](const std::string& each) { return admission::quota::parse_limits(each); });
     }},
    {"ValidatingAdmissionWebhook",
     [](const std::string& text) {
       check_configuration(text, [](const std::string& each) { return hooks::parse_webhook_configuration(each); });
     }},
}};

std::string of_plugin(std::string_view plugin, std::string_view configuration) {
  return R"({"apiVersion":"apiserver.config.k8s.io/v1","kind":"AdmissionConfiguration","plugins":[{"name":")" + std::string(plugin) +
         R"(","configuration":)" + std::string(configuration) + "}]}";
}

}  // namespace

// Checks that each response results in a decision or an error, that only a mutating webhook can return a patch, and that a patch has a
// type.
void admission_answers(std::string_view bytes) {
  const Arrival arrival = arrival_of(bytes);
  const auto read = hooks::read_review_answer(arrival.answer, arrival.version, kUid, arrival.mutating);
  if (const auto* failure = std::get_if<hooks::WebhookFailure>(&read)) {
    FUZZ_REQUIRE(failure->why.starts_with("failed to call webhook: ") || failure->why.starts_with("received invalid webhook response: "));
    return;
  }
  const auto& answer = std::get<hooks::ReviewAnswer>(read);
  FUZZ_REQUIRE(arrival.answer.code >= 200 && arrival.answer.code <= 206);
  FUZZ_REQUIRE(answer.patch.empty() || (arrival.mutating && !answer.patch_type.empty()));
  check_denial(answer);
  if (!answer.patch.empty()) check_patch(Object(), answer.patch);
}

// The first line of the input is the object; the rest is the patch.
void admission_patches(std::string_view bytes) {
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  const auto object = read_json(bytes.substr(0, line));
  if (!object || !object->is_object()) return;
  check_patch(object->get_object(), bytes.substr(std::min(line + 1, bytes.size())));
}

// Either the configuration is refused with a message, or each plugin reads its part.
void admission_configurations(std::string_view bytes) {
  // The configuration may name files; some of these never end.
  if (bytes.find("/dev") != std::string_view::npos || bytes.find("/proc") != std::string_view::npos) return;
  const auto configuration = parse_admission_configuration(bytes, "/nonexistent/admission.yaml");
  if (!configuration.ok()) {
    FUZZ_REQUIRE(!configuration.status().message().empty());
    return;
  }
  for (const ConfiguredAdmissionPlugin& each : *configuration) {
    FUZZ_REQUIRE(!each.name.empty());
    for (const ConfigurationRow& row : kConfigurations) {
      if (row.plugin == each.name) row.check(each.config.configuration);
    }
  }
}

std::vector<std::string> admission_answer_seeds() {
  const std::string head = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"123",)";
  return {
      "\x02" + head + R"("allowed":true,"patchType":"JSONPatch","patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2EiLCJ2YWx1ZSI6MX1d",)" +
          R"("warnings":["a","b"],"auditAnnotations":{"k":"v","a":"b"}}})",
      std::string(1, '\0') + head + R"("allowed":false,"status":{"status":"Failure","code":422,"reason":"Invalid","message":"no",)" +
          R"("details":{"name":"n","group":"g","kind":"k","uid":"u","retryAfterSeconds":3,"causes":[{"reason":"r","message":"m","field":"f"}]}}}})",
      std::string("\x03") + R"({"response":{"allowed":true,"patch":"W10="}})",
      std::string("\x50") + R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"down","code":418})",
      std::string("\x08") + "kind: AdmissionReview\napiVersion: admission.k8s.io/v1\nresponse: {allowed: false}\n",
  };
}

std::vector<std::string> admission_patch_seeds() {
  return {
      R"({"kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"c"},{"name":"d"}]}})"
      "\n"
      R"([{"op":"add","path":"/spec/containers/-","value":{"name":"e"}},{"op":"test","path":"/spec/containers/-1/name","value":"e"},)"
      R"({"op":"move","from":"/metadata/labels/a","path":"/metadata/labels/x~1y~0z"},{"op":"copy","from":"/spec","path":"/status"},)"
      R"({"op":"remove","path":"/spec/containers/0"},{"op":"replace","path":"/kind","value":null}])",
      "{\"a\":[1,[2]]}\n[{\"op\":\"remove\",\"path\":\"/a/x\"},null,{\"op\":\"other\"}]",
  };
}

std::vector<std::string> admission_configuration_seeds() {
  return {
      of_plugin("EventRateLimit", R"({"apiVersion":"eventratelimit.admission.k8s.io/v1alpha1","kind":"Configuration","limits":)"
                                  R"([{"type":"Namespace","qps":50,"burst":100,"cacheSize":200},{"type":"Server","qps":1,"burst":2}]})"),
      of_plugin("PodSecurity", R"({"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration","defaults":)"
                               R"({"enforce":"baseline","enforce-version":"v1.30","audit":"restricted","warn":"privileged"},)"
                               R"("exemptions":{"usernames":["a"],"runtimeClasses":["b"],"namespaces":["c"]}})"),
      of_plugin("ResourceQuota",
                R"({"apiVersion":"apiserver.config.k8s.io/v1","kind":"ResourceQuotaConfiguration","limitedResources":)"
                R"([{"resource":"pods","matchContains":["cpu"],"matchScopes":[{"scopeName":"PriorityClass","operator":"In",)"
                R"("values":["high"]}]}]})"),
      of_plugin("ValidatingAdmissionWebhook", R"({"apiVersion":"apiserver.config.k8s.io/v1","kind":"WebhookAdmissionConfiguration",)"
                                              R"("chainBudget":"3s","circuitBreakerFailures":2,"failOpenForOwnService":false})"),
      of_plugin("ImagePolicyWebhook", R"({"imagePolicy":{"kubeConfigFile":"/etc/hostname","allowTTL":50,"denyTTL":5,"retryBackoff":500,)"
                                      R"("defaultAllow":true}})"),
      "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: EventRateLimit\n  path: limits.yaml\n",
  };
}

}  // namespace backplane::fuzz
