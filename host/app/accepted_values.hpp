// Validates flags whose values are kept as text.
//
// Thread-safety: pure functions.
// Errors:        appends one message for each problem to `problems`.
#pragma once

#include "app/feature_gates.hpp"
#include "app/options.hpp"

namespace backplane {

void check_accepted_values(const FlagSet& flags, const FeatureGates& gates, Problems& problems);

}  // namespace backplane
