// Makes the HTTP clients for the servers of an etcd cluster. The clients are the host's, which pools and renews the connections.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest for files that cannot be used.
#pragma once

#include <string>
#include <vector>

#include "backplane/net/client.hpp"
#include "backplane/points/storage.hpp"
#include "settings.hpp"

namespace backplane::etcd {

struct Server {
  std::string shown;  // the URL in the flag
  std::shared_ptr<HttpClient> client;
};

ClientConfig client_config(const Settings& settings, const Endpoint& endpoint);
Result<std::vector<Server>> make_servers(const Settings& settings, const StoreConnections& connections);

}  // namespace backplane::etcd
