// Sets the default values of a ResourceConfig.
//
// Thread-safety: a pure function.
#pragma once

#include "backplane/rest/resource_config.hpp"

namespace backplane::registry {

// Returns `config`. Names and the storage prefix that are not set are derived from the kind.
ResourceConfig completed(ResourceConfig config);

}  // namespace backplane::registry
