// The group node.k8s.io: behaviour of its kind beyond schema/node_group.json.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group.hpp"

namespace backplane::node {

// The group: its document with this code, and the types of each version.
Result<kit::GroupDocument> node_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> node_schemas();

}  // namespace backplane::node
