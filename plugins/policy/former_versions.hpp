// PodDisruptionBudgets of policy/v1beta1.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::policy {

// Converts a budget to policy/v1. An empty selector selects no pod in v1beta1, but every pod in v1.
Status budget_from_v1beta1(Object& budget);

}  // namespace backplane::policy
