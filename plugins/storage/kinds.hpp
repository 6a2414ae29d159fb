// The group storage.k8s.io, with the behaviour of its kinds that schema/storage_group.json does not describe.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group.hpp"

namespace backplane::storage {

// Return the document of the group together with the code of its kinds, and the types of each version.
Result<kit::GroupDocument> storage_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> storage_schemas();

}  // namespace backplane::storage
