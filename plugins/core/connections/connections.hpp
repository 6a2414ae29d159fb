// The storages through which clients connect to nodes, pods and services, by path.
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
// "pods/log" … "services/proxy".  Without those that --runtime-config disables.
Result<std::map<std::string, std::shared_ptr<RestStorage>>> make_connections(Host& host, const ConnectedStores& stores);

}  // namespace backplane::core
