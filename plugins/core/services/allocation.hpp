// Store hooks for writes of services. A service gets its cluster addresses and node ports in the transaction that stores it. It releases
// them in the transaction that deletes the service or changes it to a type that has none.
//
// Thread-safety: any executor.
// Lifetime:      shared by the services' storage; shares the storages of addresses and ports.
// Errors:        422 for addresses and ports that cannot be allocated, 500 if a range is full, with upstream's messages.
#pragma once

#include <memory>

#include "backplane/rest/store_hooks.hpp"
#include "services/addresses.hpp"
#include "services/node_ports.hpp"

namespace backplane::core {

// The allocators of services.
struct ServiceResources {
  Addresses addresses;
  NodePorts ports;
};

// Addresses and ports that a service holds.
struct Holdings {
  std::vector<std::string> addresses;
  std::vector<std::int64_t> ports;
};
Holdings holdings_of(const Object& spec);

std::shared_ptr<const StoreHooks> service_hooks(std::shared_ptr<const ServiceResources> resources);

}  // namespace backplane::core
