// Resources of the outer server as storages, for the informers and reads of plugins: get, list and watch with the credentials of
// --kubeconfig.
//
// Thread-safety: as the roles.
// Lifetime:      shared; keeps the client.
// Errors:        those of the outer server.
#pragma once

#include <memory>

#include "backplane/net/client.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane {

std::shared_ptr<RestStorage> make_outer_storage(std::shared_ptr<ApiClient> client, GroupVersionResource resource);

}  // namespace backplane
