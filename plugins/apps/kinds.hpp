// The kinds of apps/v1 as data, one row each.
//
// `options` is what the host's flags say of pods.
// Thread-safety: pure functions.
// Keys are those of the time when these kinds had another group: each row's storage prefix is the plural alone.
#pragma once

#include "backplane/kit/group.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::apps {

using kit::KindRow;

KindRow controller_revision_row();
KindRow daemon_set_row(workload::PodValidationOptions options = {});
KindRow deployment_row(workload::PodValidationOptions options = {});
KindRow replica_set_row(workload::PodValidationOptions options = {});
KindRow stateful_set_row(workload::PodValidationOptions options = {});

}  // namespace backplane::apps
