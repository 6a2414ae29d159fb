// What a pod requests and is limited to as a whole, and which names quotas have for it.
//
// Thread-safety: pure functions.
// Errors:        none.
// Source:        k8s.io/component-helpers/resource (PodRequests, PodLimits), k8s.io/kubernetes/pkg/quota/v1/evaluator/core/pods.go.
#pragma once

#include <string_view>

#include "quota/evaluators.hpp"
#include "quota/resource_list.hpp"

namespace backplane::admission::quota {

// "requests." and the name of the extended resource that every device class provides.
inline constexpr std::string_view kImplicitClassRequests = "requests.deviceclass.resource.kubernetes.io/";

// The pod's requests and limits with init containers, overhead, its own resources, and the resources that its status reports.
ResourceList pod_requests(const Object& pod, const Gates& gates);
ResourceList pod_limits(const Object& pod, const Gates& gates);
// Whether the pod itself requests or limits a resource that pods can.
bool has_pod_level_resources(const Object& pod);

// The names under which quotas count requests and limits.
ResourceList compute_usage(const ResourceList& requests, const ResourceList& limits);
// What the pod counts as: its number, and its resources until it has ended.
ResourceList pod_usage(const Object& pod, const Gates& gates);

// "requests.example.com/gpu".
bool is_extended_quota_resource(std::string_view name);
// Whether no container has a request or limit of cpu or memory.
bool is_best_effort(const Object& pod, const Gates& gates);

}  // namespace backplane::admission::quota
