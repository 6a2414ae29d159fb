// Admission plugin OwnerReferencesPermissionEnforcement, off by default. A user that changes the owners of an object must be allowed to
// delete the object. A user that sets blockOwnerDeletion must be allowed to set finalizers on the owner.
// Source: k8s.io/kubernetes/plugin/pkg/admission/gc.
#pragma once

#include <functional>

#include "common/services.hpp"
#include "objects/owner_resources.hpp"

namespace backplane {
class Authorizer;
}

namespace backplane::admission::objects {

Result<std::shared_ptr<AdmissionPlugin>> make_owner_permissions(Services& services, const AdmissionPluginConfig& config);

// Finds the resources of an owner by apiVersion and kind.
using OwnerResourceFinder = std::function<Task<Result<std::vector<OwnerResource>>>(std::string api_version, std::string kind)>;
std::shared_ptr<AdmissionPlugin> make_owner_permissions(std::function<Authorizer&()> authorizer, OwnerResourceFinder finder);

}  // namespace backplane::admission::objects
