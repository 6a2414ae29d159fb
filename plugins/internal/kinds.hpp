// The group internal.apiserver.k8s.io, with the behaviour of its kind that schema/internal_group.json does not describe.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group.hpp"

namespace backplane::internal {

// Return the document of the group together with the code of its kinds, and the types of each version.
Result<kit::GroupDocument> internal_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> internal_schemas();

}  // namespace backplane::internal
