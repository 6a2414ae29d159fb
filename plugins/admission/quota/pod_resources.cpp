#include "quota/pod_resources.hpp"

#include <algorithm>
#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/resource_names.hpp"

namespace backplane::admission::quota {
namespace {

enum class Side : unsigned char { kRequests, kLimits };
constexpr std::string_view member_of(Side side) { return side == Side::kRequests ? "requests" : "limits"; }

bool is_pod_level_resource(std::string_view name) { return name == "cpu" || name == "memory" || is_huge_page(name); }

bool is_resize_infeasible(const Object& status) {
  const Object* pending = find_item(status, "conditions", "type", "PodResizePending");
  return pending != nullptr && get_string(*pending, "reason") == "Infeasible";
}

const Object* container_status(const Object& status, std::string_view list, const Object& container) {
  return find_item(status, list, "name", get_string(container, "name"));
}

bool is_sidecar(const Object& container) { return get_string(container, "restartPolicy") == "Always"; }

// Adds up the containers of a pod, of requests or of limits.
class ContainerSum {
 public:
  ContainerSum(const Object& pod, Side side) : spec_(object_or_empty(pod, "spec")), status_(object_or_empty(pod, "status")), side_(side) {}

  ResourceList sum() const {
    ResourceList out;
    each(spec_, "containers", [&](const Object& container, std::size_t) {
      out = add(out, effective(container, container_status(status_, "containerStatuses", container)));
    });
    ResourceList sidecars, starting;
    each(spec_, "initContainers", [&](const Object& container, std::size_t) {
      if (!is_sidecar(container)) return raise_to(starting, add(effective(container, nullptr), sidecars));
      const ResourceList own = effective(container, container_status(status_, "initContainerStatuses", container));
      out = add(out, own);
      sidecars = add(sidecars, own);
      raise_to(starting, sidecars);
    });
    raise_to(out, starting);
    return out;
  }

 private:
  // What the container has, is allocated or is to have, whichever is more.
  ResourceList effective(const Object& container, const Object* status) const {
    ResourceList wanted = read_resources(object_or_empty(container, "resources"), member_of(side_));
    const Object* actual = status != nullptr ? get_object(*status, "resources") : nullptr;
    if (actual == nullptr) return wanted;
    ResourceList out = read_resources(*actual, member_of(side_));
    if (side_ == Side::kRequests) raise_to(out, read_resources(*status, "allocatedResources"));
    if (!is_resize_infeasible(status_)) raise_to(out, wanted);
    return out;
  }

  const Object& spec_;
  const Object& status_;
  const Side side_;
};

const Object& pod_level(const Object& pod) { return object_or_empty(object_or_empty(pod, "spec"), "resources"); }

void take_pod_level(ResourceList& out, const Object& pod, Side side) {
  for (const auto& [name, amount] : read_resources(pod_level(pod), member_of(side))) {
    if (is_pod_level_resource(name)) out.insert_or_assign(name, amount);
  }
}

bool is_extended_container_resource(std::string_view name) {
  if (name.starts_with("deviceclass.resource.kubernetes.io/")) return true;
  if (is_native_resource(name) || name.starts_with(kRequestsPrefix)) return false;
  return is_qualified_name(std::string(kRequestsPrefix) + std::string(name)).empty();
}

// A pod that has ended, or whose deletion should have ended.
bool has_ended(const Object& pod) {
  const std::string_view phase = get_string(object_or_empty(pod, "status"), "phase");
  if (phase == "Failed" || phase == "Succeeded") return true;
  const Object& metadata = object_or_empty(pod, "metadata");
  const auto deleted = parse_rfc3339(get_string(metadata, "deletionTimestamp"));
  const auto grace = get_int(metadata, "deletionGracePeriodSeconds");
  if (!deleted || !grace) return false;
  const auto end = std::chrono::system_clock::time_point(std::chrono::seconds(*deleted + *grace));
  return std::chrono::system_clock::now() > end;
}

bool has_compute_amount(const Object& resources) {
  for (const Side side : {Side::kRequests, Side::kLimits}) {
    const ResourceList list = read_resources(resources, member_of(side));
    for (const std::string_view name : {"cpu", "memory"}) {
      const auto found = list.find(name);
      if (found != list.end() && compare_quantities(found->second, "0") > 0) return true;
    }
  }
  return false;
}

}  // namespace

ResourceList pod_requests(const Object& pod, const Gates& gates) {
  ResourceList out = ContainerSum(pod, Side::kRequests).sum();
  if (gates.pod_level_resources) take_pod_level(out, pod, Side::kRequests);
  return add(out, read_resources(object_or_empty(pod, "spec"), "overhead"));
}

ResourceList pod_limits(const Object& pod, const Gates& gates) {
  ResourceList out = ContainerSum(pod, Side::kLimits).sum();
  if (gates.pod_level_resources) take_pod_level(out, pod, Side::kLimits);
  for (const auto& [name, amount] : read_resources(object_or_empty(pod, "spec"), "overhead")) {
    const auto limit = out.find(name);
    if (limit != out.end() && compare_quantities(limit->second, "0") != 0) limit->second = sum_of_quantities(limit->second, amount);
  }
  return out;
}

bool has_pod_level_resources(const Object& pod) {
  ResourceList named;
  take_pod_level(named, pod, Side::kRequests);
  take_pod_level(named, pod, Side::kLimits);
  return !named.empty();
}

ResourceList compute_usage(const ResourceList& requests, const ResourceList& limits) {
  ResourceList out{{"pods", "1"}};
  for (const std::string_view name : {"cpu", "memory", "ephemeral-storage"}) {
    if (const auto request = requests.find(name); request != requests.end()) {
      out.emplace(name, request->second);
      out.emplace(std::string(kRequestsPrefix) + std::string(name), request->second);
    }
    if (const auto limit = limits.find(name); limit != limits.end()) out.emplace("limits." + std::string(name), limit->second);
  }
  for (const auto& [name, amount] : requests) {
    if (is_huge_page(name)) out.emplace(name, amount);
    if (is_huge_page(name) || is_extended_container_resource(name)) out.emplace(std::string(kRequestsPrefix) + name, amount);
  }
  return out;
}

ResourceList pod_usage(const Object& pod, const Gates& gates) {
  const ResourceList number{{"count/pods", "1"}};
  if (has_ended(pod)) return number;
  return add(number, compute_usage(pod_requests(pod, gates), pod_limits(pod, gates)));
}

bool is_extended_quota_resource(std::string_view name) {
  return name.starts_with(kImplicitClassRequests) || (name.starts_with(kRequestsPrefix) && !is_native_resource(name));
}

bool is_best_effort(const Object& pod, const Gates& gates) {
  const std::string_view known = get_string(object_or_empty(pod, "status"), "qosClass");
  if (!known.empty()) return known == "BestEffort";
  const Object& spec = object_or_empty(pod, "spec");
  if (gates.pod_level_resources && has(spec, "resources")) return !has_compute_amount(pod_level(pod));
  bool found = false;
  for (const std::string_view list : {"containers", "initContainers"}) {
    each(spec, list, [&](const Object& container, std::size_t) { found |= has_compute_amount(object_or_empty(container, "resources")); });
  }
  return !found;
}

}  // namespace backplane::admission::quota
