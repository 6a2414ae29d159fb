#include "metrics.hpp"

#include <array>

#include "backplane/kit/walk.hpp"

namespace backplane::autoscaling {
namespace {

using namespace kit;

// A member under another name in another place, if it is set.
void copy(const Object& from, std::string_view key, Object& to, std::string_view as) {
  if (has(from, key)) to[as] = *find(from, key);
}
void copy(const Object& from, std::string_view key, Object& to) { copy(from, key, to, key); }
// The same for a quantity that is always printed.
void copy_quantity(const Object& from, std::string_view key, Object& to, std::string_view as) {
  to[as] = has(from, key) ? *find(from, key) : Value("0");
}

Object reference(const Object& from) {
  Object out;
  out["kind"] = get_string(from, "kind");
  out["name"] = get_string(from, "name");
  if (!get_string(from, "apiVersion").empty()) out["apiVersion"] = get_string(from, "apiVersion");
  return out;
}

// ---- one source, from v2

using Convert = Object (*)(const Object&);

Object object_source_to_v1(const Object& source) {
  const Object &target = object_or_empty(source, "target"), &metric = object_or_empty(source, "metric");
  Object out;
  out["target"] = reference(object_or_empty(source, "describedObject"));
  out["metricName"] = get_string(metric, "name");
  copy_quantity(target, "value", out, "targetValue");
  copy(metric, "selector", out);
  copy(target, "averageValue", out);
  return out;
}

Object pods_source_to_v1(const Object& source) {
  const Object &target = object_or_empty(source, "target"), &metric = object_or_empty(source, "metric");
  Object out;
  out["metricName"] = get_string(metric, "name");
  copy_quantity(target, "averageValue", out, "targetAverageValue");
  copy(metric, "selector", out);
  return out;
}

Object resource_source_to_v1(const Object& source) {
  const Object& target = object_or_empty(source, "target");
  Object out;
  out["name"] = get_string(source, "name");
  copy(target, "averageUtilization", out, "targetAverageUtilization");
  copy(target, "averageValue", out, "targetAverageValue");
  return out;
}

Object container_source_to_v1(const Object& source) {
  Object out = resource_source_to_v1(source);
  out["container"] = get_string(source, "container");
  return out;
}

Object external_source_to_v1(const Object& source) {
  const Object &target = object_or_empty(source, "target"), &metric = object_or_empty(source, "metric");
  Object out;
  out["metricName"] = get_string(metric, "name");
  copy(metric, "selector", out, "metricSelector");
  copy(target, "value", out, "targetValue");
  copy(target, "averageValue", out, "targetAverageValue");
  return out;
}

Object object_status_to_v1(const Object& status) {
  const Object &current = object_or_empty(status, "current"), &metric = object_or_empty(status, "metric");
  Object out;
  out["target"] = reference(object_or_empty(status, "describedObject"));
  out["metricName"] = get_string(metric, "name");
  copy_quantity(current, "value", out, "currentValue");
  copy(metric, "selector", out);
  copy(current, "averageValue", out);
  return out;
}

Object pods_status_to_v1(const Object& status) {
  const Object &current = object_or_empty(status, "current"), &metric = object_or_empty(status, "metric");
  Object out;
  out["metricName"] = get_string(metric, "name");
  copy_quantity(current, "averageValue", out, "currentAverageValue");
  copy(metric, "selector", out);
  return out;
}

Object resource_status_to_v1(const Object& status) {
  const Object& current = object_or_empty(status, "current");
  Object out;
  out["name"] = get_string(status, "name");
  copy(current, "averageUtilization", out, "currentAverageUtilization");
  copy_quantity(current, "averageValue", out, "currentAverageValue");
  return out;
}

Object container_status_to_v1(const Object& status) {
  Object out = resource_status_to_v1(status);
  out["container"] = get_string(status, "container");
  return out;
}

Object external_status_to_v1(const Object& status) {
  const Object &current = object_or_empty(status, "current"), &metric = object_or_empty(status, "metric");
  Object out;
  out["metricName"] = get_string(metric, "name");
  copy(metric, "selector", out, "metricSelector");
  copy_quantity(current, "value", out, "currentValue");
  copy(current, "averageValue", out, "currentAverageValue");
  return out;
}

// ---- one source, from v1

Object metric_of(const Object& source, std::string_view selector = "selector") {
  Object metric;
  metric["name"] = get_string(source, "metricName");
  copy(source, selector, metric, "selector");
  return metric;
}

Object object_source_to_v2(const Object& source) {
  Object target;
  target["type"] = has(source, "averageValue") ? "AverageValue" : "Value";
  copy_quantity(source, "targetValue", target, "value");
  copy(source, "averageValue", target);
  Object out;
  out["describedObject"] = reference(object_or_empty(source, "target"));
  out["target"] = std::move(target);
  out["metric"] = metric_of(source);
  return out;
}

Object pods_source_to_v2(const Object& source) {
  Object target;
  target["type"] = "AverageValue";
  copy_quantity(source, "targetAverageValue", target, "averageValue");
  Object out;
  out["metric"] = metric_of(source);
  out["target"] = std::move(target);
  return out;
}

Object resource_source_to_v2(const Object& source) {
  Object target;
  target["type"] = has(source, "targetAverageUtilization") ? "Utilization" : "AverageValue";
  copy(source, "targetAverageValue", target, "averageValue");
  copy(source, "targetAverageUtilization", target, "averageUtilization");
  Object out;
  out["name"] = get_string(source, "name");
  out["target"] = std::move(target);
  return out;
}

Object container_source_to_v2(const Object& source) {
  Object out = resource_source_to_v2(source);
  out["container"] = get_string(source, "container");
  return out;
}

Object external_source_to_v2(const Object& source) {
  Object target;
  target["type"] = has(source, "targetValue") ? "Value" : "AverageValue";
  copy(source, "targetValue", target, "value");
  copy(source, "targetAverageValue", target, "averageValue");
  Object out;
  out["metric"] = metric_of(source, "metricSelector");
  out["target"] = std::move(target);
  return out;
}

Object object_status_to_v2(const Object& status) {
  Object current;
  copy_quantity(status, "currentValue", current, "value");
  copy(status, "averageValue", current);
  Object out;
  out["metric"] = metric_of(status);
  out["current"] = std::move(current);
  out["describedObject"] = reference(object_or_empty(status, "target"));
  return out;
}

Object pods_status_to_v2(const Object& status) {
  Object current;
  copy_quantity(status, "currentAverageValue", current, "averageValue");
  Object out;
  out["metric"] = metric_of(status);
  out["current"] = std::move(current);
  return out;
}

Object resource_status_to_v2(const Object& status) {
  Object current;
  copy_quantity(status, "currentAverageValue", current, "averageValue");
  copy(status, "currentAverageUtilization", current, "averageUtilization");
  Object out;
  out["name"] = get_string(status, "name");
  out["current"] = std::move(current);
  return out;
}

Object container_status_to_v2(const Object& status) {
  Object out = resource_status_to_v2(status);
  out["container"] = get_string(status, "container");
  return out;
}

Object external_status_to_v2(const Object& status) {
  Object current;
  copy_quantity(status, "currentValue", current, "value");
  copy(status, "currentAverageValue", current, "averageValue");
  Object out;
  out["metric"] = metric_of(status, "metricSelector");
  out["current"] = std::move(current);
  return out;
}

// ---- whole metrics

struct Source {
  const char* member;
  Convert metric_to_v1, status_to_v1, metric_to_v2, status_to_v2;
};
constexpr std::array<Source, 5> kSources = {{
    {"object", object_source_to_v1, object_status_to_v1, object_source_to_v2, object_status_to_v2},
    {"pods", pods_source_to_v1, pods_status_to_v1, pods_source_to_v2, pods_status_to_v2},
    {"resource", resource_source_to_v1, resource_status_to_v1, resource_source_to_v2, resource_status_to_v2},
    {"containerResource", container_source_to_v1, container_status_to_v1, container_source_to_v2, container_status_to_v2},
    {"external", external_source_to_v1, external_status_to_v1, external_source_to_v2, external_status_to_v2},
}};

Object converted(const Object& metric, Convert Source::*convert) {
  Object out;
  out["type"] = get_string(metric, "type");
  for (const Source& source : kSources) {
    if (const Object* member = get_object(metric, source.member)) out[source.member] = (source.*convert)(*member);
  }
  return out;
}

// A member or null, as Go prints a pointer.
Value or_null(const Object& object, std::string_view key) { return has(object, key) ? *find(object, key) : Value(nullptr); }

// Names of the internal type and of v2.
struct Named {
  const char* internal;
  const char* name;
};
constexpr std::array<Named, 2> kRules = {{{"ScaleUp", "scaleUp"}, {"ScaleDown", "scaleDown"}}};
constexpr std::array<Named, 3> kPolicy = {{{"Type", "type"}, {"Value", "value"}, {"PeriodSeconds", "periodSeconds"}}};

Value policies_to_v1(const Object& rules) {
  const Array* policies = get_array(rules, "policies");
  if (policies == nullptr) return nullptr;
  Array out;
  each(rules, "policies", [&](const Object& policy, std::size_t) {
    Object printed;
    for (const Named& member : kPolicy) printed[member.internal] = or_null(policy, member.name);
    out.push_back(std::move(printed));
  });
  return out;
}

Object rules_to_v1(const Object& rules) {
  Object out;
  out["StabilizationWindowSeconds"] = or_null(rules, "stabilizationWindowSeconds");
  out["SelectPolicy"] = or_null(rules, "selectPolicy");
  out["Policies"] = policies_to_v1(rules);
  out["Tolerance"] = or_null(rules, "tolerance");
  return out;
}

Object rules_to_v2(const Object& rules) {
  Object out;
  copy(rules, "StabilizationWindowSeconds", out, "stabilizationWindowSeconds");
  copy(rules, "SelectPolicy", out, "selectPolicy");
  if (get_array(rules, "Policies") != nullptr) {
    Array policies;
    each(rules, "Policies", [&](const Object& policy, std::size_t) {
      Object plain;
      for (const Named& member : kPolicy) copy(policy, member.internal, plain, member.name);
      policies.push_back(std::move(plain));
    });
    out["policies"] = std::move(policies);
  }
  copy(rules, "Tolerance", out, "tolerance");
  return out;
}

}  // namespace

Object metric_to_v1(const Object& metric) { return converted(metric, &Source::metric_to_v1); }
Object status_to_v1(const Object& metric) { return converted(metric, &Source::status_to_v1); }
Object metric_to_v2(const Object& metric) { return converted(metric, &Source::metric_to_v2); }
Object status_to_v2(const Object& metric) { return converted(metric, &Source::status_to_v2); }

Object condition_to_v1(const Object& condition) {
  Object out;
  out["type"] = get_string(condition, "type");
  out["status"] = get_string(condition, "status");
  out["lastTransitionTime"] = or_null(condition, "lastTransitionTime");
  for (const char* member : {"reason", "message"}) {
    if (!get_string(condition, member).empty()) out[member] = get_string(condition, member);
  }
  return out;
}

Object behavior_to_v1(const Object& behavior) {
  Object out;
  for (const Named& rules : kRules) {
    const Object* found = get_object(behavior, rules.name);
    out[rules.internal] = found != nullptr ? Value(rules_to_v1(*found)) : Value(nullptr);
  }
  return out;
}

Object behavior_to_v2(const Object& behavior) {
  Object out;
  for (const Named& rules : kRules) {
    if (const Object* found = get_object(behavior, rules.internal)) out[rules.name] = rules_to_v2(*found);
  }
  return out;
}

}  // namespace backplane::autoscaling
