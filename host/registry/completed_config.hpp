// Sets the members of a ResourceConfig that have a default.
//
// Thread-safety: a function of its argument.
#pragma once

#include "backplane/rest/resource_config.hpp"

namespace backplane::registry {

// `config` with the names and the storage prefix that follow from its kind if they are not set.
ResourceConfig completed(ResourceConfig config);

}  // namespace backplane::registry
