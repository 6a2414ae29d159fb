// The group rbac.authorization.k8s.io: behaviour of its kinds beyond the documents.
//
// Thread-safety: pure functions.
#pragma once

#include <memory>
#include <vector>

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::rbac {

// The group: schema/rbac_group.json with its code.
Result<kit::GroupDocument> rbac_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> rbac_schemas();

}  // namespace backplane::rbac
