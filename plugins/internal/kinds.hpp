// The group internal.apiserver.k8s.io: behaviour of its kind beyond schema/internal_group.json.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group.hpp"

namespace backplane::internal {

// The group: its document with this code, and the types of each version.
Result<kit::GroupDocument> internal_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> internal_schemas();

}  // namespace backplane::internal
