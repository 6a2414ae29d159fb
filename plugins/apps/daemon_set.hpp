// DaemonSets: functions for other files of the plugin.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::apps {

// Sets the annotation, for old clients, that contains the number of template changes of a DaemonSet.
void set_template_generation(Object& object, std::int64_t generation);

}  // namespace backplane::apps
