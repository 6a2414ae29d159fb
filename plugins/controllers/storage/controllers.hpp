// The controller of storage version migrations.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        none.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Rewrites every object of a resource in the current storage version, for each StorageVersionMigration.
// Source: k8s.io/kubernetes/pkg/controller/storageversionmigrator.
Status start_storage_version_migrator(const Context& context);

}  // namespace backplane::controllers
