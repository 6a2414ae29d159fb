#include "backplane/core/json_access.hpp"
#include "common/label_selectors.hpp"
#include "podsecurity/review.hpp"

namespace backplane::admission::podsecurity {
namespace {

struct LabelledPolicy {
  Labels labels;
  Policy policy;
  FieldErrors errors;
};

LabelledPolicy read_policy(const Configuration& configuration, const Object& ns) {
  LabelledPolicy out;
  out.labels = labels_of_object(ns);
  out.policy = policy_of(out.labels, configuration.defaults, out.errors);
  return out;
}

bool same_errors(const FieldErrors& a, const FieldErrors& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const FieldError &left = a.list()[i], &right = b.list()[i];
    if (left.type != right.type || left.field != right.field || left.text != right.text) return false;
  }
  return true;
}

// Adds `, mode=level:version` if the labels of the namespace set a level above privileged.
void add_mode(std::string& out, const Labels& labels, const ModeLabels& mode, const LevelVersion& policy) {
  const bool labelled = find_label(labels, mode.level) || find_label(labels, mode.version);
  if (policy.level == Level::kPrivileged || !labelled) return;
  out += (out.empty() ? "" : ", ") + std::string(mode.mode) + "=" + policy.text();
}

// Adds a warning if labels of an exempt namespace have no effect.
void warn_of_exemption(const Configuration& configuration, std::string_view name, const LabelledPolicy& now, Review& review) {
  if (now.policy.fully_privileged() || equivalent(now.policy, configuration.defaults)) return;
  std::string modes;
  add_mode(modes, now.labels, kEnforceLabels, now.policy.enforce);
  add_mode(modes, now.labels, kAuditLabels, now.policy.audit);
  add_mode(modes, now.labels, kWarnLabels, now.policy.warn);
  review.warnings.push_back("namespace " + quoted(name) + " is exempt from Pod Security, and the policy (" + modes + ") will be ignored");
}

// Whether pods that the old policy allows may violate the new one.
bool enforces_more(const LevelVersion& now, const LevelVersion& before) {
  if (now == before || now.level == Level::kPrivileged) return false;
  return now.version != before.version || now.level > before.level;
}

}  // namespace

NamespaceReview review_namespace(const Configuration& configuration, const AdmissionAttributes& attributes) {
  NamespaceReview out;
  if (!attributes.subresource.empty() || attributes.object == nullptr) return out;
  const bool update = attributes.operation == AdmissionOperation::kUpdate && attributes.old_object != nullptr;
  const LabelledPolicy now = read_policy(configuration, *attributes.object);
  const LabelledPolicy before = update ? read_policy(configuration, *attributes.old_object) : LabelledPolicy();
  // Labels that were invalid before the update do not block other changes.
  if (!now.errors.empty() && (!update || !same_errors(now.errors, before.errors))) {
    out.review.refusal = now.errors.to_status(attributes.kind.group, attributes.kind.kind, attributes.name);
    return out;
  }
  if (update && !enforces_more(now.policy.enforce, before.policy.enforce)) return out;
  const std::string_view name = meta_name(*attributes.object);
  if (configuration.exempts_namespace(attributes.ns.empty() ? name : std::string_view(attributes.ns))) {
    warn_of_exemption(configuration, name, now, out.review);
  } else if (update) {
    out.checks_pods = now.policy.enforce;
  }
  return out;
}

}  // namespace backplane::admission::podsecurity
