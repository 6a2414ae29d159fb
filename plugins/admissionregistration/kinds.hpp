// The group admissionregistration.k8s.io: what its kinds do beyond schema/admissionregistration_group.json.
//
// Thread-safety: pure functions.
#pragma once

#include <memory>
#include <vector>

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admissionregistration {

// Types of v1, v1beta1 and v1alpha1; the later ones hold some of v1.
std::vector<std::shared_ptr<const SchemaSet>> admissionregistration_schemas();

kit::MakeStrategy make_webhook_configuration();
kit::MakeStrategy make_validating_policy();
kit::MakeStrategy make_validating_binding();
kit::MakeStrategy make_mutating_policy();
kit::MakeStrategy make_mutating_binding();

Result<kit::GroupDocument> admissionregistration_group();

}  // namespace backplane::admissionregistration
