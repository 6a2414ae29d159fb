// The strategies of the core kinds, one factory each, and those of their subresources; `options` is what the host's flags say of pods.
//
// Thread-safety: strategies are const; any thread.
#pragma once

#include <memory>

#include "backplane/strategy.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::core {

std::shared_ptr<const Strategy> config_map_strategy();
std::shared_ptr<const Strategy> secret_strategy();
std::shared_ptr<const Strategy> service_account_strategy();
std::shared_ptr<const Strategy> endpoints_strategy();
std::shared_ptr<const Strategy> event_strategy();
std::shared_ptr<const Strategy> limit_range_strategy();
std::shared_ptr<const Strategy> resource_quota_strategy();
std::shared_ptr<const Strategy> node_strategy();
std::shared_ptr<const Strategy> node_status_strategy();
std::shared_ptr<const Strategy> persistent_volume_strategy();
std::shared_ptr<const Strategy> persistent_volume_claim_strategy();
std::shared_ptr<const Strategy> pod_template_strategy(workload::PodValidationOptions options = {});
std::shared_ptr<const Strategy> replication_controller_strategy(workload::PodValidationOptions options = {});

std::shared_ptr<const Strategy> namespace_strategy();
std::shared_ptr<const Strategy> namespace_status_strategy();
std::shared_ptr<const Strategy> namespace_finalize_strategy();

std::shared_ptr<const Strategy> pod_strategy(workload::PodValidationOptions options = {});
std::shared_ptr<const Strategy> pod_status_strategy();
std::shared_ptr<const Strategy> pod_ephemeral_containers_strategy(workload::PodValidationOptions options = {});
// Changes of the scheduler's doing: everything is as the binding made it.
std::shared_ptr<const Strategy> pod_binding_strategy();

std::shared_ptr<const Strategy> service_strategy();

}  // namespace backplane::core
