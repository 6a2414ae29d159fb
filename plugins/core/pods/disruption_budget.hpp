// PodDisruptionBudgets for evictions: the pods that they select, and whether one more may be evicted.
//
// Thread-safety: pure functions on trees of the caller.
// Errors:        kTooManyRequests with cause DisruptionBudget (retry later), kForbidden for an invalid budget.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::core {

// True if the budget's selector selects the pod; a missing or invalid selector selects no pod.
bool covers(const Object& budget, const Object& pod);

bool is_ready(const Object& pod);
// Whether a pod that is not ready may be evicted without being counted.
bool lets_unready_go(const Object& budget);

// Decrements the allowed disruptions in the budget's status, for the pod.
Status take_disruption(Object& budget, std::string_view pod_name);

// The budget, or the pod, has changed since the eviction began.
Status still_processing(std::string_view budget_name);

}  // namespace backplane::core
