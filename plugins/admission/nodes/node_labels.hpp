// Labels that nodes may not set on their own objects, because they steer workloads.
//
// Thread-safety: pure functions.
// Source:        kubernetes plugin/pkg/admission/noderestriction; k8s.io/kubelet/pkg/apis.
#pragma once

#include <set>
#include <string>

#include "backplane/core/json.hpp"

namespace backplane::admission::nodes {

// The labels that differ between the objects and that a node must not change. `old`: null for a new object.
std::set<std::string> forbidden_label_changes(const Object& node, const Object* old);

}  // namespace backplane::admission::nodes
