// The group networking.k8s.io, with the behaviour of its kinds that schema/networking_group.json and the rules in their schemas do not
// describe.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::networking {

kit::KindCode ingress_code();
kit::KindCode ip_address_code();
kit::KindCode network_policy_code();
kit::KindCode service_cidr_code();
void add_printers(kit::GroupCode& code);

// The types, v1 and v1beta1.
Result<std::vector<std::shared_ptr<const SchemaSet>>> networking_schemas();
// Returns the document of the group together with the code of its kinds.
Result<kit::GroupDocument> networking_group();

}  // namespace backplane::networking
