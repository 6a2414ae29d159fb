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

// The sum of the containers: containers and sidecars run together, other init containers one after the other. `status`: of the pod, whose
// containers count with the maximum of actual, allocated and desired resources; null: with those of the spec.
ResourceList sum_of_containers(const Object& pod, ResourceSide side, const Object* status = nullptr);
// Replaces the amounts by those of the pod itself. `huge_pages`: those of huge pages too, not only cpu and memory.
void take_pod_level(ResourceList& list, const Object& pod, ResourceSide side, bool huge_pages = true);
bool has_pod_level_resources(const Object& pod);

// With the overhead. `pod_level`: the gate PodLevelResources.
ResourceList pod_requests(const Object& pod, const Object* status, bool pod_level);
ResourceList pod_limits(const Object& pod, const Object* status, bool pod_level);

// The quality of service class: of the status, or computed from the spec.
bool is_best_effort(const Object& pod, bool pod_level);

}  // namespace backplane::admission
