// The group apps/v1: behaviour of its kinds beyond schema/apps_group.json.
//
// `options`: the host's flags about pods.
// Thread-safety: pure functions.
// Storage keys are those of the kinds' former group: each kind's storage prefix is the plural alone.
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
