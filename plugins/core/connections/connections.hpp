// Makes the storages of the subresources that connect clients to nodes, pods and services.
//
// Thread-safety: called once, in provision().
// Errors:        kBadRequest for kubelet credentials and egress configurations that cannot be used.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backplane/host.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"

namespace backplane::core {

struct ConnectedStores {
  std::shared_ptr<StandardStorage> nodes, pods, services, endpoints;
};
// The keys are the paths "pods/log" … "services/proxy". Subresources of resources that --runtime-config disables are missing.
Result<std::map<std::string, std::shared_ptr<RestStorage>>> make_connections(Host& host, const ConnectedStores& stores);

}  // namespace backplane::core
