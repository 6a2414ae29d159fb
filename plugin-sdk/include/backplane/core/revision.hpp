// The number of a state of the store, which a client sees as metadata.resourceVersion.
#pragma once

#include <cstdint>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Commits are numbered in order, by one sequence for the whole store; 0: unset.
using Revision = std::int64_t;

}  // namespace BACKPLANE_API
