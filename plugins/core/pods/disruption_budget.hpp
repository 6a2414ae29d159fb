// PodDisruptionBudgets, as evictions see them: which pods they are about, and whether one more may go.
//
// Thread-safety: pure functions on trees of the caller's.
// Errors:        kTooManyRequests with cause DisruptionBudget (ask again later), kForbidden for a budget in disorder.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::core {

// The budget's selector takes the pod; one that is missing, or cannot be read, takes none.
bool covers(const Object& budget, const Object& pod);

bool is_ready(const Object& pod);
// Whether a pod that is not ready may go without being counted.
bool lets_unready_go(const Object& budget);

// Takes one disruption from what the budget's status allows, for the pod.
Status take_disruption(Object& budget, std::string_view pod_name);

// The budget, or the pod, is not what it was when the eviction began.
Status still_processing(std::string_view budget_name);

}  // namespace backplane::core
