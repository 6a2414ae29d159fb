// The requests and limits of a pod as a whole.
//
// Thread-safety: pure functions.
// Errors:        none.
// Source:        k8s.io/component-helpers/resource (PodRequests, PodLimits), its copy in upstream's LimitRanger, and
//                k8s.io/kubernetes/pkg/apis/core/v1/helper/qos.
#pragma once

#include <string_view>

#include "common/resource_list.hpp"

namespace backplane::admission {

enum class ResourceSide : unsigned char { kRequests, kLimits };
// "requests", "limits".
std::string_view member_of(ResourceSide side) noexcept;

// The sum over the containers. Containers and sidecars run at the same time, other init containers one after the other. `status`: the
// status of the pod; each container then counts with the maximum of its actual, allocated and desired resources. If `status` is null,
// containers count with the resources of the spec.
ResourceList sum_of_containers(const Object& pod, ResourceSide side, const Object* status = nullptr);
// Replaces the amounts by spec.resources of the pod. `huge_pages`: also those of huge pages, not only cpu and memory.
void take_pod_level(ResourceList& list, const Object& pod, ResourceSide side, bool huge_pages = true);
bool has_pod_level_resources(const Object& pod);

// The requests or limits of the pod, including its overhead. `pod_level`: the gate PodLevelResources.
ResourceList pod_requests(const Object& pod, const Object* status, bool pod_level);
ResourceList pod_limits(const Object& pod, const Object* status, bool pod_level);

// Whether the quality of service class is BestEffort. The class is that of the status, or is computed from the spec.
bool is_best_effort(const Object& pod, bool pod_level);

}  // namespace backplane::admission
