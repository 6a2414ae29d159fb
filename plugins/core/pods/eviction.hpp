// POST on pods/eviction: a pod is deleted unless a PodDisruptionBudget has something against it.
//
// Thread-safety: any executor.
// Lifetime:      keeps the stores it is made from, and the client.
#pragma once

#include <memory>

#include "backplane/net/client.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::core {

struct EvictionParts {
  std::shared_ptr<StandardStorage> pods;
  std::shared_ptr<SubresourceStorage> pod_changes;  // updates pods without rules of its own (pod_binding_strategy())
  std::shared_ptr<ApiClient> client;                // for budgets, whoever serves them
  const Schema* schema = nullptr;                   // policy/v1 Eviction
};
std::shared_ptr<RestStorage> make_eviction(EvictionParts parts);

}  // namespace backplane::core
