// componentstatuses: the health of the controller manager and the scheduler on this machine, and of the store. Each request calls their
// health endpoints and waits for the responses.
//
// Thread-safety: any thread.
// Errors:        kNotFound for other names.
#pragma once

#include <memory>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::core {

// The clients of the health checks; `own` calls this server.
struct ComponentClients {
  std::shared_ptr<HttpClient> own, controller_manager, scheduler;
};

// Clients for the components' default addresses, which accept any certificate.
Result<ComponentClients> make_component_clients(Host& host);
std::shared_ptr<RestStorage> make_component_statuses(ComponentClients clients, const Schema* schema);

}  // namespace backplane::core
