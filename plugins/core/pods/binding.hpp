// POST on pods/binding and bindings: a scheduler assigns a pod to a node.
//
// Thread-safety: any executor.
// Lifetime:      the results share the stores from which they are made.
#pragma once

#include <memory>

#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::core {

// `pods` updates pods under pod_binding_strategy().
std::shared_ptr<RestStorage> make_pod_binding(std::shared_ptr<SubresourceStorage> pods, const Schema* binding_schema);
// Like make_pod_binding(), for objects that are posted to /bindings.
std::shared_ptr<RestStorage> make_bindings(std::shared_ptr<SubresourceStorage> pods, const Schema* binding_schema);

}  // namespace backplane::core
