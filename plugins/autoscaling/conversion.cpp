#include "conversion.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "metrics.hpp"

namespace backplane::autoscaling {
namespace {

constexpr std::int64_t kDefaultPercent = 80;

constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr const char* kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr const char* kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr std::array<const char*, 4> kCarried = {kMetrics, kBehavior, kCurrentMetrics, kConditions};

// Returns the percentage of a CPU metric, for which v1 has a member; nullopt for other metrics.
std::optional<std::int64_t> cpu_percent(const Object& metric, std::string_view where) {
  if (get_string(metric, "type") != "Resource") return std::nullopt;
  const Object& resource = object_or_empty(metric, "resource");
  if (get_string(resource, "name") != "cpu") return std::nullopt;
  return get_int(object_or_empty(resource, where), "averageUtilization");
}

// Returns the list in an annotation; nullopt if it cannot be parsed.
std::optional<Array> carried_list(const Object& annotations, const char* key) {
  const Value* text = find(annotations, key);
  if (text == nullptr || !text->is_string()) return std::nullopt;
  auto value = parse_json(std::string_view(text->get_string()), {}, nullptr);
  if (!value.ok() || !value->is_array()) return std::nullopt;
  return std::move(value->get_array());
}

Array converted(const Array& list, Object (*convert)(const Object&)) {
  Array out;
  for (const Value& item : list) {
    if (item.is_object()) out.push_back(convert(item.get_object()));
  }
  return out;
}

// ---- to v1

void spec_to_v1(Object& spec, Object& carried) {
  Array others;
  std::optional<std::int64_t> percent;
  each(spec, "metrics", [&](const Object& metric, std::size_t) {
    const auto found = cpu_percent(metric, "target");
    if (found && !percent) percent = found;
    if (!found) others.push_back(metric_to_v1(metric));
  });
  if (!others.empty()) carried[kMetrics] = to_json(others);
  if (const Object* behavior = get_object(spec, "behavior")) carried[kBehavior] = to_json(behavior_to_v1(*behavior));
  erase_member(spec, "metrics");
  erase_member(spec, "behavior");
  if (percent) spec["targetCPUUtilizationPercentage"] = *percent;
}

void status_members_to_v1(Object& status, Object& carried) {
  Array metrics, conditions;
  std::optional<std::int64_t> percent;
  each(status, "currentMetrics", [&](const Object& metric, std::size_t) {
    if (const auto found = cpu_percent(metric, "current")) percent = found;
    // The annotation contains all metrics, even the CPU, because v1's member has no raw value.
    metrics.push_back(status_to_v1(metric));
  });
  each(status, "conditions", [&](const Object& condition, std::size_t) { conditions.push_back(condition_to_v1(condition)); });
  if (!metrics.empty()) carried[kCurrentMetrics] = to_json(metrics);
  if (!conditions.empty()) carried[kConditions] = to_json(conditions);
  erase_member(status, "currentMetrics");
  erase_member(status, "conditions");
  if (percent) status["currentCPUUtilizationPercentage"] = *percent;
}

Status to_v1(Object& object) {
  drop_carried_annotations(object);
  Object carried;
  if (Object* spec = mutable_object(object, "spec")) spec_to_v1(*spec, carried);
  if (Object* status = mutable_object(object, "status")) status_members_to_v1(*status, carried);
  if (carried.empty()) return {};
  Object& annotations = ensure_object(ensure_object(object, "metadata"), "annotations");
  for (const auto& [key, value] : carried) annotations[key] = value;
  return {};
}

// ---- to v2

void spec_to_v2(Object& spec, const Object& annotations) {
  const auto percent = get_int(spec, "targetCPUUtilizationPercentage");
  Array metrics(spec.storage());
  if (const auto carried = carried_list(annotations, kMetrics)) metrics = converted(*carried, metric_to_v2);
  if (percent) metrics.push_back(cpu_metric(*percent, spec.storage()));
  erase_member(spec, "targetCPUUtilizationPercentage");
  // v1 cannot set this default itself, because other metrics are in an annotation.
  if (metrics.empty()) metrics.push_back(cpu_metric(kDefaultPercent, spec.storage()));
  spec["metrics"] = std::move(metrics);

  erase_member(spec, "behavior");
  const Value* text = find(annotations, kBehavior);
  if (text == nullptr || !text->is_string()) return;
  const auto value = parse_json(std::string_view(text->get_string()), {}, nullptr);
  if (!value.ok() || !value->is_object()) return;
  Object behavior = behavior_to_v2(value->get_object());
  if (!behavior.empty()) spec["behavior"] = std::move(behavior);
}

void status_to_stored(Object& status, const Object& annotations) {
  const auto percent = get_int(status, "currentCPUUtilizationPercentage");
  erase_member(status, "currentCPUUtilizationPercentage");
  erase_member(status, "currentMetrics");
  erase_member(status, "conditions");
  if (const auto carried = carried_list(annotations, kCurrentMetrics)) {
    status["currentMetrics"] = converted(*carried, status_to_v2);
  } else if (percent) {
    Object metric = cpu_metric(*percent, status.storage());
    Object& resource = ensure_object(metric, "resource");
    erase_member(resource, "target");
    ensure_object(resource, "current")["averageUtilization"] = *percent;
    status["currentMetrics"] = Array({Value(std::move(metric))});
  }
  if (auto carried = carried_list(annotations, kConditions)) status["conditions"] = std::move(*carried);
}

Status to_v2(Object& object) {
  const Object annotations(object_or_empty(object_or_empty(object, "metadata"), "annotations"));
  if (Object* spec = mutable_object(object, "spec")) spec_to_v2(*spec, annotations);
  if (Object* status = mutable_object(object, "status")) status_to_stored(*status, annotations);
  drop_carried_annotations(object);
  return {};
}

}  // namespace

void drop_carried_annotations(Object& autoscaler) {
  Object* metadata = mutable_object(autoscaler, "metadata");
  Object* annotations = metadata != nullptr ? mutable_object(*metadata, "annotations") : nullptr;
  if (annotations == nullptr) return;
  for (const char* key : kCarried) erase_member(*annotations, key);
  if (annotations->empty()) erase_member(*metadata, "annotations");
}

void show_carried_annotations(Object& autoscaler) {
  if (get_string(autoscaler, "apiVersion") != kServed.group_version().to_string()) return;
  if (to_v2(autoscaler).ok()) static_cast<void>(to_v1(autoscaler).ok());
}

void default_cpu_target(Object& served) {
  Object* spec = mutable_object(served, "spec");
  if (spec == nullptr || get_int(*spec, "targetCPUUtilizationPercentage")) return;
  const auto carried = carried_list(object_or_empty(object_or_empty(served, "metadata"), "annotations"), kMetrics);
  if (!carried || carried->empty()) (*spec)["targetCPUUtilizationPercentage"] = kDefaultPercent;
}

Object cpu_metric(std::int64_t percent, const json::storage_ptr& storage) {
  Object target(storage);
  target["type"] = "Utilization";
  target["averageUtilization"] = percent;
  Object resource(storage);
  resource["name"] = "cpu";
  resource["target"] = std::move(target);
  Object metric(storage);
  metric["type"] = "Resource";
  metric["resource"] = std::move(resource);
  return metric;
}

Status add_conversions(Scheme& scheme) {
  Status added = scheme.add_conversion(kServed, kStored, to_v2);
  return added.ok() ? scheme.add_conversion(kStored, kServed, to_v1) : added;
}

}  // namespace backplane::autoscaling
