#include "common/pod_resources.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/resource_names.hpp"

namespace backplane::admission {
namespace {

constexpr ResourceSide kBothSides[] = {ResourceSide::kRequests, ResourceSide::kLimits};

const Object& spec_of_pod(const Object& pod) { return object_or_empty(pod, "spec"); }

bool is_resize_infeasible(const Object& status) {
  const Object* pending = find_item(status, "conditions", "type", "PodResizePending");
  return pending != nullptr && get_string(*pending, "reason") == "Infeasible";
}

bool is_sidecar(const Object& container) { return get_string(container, "restartPolicy") == "Always"; }

ResourceList resources_of(const Object& holder, ResourceSide side) {
  return read_resources(object_or_empty(holder, "resources"), member_of(side));
}

// `list`: the member of the pod's status that has the statuses of such containers.
ResourceList effective(const Object& container, ResourceSide side, const Object* pod_status, std::string_view list) {
  ResourceList wanted = resources_of(container, side);
  const Object* status = pod_status == nullptr ? nullptr : find_item(*pod_status, list, "name", get_string(container, "name"));
  if (status == nullptr || get_object(*status, "resources") == nullptr) return wanted;
  ResourceList out = resources_of(*status, side);
  if (side == ResourceSide::kRequests) raise_to(out, read_resources(*status, "allocatedResources"));
  if (!is_resize_infeasible(*pod_status)) raise_to(out, wanted);
  return out;
}

bool has_compute_amount(const Object& holder) {
  for (const ResourceSide side : kBothSides) {
    const ResourceList list = resources_of(holder, side);
    for (const std::string_view name : {"cpu", "memory"}) {
      const auto found = list.find(name);
      if (found != list.end() && compare_quantities(found->second, "0") > 0) return true;
    }
  }
  return false;
}

}  // namespace

std::string_view member_of(ResourceSide side) noexcept { return side == ResourceSide::kRequests ? "requests" : "limits"; }

ResourceList sum_of_containers(const Object& pod, ResourceSide side, const Object* status) {
  ResourceList out, sidecars, starting;
  each(spec_of_pod(pod), "containers",
       [&](const Object& container, std::size_t) { add_to(out, effective(container, side, status, "containerStatuses")); });
  each(spec_of_pod(pod), "initContainers", [&](const Object& container, std::size_t) {
    if (!is_sidecar(container)) return raise_to(starting, add(effective(container, side, nullptr, {}), sidecars));
    const ResourceList own = effective(container, side, status, "initContainerStatuses");
    add_to(out, own);
    add_to(sidecars, own);
    raise_to(starting, sidecars);
  });
  raise_to(out, starting);
  return out;
}

void take_pod_level(ResourceList& list, const Object& pod, ResourceSide side, bool huge_pages) {
  for (auto& [name, amount] : resources_of(spec_of_pod(pod), side)) {
    if (name == "cpu" || name == "memory" || (huge_pages && is_huge_page(name))) list.insert_or_assign(name, amount);
  }
}

bool has_pod_level_resources(const Object& pod) {
  ResourceList named;
  for (const ResourceSide side : kBothSides) take_pod_level(named, pod, side);
  return !named.empty();
}

ResourceList pod_requests(const Object& pod, const Object* status, bool pod_level) {
  ResourceList out = sum_of_containers(pod, ResourceSide::kRequests, status);
  if (pod_level) take_pod_level(out, pod, ResourceSide::kRequests);
  add_to(out, read_resources(spec_of_pod(pod), "overhead"));
  return out;
}

ResourceList pod_limits(const Object& pod, const Object* status, bool pod_level) {
  ResourceList out = sum_of_containers(pod, ResourceSide::kLimits, status);
  if (pod_level) take_pod_level(out, pod, ResourceSide::kLimits);
  for (const auto& [name, amount] : read_resources(spec_of_pod(pod), "overhead")) {
    const auto limit = out.find(name);
    if (limit != out.end() && compare_quantities(limit->second, "0") != 0) limit->second = sum_of_quantities(limit->second, amount);
  }
  return out;
}

bool is_best_effort(const Object& pod, bool pod_level) {
  const std::string_view known = get_string(object_or_empty(pod, "status"), "qosClass");
  if (!known.empty()) return known == "BestEffort";
  const Object& spec = spec_of_pod(pod);
  if (pod_level && has(spec, "resources")) return !has_compute_amount(spec);
  bool found = false;
  for (const std::string_view list : {"containers", "initContainers"}) {
    each(spec, list, [&](const Object& container, std::size_t) { found |= has_compute_amount(container); });
  }
  return !found;
}

}  // namespace backplane::admission
