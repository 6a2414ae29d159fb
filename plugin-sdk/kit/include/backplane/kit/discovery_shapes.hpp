// Normalizes discovery documents of other servers: unknown members and members of the wrong type are dropped, so that an invalid document
// cannot break the merged ones.
//
// Thread-safety: pure functions.
// Errors:        none; invalid parts are omitted.
#pragma once

#include <optional>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// The groups of an APIGroupDiscoveryList, with their versions and resources.
Array aggregated_groups(const Object& list);
// The resources of one version in an APIGroupDiscoveryList; nullopt if the version is absent.
std::optional<Array> aggregated_resources(const Object& list, const GroupVersion& version);
// The resources of an APIResourceList, in the form of apidiscovery.k8s.io/v2.
Array legacy_resources(const Object& list);

}  // namespace BACKPLANE_API
}  // namespace backplane
