// The revision of the store, which clients see as metadata.resourceVersion.
//
// Thread-safety: a value.
#pragma once

#include <cstdint>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Each commit of a store gets the next number of one sequence, so revisions order all changes of all resources. Revisions of different
// stores must not be compared. 0: not set.
using Revision = std::int64_t;

}  // namespace BACKPLANE_API
