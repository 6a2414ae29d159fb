// The controller of storage version migrations.
//
// Thread-safety: the plugin's executor.
// Lifetime:      until the term ends.
// Errors:        none.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Writes every object of a resource anew in the version that is stored today, for each StorageVersionMigration.
// Source: k8s.io/kubernetes/pkg/controller/storageversionmigrator.
Status start_storage_version_migrator(const Context& context);

}  // namespace backplane::controllers
