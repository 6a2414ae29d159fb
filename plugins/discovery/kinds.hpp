// The group discovery.k8s.io: the behaviour of endpoint slices that schema/discovery_group.json and their schema cannot express.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::discovery {

Result<std::vector<std::shared_ptr<const SchemaSet>>> discovery_schemas();
// The group: its document with this code.
Result<kit::GroupDocument> discovery_group();

}  // namespace backplane::discovery
