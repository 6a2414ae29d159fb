#include "backplane/core/status.hpp"
#include "podsecurity/checks.hpp"
#include "podsecurity/pod_reading.hpp"

namespace backplane::admission::podsecurity {
namespace {

constexpr std::string_view kAppArmorAnnotation = "container.apparmor.security.beta.kubernetes.io/";

// Whether the security context of a pod or a container sets a profile type that is not allowed. The type is then added to `types`.
bool sets_forbidden_profile(const Object& owner, NameSet& types) {
  const Object* profile = get_object(security_context(owner), "appArmorProfile");
  if (profile == nullptr) return false;
  const std::string_view type = get_string(*profile, "type");
  if (type == "RuntimeDefault" || type == "Localhost") return false;
  types.emplace(type);
  return true;
}

// `key="value"` of each annotation that is not allowed.
NameSet forbidden_annotations(const Object& metadata) {
  NameSet out;
  for (const auto& annotation : object_or_empty(metadata, "annotations")) {
    const std::string_view key = annotation.key(), value = text_of(annotation.value());
    const bool allowed = value.empty() || value == "runtime/default" || value.starts_with("localhost/");
    if (key.starts_with(kAppArmorAnnotation) && !allowed) out.insert(std::string(key) + "=" + quoted(value));
  }
  return out;
}

}  // namespace

CheckResult app_armor_profile(const Object& metadata, const Object& spec) {
  NameSet types;
  const bool pod = sets_forbidden_profile(spec, types);
  const Names bad = containers_that(spec, [&](const Object& container) { return sets_forbidden_profile(container, types); });
  const NameSet annotations = forbidden_annotations(metadata);
  std::string setters = setters_text(pod, bad);
  if (!annotations.empty()) setters += (setters.empty() ? "" : " and ") + pluralize("annotation", "annotations", annotations.size());
  if (setters.empty()) return std::nullopt;
  Names values(types.begin(), types.end());
  values.insert(values.end(), annotations.begin(), annotations.end());
  return Finding{pluralize("forbidden AppArmor profile", "forbidden AppArmor profiles", values.size()),
                 setters + " must not set AppArmor profile type to " + join_quoted(values)};
}

}  // namespace backplane::admission::podsecurity
