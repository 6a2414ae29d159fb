// The quota names of a pod's requests and limits.
//
// Thread-safety: pure functions.
// Errors:        none.
// Source:        k8s.io/kubernetes/pkg/quota/v1/evaluator/core/pods.go.
#pragma once

#include <string_view>

#include "common/pod_resources.hpp"
#include "quota/evaluators.hpp"

namespace backplane::admission::quota {

// "requests." and the name of the extended resource that every device class provides.
inline constexpr std::string_view kImplicitClassRequests = "requests.deviceclass.resource.kubernetes.io/";

// Converts requests and limits to the names under which quotas count them.
ResourceList compute_usage(const ResourceList& requests, const ResourceList& limits);
// The usage of the pod: its number, and its resources until it has ended.
ResourceList pod_usage(const Object& pod, const Gates& gates);

// "requests.example.com/gpu".
bool is_extended_quota_resource(std::string_view name);

}  // namespace backplane::admission::quota
