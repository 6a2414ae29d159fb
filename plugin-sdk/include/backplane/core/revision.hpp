// The revision of the store, which clients see as metadata.resourceVersion.
#pragma once

#include <cstdint>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Every commit of a store gets the next number of one sequence. 0: not set.
using Revision = std::int64_t;

}  // namespace BACKPLANE_API
