// The group discovery.k8s.io: what endpoint slices do beyond schema/discovery_group.json and the rules in their schema.
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
