// The group admissionregistration.k8s.io: behaviour of its kinds beyond schema/admissionregistration_group.json.
//
// Thread-safety: pure functions.
#pragma once

#include <memory>
#include <vector>

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admissionregistration {

// The types of v1, v1beta1 and v1alpha1, in this order. The sets of v1beta1 and v1alpha1 import the set of v1.
std::vector<std::shared_ptr<const SchemaSet>> admissionregistration_schemas();

// `reserved`: new objects must not have names that end with ".static.k8s.io" (gate ManifestBasedAdmissionControlConfig).
kit::MakeStrategy make_webhook_configuration(bool reserved);
kit::MakeStrategy make_validating_policy(bool reserved);
kit::MakeStrategy make_validating_binding(bool reserved);
kit::MakeStrategy make_mutating_policy(bool reserved);
kit::MakeStrategy make_mutating_binding(bool reserved);

Result<kit::GroupDocument> admissionregistration_group(bool reserved = false);

}  // namespace backplane::admissionregistration
