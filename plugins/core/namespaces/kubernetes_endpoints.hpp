// The content of the endpoints of service `kubernetes` and of their slice, by either rule: the addresses that servers have leases of, or
// those that so many servers add one alongside the other and nothing removes for them (upstream's lease and master-count reconcilers).
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::core {

// Changes of `endpoints`, new ones perhaps; each returns false when they are as they must be.

// They hold these addresses and `port` alone, or nothing where there are no addresses.
bool set_kubernetes_endpoints(Object& endpoints, const std::vector<std::string>& addresses, int port);
// They hold `address` and at most `servers` - 1 others: those that follow it in the order of their text go first.  The ports are left
// alone; where there is not one subset, one is made of this address and `port`.
bool add_kubernetes_address(Object& endpoints, const std::string& address, int port, int servers);
// They do not hold `address`; the others are unchanged.
bool remove_kubernetes_address(Object& endpoints, const std::string& address);

// The type of the slice of such endpoints: it holds addresses of one type.
std::string_view kubernetes_slice_type(const Object& endpoints);
// The same for the slice, which holds what the endpoints hold of addresses of its type.
bool set_kubernetes_slice(Object& slice, const Object& endpoints);

}  // namespace backplane::core
