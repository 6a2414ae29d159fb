// The strategies of apps/v1, one factory each; `options` is what the host's flags say of pods.
//
// Thread-safety: strategies are const; any thread.
#pragma once

#include <memory>

#include "backplane/strategy.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::apps {

std::shared_ptr<const Strategy> controller_revision_strategy();
std::shared_ptr<const Strategy> daemon_set_strategy(workload::PodValidationOptions options = {});
std::shared_ptr<const Strategy> deployment_strategy(workload::PodValidationOptions options = {});
std::shared_ptr<const Strategy> replica_set_strategy(workload::PodValidationOptions options = {});
std::shared_ptr<const Strategy> stateful_set_strategy(workload::PodValidationOptions options = {});

std::shared_ptr<const Strategy> daemon_set_status_strategy();
std::shared_ptr<const Strategy> deployment_status_strategy();
std::shared_ptr<const Strategy> replica_set_status_strategy();
std::shared_ptr<const Strategy> stateful_set_status_strategy();

}  // namespace backplane::apps
