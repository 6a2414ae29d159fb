// DaemonSets: what other files of the plugin need of them.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::apps {

// How often the template of a DaemonSet has changed, as the annotation says it that old clients read.
void set_template_generation(Object& object, std::int64_t generation);

}  // namespace backplane::apps
