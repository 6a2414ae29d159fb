// The group apps/v1: what its kinds do beyond schema/apps_group.json.
//
// `options` is what the host's flags say of pods.
// Thread-safety: pure functions.
// Keys are those of the time when these kinds had another group: each kind's storage prefix is the plural alone.
#pragma once

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::apps {

// The types of the group; pod templates are types of the core group.
std::shared_ptr<const SchemaSet> apps_schemas();

kit::KindCode daemon_set_code(workload::PodValidationOptions options);
kit::KindCode stateful_set_code(workload::PodValidationOptions options);

// The group: its document with this code.
Result<kit::GroupDocument> apps_group(workload::PodValidationOptions options = {});

}  // namespace backplane::apps
