// Writes the status of the CustomResourceDefinition whose objects are migrated.
//
// Thread-safety: any executor.
// Errors:        those of the calls. Nothing is written for a resource that has no definition.
// Source:        k8s.io/kubernetes/pkg/controller/storageversionmigrator/migrationrunner.go.
#pragma once

#include <string>

#include "backplane/net/client.hpp"

namespace backplane::controllers {

// Sets the condition StorageMigrating to True.
Task<Status> mark_definition(ApiClient api, GroupResource resource, std::string migration);
// Sets the condition to False. If the migration has succeeded and the definition's generation has not changed since mark_definition(), sets
// storedVersions to the storage version.
Task<Status> release_definition(ApiClient api, GroupResource resource, bool succeeded);

}  // namespace backplane::controllers
