// The hooks around writes of services: each gets its cluster addresses and node ports in the transaction that stores it, and gives them
// back in the one that removes it or changes it into what has none.
//
// Thread-safety: any executor.
// Lifetime:      shared by the services' storage; keeps the storages of addresses and ports.
// Errors:        422 for addresses and ports that cannot be had, 500 when a range is full, with upstream's messages.
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
