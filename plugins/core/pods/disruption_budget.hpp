// Functions on PodDisruptionBudgets for evictions: which pods a budget selects, and whether one more pod may be evicted.
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
// Returns true if a pod that is not ready may be evicted without being counted.
bool allows_unready_eviction(const Object& budget);

// Decrements the allowed disruptions in the budget's status, and records the pod there.
Status take_disruption(Object& budget, std::string_view pod_name);

// Returns the error for a budget or a pod that has changed since the eviction began.
Status still_processing(std::string_view budget_name);

}  // namespace backplane::core
