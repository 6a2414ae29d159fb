#include "quota/pod_usage.hpp"

#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/resource_names.hpp"

namespace backplane::admission::quota {
namespace {

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

}  // namespace

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
  const Object* status = &object_or_empty(pod, "status");
  return add(number,
             compute_usage(pod_requests(pod, status, gates.pod_level_resources), pod_limits(pod, status, gates.pod_level_resources)));
}

bool is_extended_quota_resource(std::string_view name) {
  return name.starts_with(kImplicitClassRequests) || (name.starts_with(kRequestsPrefix) && !is_native_resource(name));
}

}  // namespace backplane::admission::quota
