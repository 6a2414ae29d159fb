// Normalizes discovery documents of other servers: removes unknown members and members of the wrong type, so that an invalid document
// cannot make the merged discovery document invalid.
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

// Returns the groups of an APIGroupDiscoveryList with their versions and resources.
Array aggregated_groups(const Object& list);
// Returns the resources of one version in an APIGroupDiscoveryList; nullopt if the list does not contain the version.
std::optional<Array> aggregated_resources(const Object& list, const GroupVersion& version);
// Returns the resources of an APIResourceList in the format of apidiscovery.k8s.io/v2.
Array legacy_resources(const Object& list);

}  // namespace BACKPLANE_API
}  // namespace backplane
