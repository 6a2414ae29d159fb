// A storage that gets, lists and watches a resource of the outer server, with the credentials of --kubeconfig. The informers and reads of
// plugins use it.
//
// Thread-safety: as Getter, Lister and Watcher.
// Lifetime:      shared; shares the client.
// Errors:        those of the outer server.
#pragma once

#include <memory>

#include "backplane/net/client.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane {

std::shared_ptr<RestStorage> make_outer_storage(std::shared_ptr<ApiClient> client, GroupVersionResource resource);

}  // namespace backplane
