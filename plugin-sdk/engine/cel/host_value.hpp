// Values of the host as values of a run.
//
// Thread-safety: pure function.
// Lifetime:      the value borrows `host`.
// Errors:        an error value for a class of HostValue that no library knows.
#pragma once

#include "backplane/types/cel.hpp"
#include "cel/value.hpp"

namespace backplane::cel_detail {

Val host_val(Arena& arena, const cel::HostValue& host);

}  // namespace backplane::cel_detail
