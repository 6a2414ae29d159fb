// The content of the endpoints of the service `kubernetes` and of their slice, by one of two rules: the addresses of all servers with a
// lease, or a fixed number of addresses, to which each server adds its own (upstream's lease and master-count reconcilers).
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::core {

// Changes of `endpoints`, which may be new; each function returns false if nothing had to be changed.

// Sets the endpoints to exactly these addresses and `port`; removes all subsets if there are no addresses.
bool set_kubernetes_endpoints(Object& endpoints, const std::vector<std::string>& addresses, int port);
// Adds `address`, and removes others until at most `servers` are left: first those that follow it in alphabetical order. The ports are not
// changed. If there is not exactly one subset, makes one with this address and `port`.
bool add_kubernetes_address(Object& endpoints, const std::string& address, int port, int servers);
// Removes `address`; the others are unchanged.
bool remove_kubernetes_address(Object& endpoints, const std::string& address);

// The type of the slice of such endpoints: it holds addresses of one type.
std::string_view kubernetes_slice_type(const Object& endpoints);
// The same for the slice, which gets the addresses of its type from the endpoints.
bool set_kubernetes_slice(Object& slice, const Object& endpoints);

}  // namespace backplane::core
