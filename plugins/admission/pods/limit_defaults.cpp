#include "pods/limit_defaults.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/text.hpp"
#include "common/resource_list.hpp"

namespace backplane::admission::pods {
namespace {

using Texts = std::vector<std::string>;

struct LimitDefaults {
  ResourceList requests;
  ResourceList limits;
};

// If several items set the same resource, the last one counts.
LimitDefaults defaults_of(const Object& limit_range) {
  LimitDefaults out;
  each(object_or_empty(limit_range, "spec"), "limits", [&](const Object& item, std::size_t) {
    if (get_string(item, "type") != "Container") return;
    for (auto& [name, quantity] : read_resources(item, "defaultRequest")) out.requests[name] = quantity;
    for (auto& [name, quantity] : read_resources(item, "default")) out.limits[name] = quantity;
  });
  return out;
}

// The names of the resources that were set, sorted.
Texts fill_amounts(Object& container, std::string_view list, const ResourceList& defaults) {
  Texts set;
  const Object& present = object_or_empty(object_or_empty(container, "resources"), list);
  for (const auto& [name, quantity] : defaults) {
    if (find(present, name) == nullptr) set.push_back(name);
  }
  if (set.empty()) return set;
  Object& amounts = ensure_object(ensure_object(container, "resources"), list);
  for (const std::string& name : set) amounts[name] = defaults.find(name)->second;
  return set;
}

void fill_container(Object& container, const LimitDefaults& defaults, std::string_view what, Texts& changes) {
  const Texts limits = fill_amounts(container, "limits", defaults.limits);
  const Texts requests = fill_amounts(container, "requests", defaults.requests);
  const std::string whose = std::string(what) + " " + std::string(get_string(container, "name"));
  if (!requests.empty()) changes.push_back(joined(requests, ", ") + " request for " + whose);
  if (!limits.empty()) changes.push_back(joined(limits, ", ") + " limit for " + whose);
}

}  // namespace

bool set_limit_defaults(const Object& limit_range, Object& pod) {
  const LimitDefaults defaults = defaults_of(limit_range);
  Texts changes;
  Object& spec = ensure_object(pod, "spec");
  each_mutable(spec, "containers", [&](Object& container) { fill_container(container, defaults, "container", changes); });
  each_mutable(spec, "initContainers", [&](Object& container) { fill_container(container, defaults, "init container", changes); });
  if (changes.empty()) return false;
  ObjectMeta(pod).mutable_annotations()["kubernetes.io/limit-ranger"] = "LimitRanger plugin set: " + joined(changes, "; ");
  return true;
}

}  // namespace backplane::admission::pods
