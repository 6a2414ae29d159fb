// The group autoscaling: what its kind does beyond the documents.
//
// Thread-safety: const; any thread.
#pragma once

#include <memory>

#include "backplane/kit/group_document.hpp"

namespace backplane::autoscaling {

// The group: schema/autoscaling_group.json with its code.
Result<kit::GroupDocument> autoscaling_group();
void add_autoscaler_printers(kit::GroupCode& code);
}  // namespace backplane::autoscaling
