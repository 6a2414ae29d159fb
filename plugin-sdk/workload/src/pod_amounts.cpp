// Computes the total resources of a pod's containers.
#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

std::string_view amount_in(const Object& amounts, std::string_view name) {
  const Value* found = find(amounts, name);
  return found == nullptr ? "0" : text_of(*found);
}

void add(Object& amounts, const Object& more) {
  for (const auto& each : more) amounts[each.key()] = sum_of_quantities(amount_in(amounts, each.key()), text_of(each.value()));
}

void raise(Object& amounts, const Object& least) {
  for (const auto& each : least) {
    const Value* now = find(amounts, each.key());
    if (now == nullptr || compare_quantities(text_of(*now), text_of(each.value())) < 0) amounts[each.key()] = each.value();
  }
}

}  // namespace

Object sum_of_containers(const Object& pod_spec, std::string_view list) {
  const auto of = [list](const Object& container) -> const Object& {
    return object_or_empty(object_or_empty(container, "resources"), list);
  };
  // out: of the containers that run at the same time. sidecars: of the sidecars among them. most: the maximum while an init container runs.
  Object out, sidecars, most;
  each(pod_spec, "containers", [&](const Object& container, std::size_t) { add(out, of(container)); });
  each(pod_spec, "initContainers", [&](const Object& container, std::size_t) {
    if (get_string(container, "restartPolicy") == "Always") {
      add(out, of(container));
      add(sidecars, of(container));
      raise(most, sidecars);
      return;
    }
    Object now = of(container);
    add(now, sidecars);
    raise(most, now);
  });
  raise(out, most);
  return out;
}

}  // namespace backplane::workload
