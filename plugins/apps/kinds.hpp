// The group apps/v1, with the behaviour of its kinds that schema/apps_group.json does not describe.
//
// `options`: the host's flags about pods.
// Thread-safety: pure functions.
// The storage keys are those of the kinds' former group, so the storage prefix of each kind is its plural without a group.
#pragma once

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::apps {

// The types of the group; pod templates are types of the core group.
std::shared_ptr<const SchemaSet> apps_schemas();

kit::KindCode daemon_set_code(workload::PodValidationOptions options);
kit::KindCode stateful_set_code(workload::PodValidationOptions options);

// Returns the document of the group together with the code of its kinds.
Result<kit::GroupDocument> apps_group(workload::PodValidationOptions options = {});

}  // namespace backplane::apps
