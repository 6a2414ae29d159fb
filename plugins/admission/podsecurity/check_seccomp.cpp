#include "backplane/core/status.hpp"
#include "podsecurity/checks.hpp"
#include "podsecurity/pod_reading.hpp"

namespace backplane::admission::podsecurity {
namespace {

constexpr std::string_view kPodAnnotation = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kContainerAnnotation = "container.seccomp.security.alpha.kubernetes.io/";

bool is_allowed_annotation(std::string_view value) {
  return value == "runtime/default" || value == "docker/default" || value.starts_with("localhost/");
}

// The profile in the security context of a pod or a container; null if there is none.
const Object* profile_of(const Object& owner) { return get_object(security_context(owner), "seccompProfile"); }

bool is_allowed(const Object& profile) {
  const std::string_view type = get_string(profile, "type");
  return type == "Localhost" || type == "RuntimeDefault";
}

// Finds the pod and the containers that set a type which is not allowed.
CheckResult explicitly_forbidden(const Object& spec) {
  NameSet types;
  const auto sets_forbidden = [&](const Object& owner) {
    const Object* profile = profile_of(owner);
    if (profile == nullptr || is_allowed(*profile)) return false;
    types.emplace(get_string(*profile, "type"));
    return true;
  };
  const bool pod = sets_forbidden(spec);
  const std::string setters = setters_text(pod, containers_that(spec, sets_forbidden));
  if (setters.empty()) return std::nullopt;
  return Finding{"seccompProfile", setters + " must not set securityContext.seccompProfile.type to " + join_quoted(types)};
}

}  // namespace

CheckResult seccomp_baseline(const Object& metadata, const Object& spec) {
  const Object& annotations = object_or_empty(metadata, "annotations");
  NameSet forbidden;
  const auto look_at = [&](const std::string& key) {
    const Value* value = find(annotations, key);
    if (value != nullptr && !is_allowed_annotation(text_of(*value))) forbidden.insert(key + "=" + quoted(text_of(*value)));
  };
  look_at(std::string(kPodAnnotation));
  each_container(spec, [&](const Object& container) { look_at(std::string(kContainerAnnotation) + name_of(container)); });
  if (forbidden.empty()) return std::nullopt;
  return Finding{"seccompProfile", "forbidden " + pluralize("annotation", "annotations", forbidden.size()) + " " +
                                       joined(Names(forbidden.begin(), forbidden.end()), ", ")};
}

CheckResult seccomp_baseline_v1_19(const Object&, const Object& spec) { return explicitly_forbidden(spec); }

CheckResult seccomp_restricted_v1_19(const Object&, const Object& spec) {
  if (CheckResult found = explicitly_forbidden(spec)) return found;
  if (profile_of(spec) != nullptr) return std::nullopt;
  const Names bad = containers_that(spec, [](const Object& container) { return profile_of(container) == nullptr; });
  if (bad.empty()) return std::nullopt;
  return Finding{"seccompProfile",
                 "pod or " + containers_text(bad) + " must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\""};
}

// The check ignores Windows pods, because validation refuses the field in them.
CheckResult seccomp_restricted_v1_25(const Object& metadata, const Object& spec) {
  return is_windows(spec) ? std::nullopt : seccomp_restricted_v1_19(metadata, spec);
}

}  // namespace backplane::admission::podsecurity
