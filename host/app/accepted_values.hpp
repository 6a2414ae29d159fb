// Values of flags that are kept as text because nothing acts on more than one of them.
//
// Thread-safety: pure functions.
// Errors:        problems; with upstream's message if upstream checks the flag.
#pragma once

#include "app/feature_gates.hpp"
#include "app/options.hpp"

namespace backplane {

void check_accepted_values(const FlagSet& flags, const FeatureGates& gates, Problems& problems);

}  // namespace backplane
