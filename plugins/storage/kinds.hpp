// The group storage.k8s.io: behaviour of its kinds beyond schema/storage_group.json.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group.hpp"

namespace backplane::storage {

// The group: its document with this code, and the types of each version.
Result<kit::GroupDocument> storage_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> storage_schemas();

}  // namespace backplane::storage
