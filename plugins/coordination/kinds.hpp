// The group coordination.k8s.io, with the behaviour of its kinds that schema/coordination_group.json and the rules in their schemas do not
// describe.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::coordination {

kit::KindCode lease_code();
kit::KindCode lease_candidate_code();

Result<std::vector<std::shared_ptr<const SchemaSet>>> coordination_schemas();
// Returns the document of the group together with the code of its kinds.
Result<kit::GroupDocument> coordination_group();

}  // namespace backplane::coordination
