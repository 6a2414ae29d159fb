// The group autoscaling, with the behaviour of its kind that its documents do not describe.
//
// Thread-safety: const; any thread.
#pragma once

#include <memory>

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::autoscaling {

// Returns the group: schema/autoscaling_group.json together with its code. `stored`: the schemas that contain the type of kStored.
// `scale_to_zero`: the gate HPAScaleToZero.
Result<kit::GroupDocument> autoscaling_group(std::shared_ptr<const SchemaSet> stored, bool scale_to_zero);
void add_autoscaler_printers(kit::GroupCode& code);
}  // namespace backplane::autoscaling
