// The group discovery.k8s.io: the behaviour of endpoint slices that schema/discovery_group.json and their schema cannot express.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::discovery {

Result<std::vector<std::shared_ptr<const SchemaSet>>> discovery_schemas();
// Returns the document of the group together with the code of its kinds.
Result<kit::GroupDocument> discovery_group();

}  // namespace backplane::discovery
