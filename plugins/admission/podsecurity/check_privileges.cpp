#include "podsecurity/checks.hpp"
#include "podsecurity/pod_reading.hpp"

namespace backplane::admission::podsecurity {

CheckResult privileged(const Object&, const Object& spec) {
  const Names bad =
      containers_that(spec, [](const Object& container) { return get_bool(security_context(container), "privileged") == true; });
  if (bad.empty()) return std::nullopt;
  return Finding{"privileged", containers_text(bad) + " must not set securityContext.privileged=true"};
}

CheckResult privilege_escalation_v1_8(const Object&, const Object& spec) {
  const Names bad = containers_that(
      spec, [](const Object& container) { return get_bool(security_context(container), "allowPrivilegeEscalation") != false; });
  if (bad.empty()) return std::nullopt;
  return Finding{"allowPrivilegeEscalation != false", containers_text(bad) + " must set securityContext.allowPrivilegeEscalation=false"};
}

// The check ignores Windows pods, because validation refuses the field in them.
CheckResult privilege_escalation_v1_25(const Object& metadata, const Object& spec) {
  return is_windows(spec) ? std::nullopt : privilege_escalation_v1_8(metadata, spec);
}

CheckResult proc_mount(const Object&, const Object& spec) {
  NameSet types;
  const Names bad = containers_that(spec, [&](const Object& container) {
    const Object& context = security_context(container);
    const std::string_view type = get_string(context, "procMount");
    if (!has(context, "procMount") || type == "Default") return false;
    types.emplace(type);
    return true;
  });
  if (bad.empty()) return std::nullopt;
  return Finding{"procMount", containers_text(bad) + " must not set securityContext.procMount to " + join_quoted(types)};
}

CheckResult proc_mount_v1_35(const Object& metadata, const Object& spec) {
  return has_user_namespace(spec) ? std::nullopt : proc_mount(metadata, spec);
}

}  // namespace backplane::admission::podsecurity
