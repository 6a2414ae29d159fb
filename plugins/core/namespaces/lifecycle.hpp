// Admission plugin NamespaceLifecycle: refuses creates in a namespace that is missing or being deleted, and deletions of some namespaces.
//
// Thread-safety: any executor.
// Lifetime:      keeps the namespaces' store.
#pragma once

#include <memory>

#include "backplane/points/admission.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"

namespace backplane::core {

std::shared_ptr<AdmissionPlugin> make_namespace_lifecycle(std::shared_ptr<StandardStorage> namespaces);

}  // namespace backplane::core
