#include "backplane/workload/strategy.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/warnings.hpp"
#include "backplane/workload/workload.hpp"

namespace backplane::workload {

using namespace kit;

void drop_below_template(FieldErrors& errors) {
  FieldErrors kept;
  for (const FieldError& error : errors.list()) {
    if (!error.field.starts_with("spec.template")) kept.add(error);
  }
  errors = std::move(kept);
}

std::vector<std::string> WorkloadStrategy::warnings(const Object& object, const Object* old) const {
  Warnings out;
  if (old == nullptr && workload_.names_hosts) warn_of_host_name(object, "Pod names and hostnames", out);
  for (std::string& text : workload_warnings(object, old)) out.push_back(std::move(text));
  return out;
}

void WorkloadStrategy::apply_defaults(Object& object) const {
  apply_pod_template_defaults(ensure_object(ensure_object(object, "spec"), "template"));
}

void WorkloadStrategy::canonicalize(Object& object) const { canonicalize_template(object); }

void WorkloadStrategy::check_selector(const Object& spec, FieldErrors& errors) const {
  validate_workload_selector(spec, workload_.selector_kind, workload_.selector_required, errors);
  const Object* selector = get_object(spec, "selector");
  if (selector == nullptr || workload_.bad_selector == nullptr || is_valid_selector(*selector, "")) return;
  errors.invalid_raw("spec.selector", to_json(*selector), workload_.bad_selector);
}

void WorkloadStrategy::check(const Object& object, FieldErrors& errors) const {
  const Object& spec = object_or_empty(object, "spec");
  check_selector(spec, errors);
  const Object* selector = get_object(spec, "selector");
  // If the selector is invalid, the template is not checked, because upstream checks it only against a valid selector.
  if (selector != nullptr && workload_.bad_selector != nullptr && !is_valid_selector(*selector, "")) return drop_below_template(errors);
  validate_workload_template(spec, options(), errors);
  validate_always_restarts(spec, workload_.without_deadline, errors);
}

}  // namespace backplane::workload
