// The group resource.k8s.io, with the behaviour of its kinds that schema/resource_group.json does not describe.
//
// Thread-safety: const; any thread.
#pragma once

#include <memory>

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::resource {

// The types of v1, in which all kinds except the alpha kinds are stored.
std::shared_ptr<const SchemaSet> stored_schemas();

// `claim_hooks`: the store hooks of claims and their templates; null: none. `distinct`: the gate DRAConsumableCapacity.
Result<kit::GroupDocument> resource_group(std::shared_ptr<const StoreHooks> claim_hooks = {}, bool distinct = true);

}  // namespace backplane::resource
