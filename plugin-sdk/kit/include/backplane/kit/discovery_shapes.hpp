// Discovery as a remote server tells it, brought into the shape in which this server tells its own: members of other kinds and names are
// dropped, so that whatever a server says cannot break the documents of all.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// The groups of an APIGroupDiscoveryList, each with its versions and their resources.
Array aggregated_groups(const Object& list);
// The resources of a version in an APIGroupDiscoveryList; nothing when it is not in there.
std::optional<Array> aggregated_resources(const Object& list, const GroupVersion& version);
// Those of an APIResourceList.
Array legacy_resources(const Object& list);

}  // namespace BACKPLANE_API
}  // namespace backplane
