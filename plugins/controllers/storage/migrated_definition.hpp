// The status of the CustomResourceDefinition whose objects are migrated.
//
// Thread-safety: any executor.
// Errors:        those of the calls; a resource without a definition has nothing to write.
// Source:        k8s.io/kubernetes/pkg/controller/storageversionmigrator/migrationrunner.go.
#pragma once

#include <string>

#include "backplane/net/client.hpp"

namespace backplane::controllers {

// Sets the condition StorageMigrating.
Task<Status> mark_definition(ApiClient api, GroupResource resource, std::string migration);
// Clears it. If the definition is the one that was marked and the migration has succeeded, storedVersions becomes the stored version.
Task<Status> release_definition(ApiClient api, GroupResource resource, bool succeeded);

}  // namespace backplane::controllers
