// The group rbac.authorization.k8s.io, with the behaviour of its kinds that schema/rbac_group.json does not describe.
//
// Thread-safety: pure functions.
#pragma once

#include <memory>
#include <vector>

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::rbac {

// Returns the group: schema/rbac_group.json together with its code.
Result<kit::GroupDocument> rbac_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> rbac_schemas();

}  // namespace backplane::rbac
