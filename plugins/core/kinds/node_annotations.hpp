// Annotations of nodes that were fields before they were stable: taints, and pods that should run on other nodes.
//
// Thread-safety: pure function.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::core {

void check_node_annotations(const Object& node, FieldErrors& errors);

}  // namespace backplane::core
