// POST on pods/eviction: deletes the pod unless a PodDisruptionBudget disallows the disruption.
//
// Thread-safety: any executor.
// Lifetime:      shares the storages and the client.
#pragma once

#include <memory>

#include "backplane/net/client.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::core {

struct EvictionParts {
  std::shared_ptr<StandardStorage> pods;
  std::shared_ptr<SubresourceStorage> pod_changes;  // updates pods without validation (pod_binding_strategy())
  std::shared_ptr<ApiClient> client;                // for PodDisruptionBudgets, which any plugin or server may serve
  const Schema* schema = nullptr;                   // policy/v1 Eviction
};
std::shared_ptr<RestStorage> make_eviction(EvictionParts parts);

}  // namespace backplane::core
