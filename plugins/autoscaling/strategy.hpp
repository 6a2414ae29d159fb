// HorizontalPodAutoscalers in the form in which they are stored, v2: defaults, rules and columns.
//
// Thread-safety: const; any thread.
#pragma once

#include <memory>

#include "backplane/kit/group_document.hpp"

namespace backplane::autoscaling {

// The group: schema/autoscaling_group.json with its code.
Result<kit::GroupDocument> autoscaling_group();
void add_autoscaler_printers(kit::GroupCode& code);
// `old`: the stored object, or null for a new one; what was wrong in it already is not held against a change.
void validate_autoscaler(const Object& autoscaler, const Object* old, FieldErrors& errors);

}  // namespace backplane::autoscaling
