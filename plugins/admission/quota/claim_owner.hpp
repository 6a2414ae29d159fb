// The pod for whose extended resources a ResourceClaim was made. Such a claim counts only the devices that the pod does not count already.
//
// Thread-safety: any executor.
// Lifetime:      borrows its arguments until it is awaited to the end.
// Errors:        none; a claim whose pod cannot be verified counts in full.
// Source:        k8s.io/kubernetes/pkg/quota/v1/evaluator/core/resource_claims.go (getVerifiedPodUsage).
#pragma once

#include <string>

#include "backplane/core/task.hpp"
#include "backplane/host.hpp"
#include "quota/evaluators.hpp"

namespace backplane::admission::quota {

// Whether the claim is annotated as made for a pod's extended resources.
bool is_extended_claim(const Object& claim);
// The usage of that pod; empty if the pod does not exist or belongs to another claim.
Task<ResourceList> owner_usage(Host& host, const Gates& gates, const Object& claim, std::string ns);

}  // namespace backplane::admission::quota
