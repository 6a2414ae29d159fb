#include "pods/qos.hpp"

#include <string>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kCounted[] = {"cpu", "memory"};

// Returns the amount if it is positive, otherwise an empty text.
std::string_view amount(const Object& resources, std::string_view list, std::string_view name) {
  const Value* value = find(object_or_empty(resources, list), name);
  if (value == nullptr || compare_quantities(text_of(*value), "0") <= 0) return {};
  return text_of(*value);
}

}  // namespace

std::string_view qos_class(const Object& pod_spec) {
  bool any = false;
  bool guaranteed = true;
  const auto look_at = [&](const Object& holder, std::size_t) {
    const Object& resources = object_or_empty(holder, "resources");
    for (std::string_view name : kCounted) {
      const std::string_view limit = amount(resources, "limits", name), request = amount(resources, "requests", name);
      any = any || !limit.empty() || !request.empty();
      const Value* asked = find(object_or_empty(resources, "requests"), name);
      guaranteed = guaranteed && !limit.empty() && (asked == nullptr || compare_quantities(limit, text_of(*asked)) == 0);
    }
  };
  // Pod-level resources replace those of its containers.
  if (has(pod_spec, "resources")) {
    look_at(pod_spec, 0);
  } else {
    for (std::string_view list : {"containers", "initContainers"}) each(pod_spec, list, look_at);
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace backplane::core
