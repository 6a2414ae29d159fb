// Functions that set the content of the Endpoints of the service `kubernetes` and of their EndpointSlice. There are two rules (upstream's
// lease reconciler and master-count reconciler): the endpoints are the addresses of all servers that have a lease, or each server adds its
// address to a list whose length is limited.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::core {

// Each function changes its first argument, which may be a new object, and returns false if nothing had to be changed.

// Sets the endpoints to exactly these addresses and `port`; removes all subsets if there are no addresses.
bool set_kubernetes_endpoints(Object& endpoints, const std::vector<std::string>& addresses, int port);
// Adds `address`, and removes other addresses until at most `servers` are left: first those that follow `address` in alphabetical order.
// The ports are not changed. If there is not exactly one subset, makes one with this address and `port`.
bool add_kubernetes_address(Object& endpoints, const std::string& address, int port, int servers);
// Removes `address`; the others are unchanged.
bool remove_kubernetes_address(Object& endpoints, const std::string& address);

// Returns the addressType of the slice, which holds addresses of one type only.
std::string_view kubernetes_slice_type(const Object& endpoints);
// Sets the slice's endpoints to those addresses of `endpoints` that have the slice's type. Returns false if nothing had to be changed.
bool set_kubernetes_slice(Object& slice, const Object& endpoints);

}  // namespace backplane::core
