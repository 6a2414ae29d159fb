#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "podsecurity/counters.hpp"
#include "podsecurity/evaluator.hpp"
#include "podsecurity/review.hpp"

namespace backplane::admission::podsecurity {
namespace {

struct TemplateRow {
  std::string_view group, resource, path;
};
constexpr TemplateRow kTemplates[] = {
    {"", "pods", ""},
    {"", "replicationcontrollers", "spec.template"},
    {"", "podtemplates", "template"},
    {"apps", "replicasets", "spec.template"},
    {"apps", "deployments", "spec.template"},
    {"apps", "statefulsets", "spec.template"},
    {"apps", "daemonsets", "spec.template"},
    {"batch", "jobs", "spec.template"},
    {"batch", "cronjobs", "spec.jobTemplate.spec.template"},
};

// Subresources that do not change the pod's spec.
constexpr std::array<std::string_view, 8> kIgnoredSubresources = {"exec", "attach",      "binding", "eviction",
                                                                  "log",  "portforward", "proxy",   "status"};

bool is_pod(const AdmissionAttributes& attributes) { return attributes.resource.group.empty() && attributes.resource.resource == "pods"; }

bool is_ignored(const AdmissionAttributes& attributes) {
  if (!is_pod(attributes)) return !attributes.subresource.empty();
  return std::find(kIgnoredSubresources.begin(), kIgnoredSubresources.end(), attributes.subresource) != kIgnoredSubresources.end();
}

// ---- updates of pods

bool same_images(const Object& spec, const Object& before, std::string_view list) {
  const Array* now = get_array(spec, list);
  const Array* then = get_array(before, list);
  if (count_of(spec, list) != count_of(before, list)) return false;
  for (std::size_t i = 0; now != nullptr && i < now->size(); ++i) {
    const Object *left = (*now)[i].if_object(), *right = (*then)[i].if_object();
    if (left == nullptr || right == nullptr || get_string(*left, "image") != get_string(*right, "image")) return false;
  }
  return true;
}

bool adds_ephemeral(const Object& spec, const Object& before) {
  bool found = false;
  each(spec, "ephemeralContainers", [&](const Object& container, std::size_t) {
    const Object* then = find_item(before, "ephemeralContainers", "name", get_string(container, "name"));
    found = found || then == nullptr || get_string(*then, "image") != get_string(container, "image");
  });
  return found;
}

// Of the fields that may change, only images and ephemeral containers matter to the checks.
bool is_significant(const Object& pod, const Object& old) {
  const Object &spec = object_or_empty(pod, "spec"), &before = object_or_empty(old, "spec");
  return !same_images(spec, before, "containers") || !same_images(spec, before, "initContainers") || adds_ephemeral(spec, before);
}

// ---- evaluation

// The pod, or the pod template; null if a controller has none.
const Object* pod_of(const AdmissionAttributes& attributes) {
  const std::string_view path = template_path(attributes.resource).value_or("");
  if (path.empty()) return attributes.object;
  const Value* found = find_path(*attributes.object, path);
  return found != nullptr ? found->if_object() : nullptr;
}

// Evaluates a pod by the three modes; modes with the same policy share one evaluation.
class PodEvaluation {
 public:
  PodEvaluation(const Object& pod, const AdmissionAttributes& attributes)
      : metadata_(object_or_empty(pod, "metadata")), spec_(object_or_empty(pod, "spec")), attributes_(attributes) {}

  Review run(const Policy& policy, bool enforces) {
    if (enforces) enforce(policy.enforce);
    audit(policy.audit);
    if (review_.refusal.ok()) warn(policy.warn);
    return std::move(review_);
  }
  Review& review() noexcept { return review_; }
  const Object& spec() const noexcept { return spec_; }

