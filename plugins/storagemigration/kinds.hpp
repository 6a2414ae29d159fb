// The group storagemigration.k8s.io, with the behaviour of its kind that schema/storagemigration_group.json does not describe.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group.hpp"

namespace backplane::storagemigration {

// Return the document of the group together with the code of its kinds, and the types of each version.
Result<kit::GroupDocument> storagemigration_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> storagemigration_schemas();

}  // namespace backplane::storagemigration
