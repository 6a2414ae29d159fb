// The kinds of the core group as data, one row each, and the strategies of subresources that are not /status.
//
// `options` is what the host's flags say of pods.
// Thread-safety: pure functions; strategies are const, any thread.
#pragma once

#include <memory>

#include "backplane/kit/group.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::core {

using kit::KindRow;

KindRow config_map_row();
KindRow endpoints_row();
KindRow event_row();
KindRow limit_range_row();
KindRow namespace_row();
KindRow node_row();
KindRow persistent_volume_row();
KindRow persistent_volume_claim_row();
KindRow pod_row(workload::PodValidationOptions options = {});
KindRow pod_template_row(workload::PodValidationOptions options = {});
KindRow replication_controller_row(workload::PodValidationOptions options = {});
KindRow resource_quota_row();
KindRow secret_row();
KindRow service_account_row();
KindRow service_row();

std::shared_ptr<const Strategy> namespace_finalize_strategy();
std::shared_ptr<const Strategy> pod_status_strategy(std::shared_ptr<const Strategy> parent);
std::shared_ptr<const Strategy> pod_ephemeral_containers_strategy(workload::PodValidationOptions options = {});
// Changes of the scheduler's doing: everything is as the binding made it.
std::shared_ptr<const Strategy> pod_binding_strategy();

}  // namespace backplane::core
