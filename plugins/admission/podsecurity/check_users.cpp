#include "podsecurity/checks.hpp"
#include "podsecurity/pod_reading.hpp"

namespace backplane::admission::podsecurity {

CheckResult run_as_non_root(const Object&, const Object& spec) {
  const auto setting = [](const Object& owner) { return get_bool(security_context(owner), "runAsNonRoot"); };
  const auto sets_false = [&](const Object& owner) { return setting(owner) == false; };
  const std::string setters = setters_text(sets_false(spec), containers_that(spec, sets_false));
  if (!setters.empty()) return Finding{"runAsNonRoot != true", setters + " must not set securityContext.runAsNonRoot=false"};
  if (setting(spec) == true) return std::nullopt;
  const Names bad = containers_that(spec, [&](const Object& container) { return !setting(container).has_value(); });
  if (bad.empty()) return std::nullopt;
  return Finding{"runAsNonRoot != true", "pod or " + containers_text(bad) + " must set securityContext.runAsNonRoot=true"};
}

CheckResult run_as_non_root_v1_35(const Object& metadata, const Object& spec) {
  return has_user_namespace(spec) ? std::nullopt : run_as_non_root(metadata, spec);
}

CheckResult run_as_user_v1_23(const Object&, const Object& spec) {
  const auto is_root = [](const Object& owner) { return get_int(security_context(owner), "runAsUser") == 0; };
  const std::string setters = setters_text(is_root(spec), containers_that(spec, is_root));
  if (setters.empty()) return std::nullopt;
  return Finding{"runAsUser=0", setters + " must not set runAsUser=0"};
}

CheckResult run_as_user_v1_35(const Object& metadata, const Object& spec) {
  return has_user_namespace(spec) ? std::nullopt : run_as_user_v1_23(metadata, spec);
}

}  // namespace backplane::admission::podsecurity
