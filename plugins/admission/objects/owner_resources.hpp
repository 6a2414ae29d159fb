// The resources of a kind, from discovery, as upstream's RESTMapper returns them.
//
// Thread-safety: any thread.
// Lifetime:      the host outlives the task.
// Errors:        `no matches for kind "K" in version "G/V"`; `unexpected GroupVersion string: …`; those of the server.
// Source:        k8s.io/client-go/restmapper.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/host.hpp"

namespace backplane::admission::objects {

struct OwnerResource {
  GroupVersionResource resource;
  bool namespaced = false;
};

Task<Result<std::vector<OwnerResource>>> find_owner_resources(Host& host, std::string api_version, std::string kind);

// The resources of `kind` in an APIResourceList, without subresources.
std::vector<OwnerResource> owner_resources_in(const Object& list, const GroupVersion& version, std::string_view kind);

}  // namespace backplane::admission::objects
