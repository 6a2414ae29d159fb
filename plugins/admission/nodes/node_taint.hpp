// The admission plugin TaintNodesByCondition: new nodes are not ready, so that no pod is scheduled on them before a controller knows them.
//
// Thread-safety: any thread.
// Source:        kubernetes plugin/pkg/admission/nodetaint.
#pragma once

#include <memory>

#include "backplane/points/admission.hpp"

namespace backplane::admission::nodes {

std::shared_ptr<AdmissionPlugin> taint_nodes_by_condition();

}  // namespace backplane::admission::nodes
