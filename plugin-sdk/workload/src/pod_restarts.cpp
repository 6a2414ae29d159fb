// Rules for restart policies, resize policies and sleeping handlers of containers.
#include "backplane/core/json_access.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

constexpr std::size_t kMaxRules = 20;
constexpr std::size_t kMaxExitCodes = 255;

void validate_rule(const Object& rule, const Path& path, FieldErrors& errors) {
  const std::string_view action = get_string(rule, "action");
  if (action != "Restart" && action != "RestartAllContainers") {
    errors.not_supported(path.at("action"), action, {"Restart", "RestartAllContainers"});
  }
  const Path codes_path = path.at("exitCodes");
  const Object* codes = get_object(rule, "exitCodes");
  if (codes == nullptr) {
    errors.required(codes_path, "must be specified");
    return;
  }
  const std::string_view word = get_string(*codes, "operator");
  if (word != "In" && word != "NotIn") errors.not_supported(codes_path.at("operator"), word, {"In", "NotIn"});
  const Array* values = get_array(*codes, "values");
  if (values != nullptr && values->size() > kMaxExitCodes) {
    errors.too_many(codes_path.at("values"), static_cast<long long>(values->size()), kMaxExitCodes);
  }
}

}  // namespace

void validate_restart_rules(const Object& container, const Path& path, bool init, FieldErrors& errors) {
  const Array* rules = get_array(container, "restartPolicyRules");
  if (rules == nullptr || rules->empty()) return;
  if (!has(container, "restartPolicy")) {
    errors.required(path.at("restartPolicy"), "must specify restartPolicy when restart rules are used");
    if (init) return;
  }
  if (rules->size() > kMaxRules) errors.too_many(path.at("restartPolicyRules"), static_cast<long long>(rules->size()), kMaxRules);
  each(container, "restartPolicyRules",
       [&](const Object& rule, std::size_t i) { validate_rule(rule, path.at("restartPolicyRules", i), errors); });
}

void validate_resize_policy(const Object& pod_spec, const Object& container, const Path& container_path, FieldErrors& errors) {
  const Path path = container_path.at("resizePolicy");
  const bool never = get_string(pod_spec, "restartPolicy") == "Never";
  std::set<std::string> seen;
  each(container, "resizePolicy", [&](const Object& policy, std::size_t i) {
    const std::string resource(get_string(policy, "resourceName"));
    if (!seen.insert(resource).second) errors.duplicate(path.at(i), resource);
    const std::string_view restart = get_string(policy, "restartPolicy");
    if (never && restart != "NotRequired") {
      errors.invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  });
}

void validate_init_resize_policy(const Object& container, const Path& path, FieldErrors& errors) {
  each(container, "resizePolicy", [&](const Object& policy, std::size_t i) {
    const Path item = path.at("resizePolicy", i);
    if (get_string(policy, "restartPolicy") != "RestartContainer") return;
    errors.invalid(item.at("restartPolicy"), "RestartContainer", "must not be set to 'RestartContainer' for non-sidecar initContainers");
  });
}

void validate_sleeps(const Object& pod_spec, const Object& container, const Path& container_path, FieldErrors& errors) {
  const auto grace = get_int(pod_spec, "terminationGracePeriodSeconds");
  const Object* lifecycle = get_object(container, "lifecycle");
  if (!grace || lifecycle == nullptr) return;
  const Path path = container_path.at("lifecycle");
  for (std::string_view key : {"postStart", "preStop"}) {
    const Object& handler = object_or_empty(*lifecycle, key);
    const Object* sleep = get_object(handler, "sleep");
    // If a handler has several actions, only the first one is checked.
    if (sleep == nullptr || has(handler, "exec") || has(handler, "httpGet") || has(handler, "tcpSocket")) continue;
    const std::int64_t seconds = get_int(*sleep, "seconds").value_or(0);
    if (seconds >= 0 && seconds <= *grace) continue;
    const Path handler_path = path.at(key);
    errors.invalid(handler_path.at("sleep"), static_cast<long long>(seconds),
                   "must be non-negative and less than terminationGracePeriodSeconds (" + std::to_string(*grace) + ")");
  }
}

}  // namespace backplane::workload
