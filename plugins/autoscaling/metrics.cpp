#include "metrics.hpp"

#include <array>
#include <string>
#include <vector>

#include "backplane/core/json_access.hpp"

namespace backplane::autoscaling {
namespace {

// Copies a member, if it is set, under another name to another object.
void copy(const Object& from, std::string_view key, Object& to, std::string_view as) {
  if (has(from, key)) to[as] = *find(from, key);
}

Object reference(const Object& from) {
  Object out;
  out["kind"] = get_string(from, "kind");
  out["name"] = get_string(from, "name");
  if (!get_string(from, "apiVersion").empty()) out["apiVersion"] = get_string(from, "apiVersion");
  return out;
}

// ---- the source of a metric

enum class Form : unsigned char {
  kCopy,              // present if it is set
  kQuantity,          // always present
  kQuantityInStatus,  // always present in a status, in a spec if it is set
  kText,
  kReference,
};
// One value of a metric's source. `holder`: the member of the source that contains the value in v2; empty: the source itself. `v2`, `v1`:
// the names of the value. "*" means "target" in a spec and "current" in a status.
struct Field {
  std::string_view holder, v2, v1;
  Form form = Form::kCopy;
};
using Fields = std::vector<Field>;
struct Source {
  const char* member;
  Fields fields;  // in the order of v1
};

const std::vector<Source>& sources() {
  static const Fields resource = {{"", "name", "name", Form::kText},
                                  {"*", "averageUtilization", "*AverageUtilization"},
                                  {"*", "averageValue", "*AverageValue", Form::kQuantityInStatus}};
  static const std::vector<Source> rows = [] {
    Fields of_container = resource;
    of_container.push_back({"", "container", "container", Form::kText});
    return std::vector<Source>{{"object",
                                {{"", "describedObject", "target", Form::kReference},
                                 {"metric", "name", "metricName", Form::kText},
                                 {"*", "value", "*Value", Form::kQuantity},
                                 {"metric", "selector", "selector"},
                                 {"*", "averageValue", "averageValue"}}},
                               {"pods",
                                {{"metric", "name", "metricName", Form::kText},
                                 {"*", "averageValue", "*AverageValue", Form::kQuantity},
                                 {"metric", "selector", "selector"}}},
                               {"resource", resource},
                               {"containerResource", std::move(of_container)},
                               {"external",
                                {{"metric", "name", "metricName", Form::kText},
                                 {"metric", "selector", "metricSelector"},
                                 {"*", "value", "*Value", Form::kQuantityInStatus},
                                 {"*", "averageValue", "*AverageValue"}}}};
  }();
  return rows;
}

std::string named(std::string_view name, bool status) {
  return name.starts_with('*') ? (status ? "current" : "target") + std::string(name.substr(1)) : std::string(name);
}

void carry(const Object& from, std::string_view key, Object& to, std::string_view as, Form form, bool status) {
  if (form == Form::kText) {
    to[as] = get_string(from, key);
  } else if (form == Form::kReference) {
    to[as] = reference(object_or_empty(from, key));
  } else if (!has(from, key) && (form == Form::kQuantity || (form == Form::kQuantityInStatus && status))) {
    to[as] = "0";
  } else {
    copy(from, key, to, as);
  }
}

Object source_to_v1(const Source& source, const Object& v2, bool status) {
  Object out;
  for (const Field& field : source.fields) {
    const Object& holder = field.holder.empty() ? v2 : object_or_empty(v2, named(field.holder, status));
    carry(holder, field.v2, out, named(field.v1, status), field.form, status);
  }
  return out;
}

// Returns the type of the target. v1 has no member for the type, so it is derived from the members that are set.
std::string_view target_type(const Object& target, bool external) {
  if (has(target, "averageUtilization")) return "Utilization";
  return has(target, "value") && (external || !has(target, "averageValue")) ? "Value" : "AverageValue";
}

Object source_to_v2(const Source& source, const Object& v1, bool status) {
  Object out;
  for (const Field& field : source.fields) {
    Object& holder = field.holder.empty() ? out : ensure_object(out, named(field.holder, status));
    carry(v1, named(field.v1, status), holder, field.v2, field.form, status);
  }
  if (Object* target = status ? nullptr : mutable_object(out, "target")) {
    (*target)["type"] = target_type(*target, source.member == std::string_view("external"));
  }
  return out;
}

Object converted(const Object& metric, Object (*convert)(const Source&, const Object&, bool), bool status) {
  Object out;
  out["type"] = get_string(metric, "type");
  for (const Source& source : sources()) {
    if (const Object* member = get_object(metric, source.member)) out[source.member] = convert(source, *member, status);
  }
  return out;
}

// Returns the member or null, as Go prints a pointer.
Value or_null(const Object& object, std::string_view key) { return has(object, key) ? *find(object, key) : Value(nullptr); }

// The names of a member in upstream's internal type and in v2.
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

Object metric_to_v1(const Object& metric) { return converted(metric, source_to_v1, false); }
Object status_to_v1(const Object& metric) { return converted(metric, source_to_v1, true); }
Object metric_to_v2(const Object& metric) { return converted(metric, source_to_v2, false); }
Object status_to_v2(const Object& metric) { return converted(metric, source_to_v2, true); }

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
