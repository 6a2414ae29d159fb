// Checks two alpha annotations of nodes: the taints, which have become a field, and the pods that the scheduler should avoid.
//
// Thread-safety: pure function.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::core {

void check_node_annotations(const Object& node, FieldErrors& errors);

}  // namespace backplane::core