 private:
  const Verdict& verdict(const LevelVersion& policy) {
    for (const auto& [known, verdict] : verdicts_) {
      if (known == policy) return verdict;
    }
    return verdicts_.emplace_back(policy, evaluate(policy, metadata_, spec_)).second;
  }
  static std::string text(std::string_view verb, const LevelVersion& policy, const Verdict& verdict) {
    return std::string(verb) + " PodSecurity " + quoted(policy.text()) + ": " + verdict.details();
  }
  void enforce(const LevelVersion& policy) {
    review_.annotations["enforce-policy"] = policy.text();
    const Verdict& found = verdict(policy);
    if (!found.allowed()) {
      review_.refusal =
          forbidden(attributes_.resource.group, attributes_.resource.resource, attributes_.name, text("violates", policy, found));
    }
    count_evaluation(found.allowed(), policy, "enforce", attributes_);
  }
  void audit(const LevelVersion& policy) {
    const Verdict& found = verdict(policy);
    if (found.allowed()) return;
    review_.annotations["audit-violations"] = text("would violate", policy, found);
    count_evaluation(false, policy, "audit", attributes_);
  }
  void warn(const LevelVersion& policy) {
    const Verdict& found = verdict(policy);
    if (found.allowed()) return;
    review_.warnings.push_back(text("would violate", policy, found));
    count_evaluation(false, policy, "warn", attributes_);
  }

  const Object& metadata_;
  const Object& spec_;
  const AdmissionAttributes& attributes_;
  std::vector<std::pair<LevelVersion, Verdict>> verdicts_;
  Review review_;
};

Review exempt(const AdmissionAttributes& attributes, std::string reason) {
  Review review;
  review.annotations["exempt"] = std::move(reason);
  count_exemption(attributes);
  return review;
}

// Whether the policy allows everything, so that the resource need not be checked.
bool allows_all(const Policy& policy, bool pod) {
  return policy.warn.level == Level::kPrivileged && policy.audit.level == Level::kPrivileged &&
         (!pod || policy.enforce.level == Level::kPrivileged);
}

Review allow_all(const Policy& policy, const AdmissionAttributes& attributes) {
  Review review;
  if (!is_pod(attributes)) return review;
  review.annotations["enforce-policy"] = LevelVersion{}.text();
  count_evaluation(true, policy.enforce, "enforce", attributes);
  return review;
}

}  // namespace

std::optional<std::string_view> template_path(const GroupVersionResource& resource) noexcept {
  for (const TemplateRow& row : kTemplates) {
    if (row.group == resource.group && row.resource == resource.resource) return row.path;
  }
  return std::nullopt;
}

std::optional<Review> review_exemptions(const Configuration& configuration, const AdmissionAttributes& attributes) {
  if (is_ignored(attributes) || attributes.object == nullptr) return Review();
  if (configuration.exempts_namespace(attributes.ns)) return exempt(attributes, "namespace");
  if (configuration.exempts_user(attributes.user->name)) return exempt(attributes, "user");
  return std::nullopt;
}

Review review_failed_lookup(const AdmissionAttributes& attributes, const Status& error) {
  count_error(true, attributes);
  Review review;
  const std::string why = "failed to lookup namespace " + quoted(attributes.ns);
  if (is_pod(attributes)) review.refusal = internal_error(why);
  review.annotations["error"] = (is_pod(attributes) ? review.refusal.message() : why) + ": " + error.message();
  return review;
}

Review review_pod(const Configuration& configuration, const AdmissionAttributes& attributes, const Labels& labels) {
  FieldErrors errors;
  const Policy policy = policy_of(labels, configuration.defaults, errors);
  const bool pod = is_pod(attributes);
  if (errors.empty() && allows_all(policy, pod)) return allow_all(policy, attributes);
  const bool update = attributes.operation == AdmissionOperation::kUpdate && attributes.old_object != nullptr;
  if (pod && update && !is_significant(*attributes.object, *attributes.old_object)) return Review();
  const Object* evaluated = pod_of(attributes);
  if (evaluated == nullptr) return Review();
  PodEvaluation evaluation(*evaluated, attributes);
  if (configuration.exempts_runtime_class(evaluation.spec())) return exempt(attributes, "runtimeClass");
  if (!errors.empty()) {
    evaluation.review().annotations["error"] = "Failed to parse policy: " + errors.aggregate_message();
    count_error(false, attributes);
  }
  return evaluation.run(policy, pod);
}

}  // namespace backplane::admission::podsecurity
