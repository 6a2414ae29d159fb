// The group storagemigration.k8s.io: behaviour of its kind beyond schema/storagemigration_group.json.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group.hpp"

namespace backplane::storagemigration {

// The group: its document with this code, and the types of each version.
Result<kit::GroupDocument> storagemigration_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> storagemigration_schemas();

}  // namespace backplane::storagemigration
