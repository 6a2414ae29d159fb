// The group node.k8s.io, with the behaviour of its kind that schema/node_group.json does not describe.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group.hpp"

namespace backplane::node {

// Return the document of the group together with the code of its kinds, and the types of each version.
Result<kit::GroupDocument> node_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> node_schemas();

}  // namespace backplane::node
