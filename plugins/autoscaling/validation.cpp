// The rules on an autoscaler's spec (pkg/apis/autoscaling/validation).
#include <algorithm>
#include <array>

#include "backplane/kit/walk.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/resources.hpp"
#include "strategy.hpp"

namespace backplane::autoscaling {
namespace {

using namespace kit;
using namespace workload;

constexpr std::int64_t kMaxStabilizationSeconds = 3600;
constexpr std::int64_t kMaxPeriodSeconds = 1800;

void add_problems(const Problems& problems, const std::string& path, std::string_view value, FieldErrors& errors) {
  for (const std::string& problem : problems) errors.invalid(path, value, problem);
}

void require_segment(const Object& object, const char* member, const std::string& path, std::string_view detail, FieldErrors& errors) {
  const std::string_view text = get_string(object, member);
  if (text.empty())
    errors.required(at(path, member), detail);
  else
    add_problems(is_path_segment_name(text), at(path, member), text, errors);
}

// Why the text names no group; empty: it does.
std::string group_problem(std::string_view api_version) {
  const auto slashes = std::count(api_version.begin(), api_version.end(), '/');
  if (slashes > 1) return "unexpected GroupVersion string: " + std::string(api_version);
  const bool grouped = slashes == 1 && api_version.front() != '/';
  return grouped ? std::string() : "apiVersion must specify API group";
}

void check_scale_target(const Object& spec, const Object* old_spec, FieldErrors& errors) {
  const Object& target = object_or_empty(spec, "scaleTargetRef");
  const std::string path = "spec.scaleTargetRef";
  for (const char* member : {"kind", "name"}) require_segment(target, member, path, {}, errors);
  const std::string_view version = get_string(target, "apiVersion");
  // Replication controllers are the one kind of the core group that can be scaled.
  if (version == "v1" && get_string(target, "kind") == "ReplicationController") return;
  const std::string problem = group_problem(version);
  const bool old_problem =
      old_spec != nullptr && !group_problem(get_string(object_or_empty(*old_spec, "scaleTargetRef"), "apiVersion")).empty();
  if (!problem.empty() && !old_problem) errors.invalid(at(path, "apiVersion"), version, problem);
}

void check_replicas(const Object& spec, const Object* old_spec, FieldErrors& errors) {
  const std::int64_t max = get_int(spec, "maxReplicas").value_or(0);
  const auto min = get_int(spec, "minReplicas");
  const bool had_zero = old_spec != nullptr && get_int(*old_spec, "minReplicas") == std::optional<std::int64_t>(0);
  const std::int64_t lowest = had_zero ? 0 : 1;
  if (min && *min < lowest) {
    errors.invalid("spec.minReplicas", static_cast<long long>(*min), "must be greater than or equal to " + std::to_string(lowest));
  }
  if (max == 0) errors.required("spec.maxReplicas", "must be set and greater than 0");
  if (max < 0) errors.invalid("spec.maxReplicas", static_cast<long long>(max), "must be greater than or equal to 1");
  if (min && max < *min) {
    errors.invalid("spec.maxReplicas", static_cast<long long>(max), "must be greater than or equal to `minReplicas`");
  }
}

// ---- metrics

bool is_positive(const Object& object, const char* member) {
  const std::string_view text = get_string(object, member);
  return !text.empty() && compare_quantities(text, "0") > 0;
}

void check_target(const Object& source, const std::string& path, FieldErrors& errors) {
  const Object& target = object_or_empty(source, "target");
  const std::string at_target = at(path, "target");
  const std::string_view type = get_string(target, "type");
  if (type.empty()) errors.required(at(at_target, "type"), "must specify a metric target type");
  if (type != "Utilization" && type != "Value" && type != "AverageValue") {
    errors.invalid(at(at_target, "type"), type, "must be either Utilization, Value, or AverageValue");
  }
  for (const char* member : {"value", "averageValue"}) {
    if (has(target, member) && !is_positive(target, member)) {
      errors.invalid(at(at_target, member), get_string(target, member), "must be positive");
    }
  }
  if (const auto percent = get_int(target, "averageUtilization"); percent && *percent < 1) {
    errors.invalid(at(at_target, "averageUtilization"), static_cast<long long>(*percent), "must be greater than 0");
  }
}

void check_metric_name(const Object& source, const std::string& path, FieldErrors& errors) {
  require_segment(object_or_empty(source, "metric"), "name", at(path, "metric"), "must specify a metric name", errors);
}

void check_object_source(const Object& source, const std::string& path, FieldErrors& errors) {
  for (const char* member : {"kind", "name"})
    require_segment(object_or_empty(source, "describedObject"), member, at(path, "describedObject"), {}, errors);
  check_metric_name(source, path, errors);
  check_target(source, path, errors);
  const Object& target = object_or_empty(source, "target");
  if (!has(target, "value") && !has(target, "averageValue")) {
    errors.required(at(path, "target.averageValue"), "must set either a target value or averageValue");
  }
}

void check_external_source(const Object& source, const std::string& path, FieldErrors& errors) {
  check_metric_name(source, path, errors);
  check_target(source, path, errors);
  const Object& target = object_or_empty(source, "target");
  const bool value = has(target, "value"), average = has(target, "averageValue");
  if (!value && !average) {
    errors.required(at(path, "target.averageValue"), "must set either a target value for metric or a per-pod target");
  }
  if (value && average) errors.forbidden(at(path, "target.value"), "may not set both a target value for metric and a per-pod target");
}

void check_pods_source(const Object& source, const std::string& path, FieldErrors& errors) {
  check_metric_name(source, path, errors);
  check_target(source, path, errors);
  if (!is_positive(object_or_empty(source, "target"), "averageValue")) {
    errors.required(at(path, "target.averageValue"), "must specify a positive target averageValue");
  }
}

void check_resource_target(const Object& source, const std::string& path, FieldErrors& errors) {
  check_target(source, path, errors);
  const Object& target = object_or_empty(source, "target");
  const bool percent = has(target, "averageUtilization"), average = has(target, "averageValue");
  if (!percent && !average) {
    errors.required(at(path, "target.averageUtilization"), "must set either a target raw value or a target utilization");
  }
  if (percent && average) {
    errors.forbidden(at(path, "target.averageValue"), "may not set both a target raw value and a target utilization");
  }
}

void check_resource_source(const Object& source, const std::string& path, FieldErrors& errors) {
  if (get_string(source, "name").empty()) errors.required(at(path, "name"), "must specify a resource name");
  check_resource_target(source, path, errors);
}

void check_container_source(const Object& source, const std::string& path, FieldErrors& errors) {
  const std::string_view name = get_string(source, "name"), container = get_string(source, "container");
  if (name.empty()) {
    errors.required(at(path, "name"), "must specify a resource name");
  } else {
    validate_resource_name(name, at(path, "name"), errors);
    const bool standard = is_standard_container_resource(name) || is_huge_page(name) || name.find('/') != std::string_view::npos;
    if (!standard) errors.invalid(at(path, "name"), name, "must be a standard resource for containers");
  }
  if (container.empty())
    errors.required(at(path, "container"), "must specify a container");
  else
    add_problems(is_dns1123_label(container), at(path, "container"), container, errors);
  check_resource_target(source, path, errors);
}

struct SourceRow {
  const char* type;
  const char* member;
  void (*check)(const Object& source, const std::string& path, FieldErrors& errors);
};
constexpr std::array<SourceRow, 5> kSources = {{
    {"Object", "object", check_object_source},
    {"External", "external", check_external_source},
    {"Pods", "pods", check_pods_source},
    {"Resource", "resource", check_resource_source},
    {"ContainerResource", "containerResource", check_container_source},
}};

void check_metric(const Object& metric, const std::string& path, FieldErrors& errors) {
  static const std::vector<std::string> kTypes = {"ContainerResource", "External", "Object", "Pods", "Resource"};
  const std::string_view type = get_string(metric, "type");
  const auto row = std::find_if(kSources.begin(), kSources.end(), [&](const SourceRow& each) { return each.type == type; });
  if (type.empty()) errors.required(at(path, "type"), "must specify a metric source type");
  if (row == kSources.end()) errors.not_supported(at(path, "type"), type, kTypes);

  std::vector<const char*> present;
  for (const SourceRow& source : kSources) {
    const Object* member = get_object(metric, source.member);
    if (member == nullptr) continue;
    present.push_back(source.member);
    // Of several only the first is looked at: the others are wrong in any case.
    if (present.size() == 1) source.check(*member, at(path, source.member), errors);
  }
  if (row == kSources.end()) {
    errors.not_supported(at(path, "type"), type, kTypes);  // upstream looks twice and says so twice
  } else if (get_object(metric, row->member) == nullptr) {
    errors.required(at(path, row->member), "must populate information for the given metric source");
  }
  if (present.size() < 2) return;
  for (const char* member : present) {
    if (row == kSources.end() || std::string_view(member) != row->member) {
      errors.forbidden(at(path, member), "must populate the given metric source only");
    }
  }
}

void check_metrics(const Object& spec, FieldErrors& errors) {
  bool from_zero = false;
  each(spec, "metrics", [&](const Object& metric, std::size_t i) {
    check_metric(metric, at("spec.metrics", i), errors);
    const std::string_view type = get_string(metric, "type");
    from_zero = from_zero || type == "Object" || type == "External";
  });
  if (!from_zero && get_int(spec, "minReplicas") == std::optional<std::int64_t>(0)) {
    errors.forbidden("spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas");
  }
}

// ---- behavior

void check_policy(const Object& policy, const std::string& path, FieldErrors& errors) {
  const std::string_view type = get_string(policy, "type");
  if (type != "Pods" && type != "Percent") errors.not_supported(at(path, "type"), type, {"Percent", "Pods"});
  for (const char* member : {"value", "periodSeconds"}) {
    const std::int64_t value = get_int(policy, member).value_or(0);
    if (value <= 0) errors.invalid(at(path, member), static_cast<long long>(value), "must be greater than zero");
  }
  if (const std::int64_t period = get_int(policy, "periodSeconds").value_or(0); period > kMaxPeriodSeconds) {
    errors.invalid(at(path, "periodSeconds"), static_cast<long long>(period),
                   "must be less than or equal to " + std::to_string(kMaxPeriodSeconds));
  }
}

void check_rules(const Object& behavior, const char* member, FieldErrors& errors) {
  const Object* rules = get_object(behavior, member);
  if (rules == nullptr) return;
  const std::string path = at("spec.behavior", member);
  if (const auto window = get_int(*rules, "stabilizationWindowSeconds")) {
    const std::string at_window = at(path, "stabilizationWindowSeconds");
    if (*window < 0) errors.invalid(at_window, static_cast<long long>(*window), "must be greater than or equal to zero");
    if (*window > kMaxStabilizationSeconds) {
      errors.invalid(at_window, static_cast<long long>(*window),
                     "must be less than or equal to " + std::to_string(kMaxStabilizationSeconds));
    }
  }
  const std::string_view select = get_string(*rules, "selectPolicy");
  if (has(*rules, "selectPolicy") && select != "Max" && select != "Min" && select != "Disabled") {
    errors.not_supported(at(path, "selectPolicy"), select, {"Disabled", "Max", "Min"});
  }
  const Array* policies = get_array(*rules, "policies");
  if (policies == nullptr || policies->empty()) errors.required(at(path, "policies"), "must specify at least one Policy");
  each(*rules, "policies", [&](const Object& policy, std::size_t i) { check_policy(policy, at(at(path, "policies"), i), errors); });
  if (has(*rules, "tolerance")) validate_quantity_not_negative(*find(*rules, "tolerance"), at(path, "tolerance"), errors);
}

}  // namespace

void validate_autoscaler(const Object& autoscaler, const Object* old, FieldErrors& errors) {
  const Object& spec = object_or_empty(autoscaler, "spec");
  const Object* old_spec = old != nullptr ? &object_or_empty(*old, "spec") : nullptr;
  check_replicas(spec, old_spec, errors);
  check_scale_target(spec, old_spec, errors);
  check_metrics(spec, errors);
  if (const Object* behavior = get_object(spec, "behavior")) {
    check_rules(*behavior, "scaleUp", errors);
    check_rules(*behavior, "scaleDown", errors);
  }
}

}  // namespace backplane::autoscaling
