// The group coordination.k8s.io: behaviour of its kinds beyond schema/coordination_group.json and the rules in their schemas.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::coordination {

kit::KindCode lease_code();
kit::KindCode lease_candidate_code();

Result<std::vector<std::shared_ptr<const SchemaSet>>> coordination_schemas();
// The group: its document with this code.
Result<kit::GroupDocument> coordination_group();

}  // namespace backplane::coordination
