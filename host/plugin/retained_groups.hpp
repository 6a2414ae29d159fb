// The API groups of a plugin that does not run, served from their snapshot.
//
// Thread-safety: a function of its arguments.
// Lifetime:      the target owns its storages, whose environment outlives them.
// Errors:        a kind that cannot be served is logged and left out.
#pragma once

#include <functional>

#include "plugin/group_snapshot.hpp"
#include "plugin/retained_storage.hpp"
#include "registry/store.hpp"
#include "routing/delegation.hpp"

namespace backplane {

// Whether another target serves the group version.
using IsServed = std::function<bool(const GroupVersion& version)>;

// Returns a target with the name of the plugin. It serves the kinds of `snapshot` whose group version no other target serves; null if there
// is no such kind.
TargetRef make_retained_target(const PluginSnapshot& snapshot, PluginAbsence absence, StoreEnvironment& stores, const IsServed& is_served);

}  // namespace backplane
