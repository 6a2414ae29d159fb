// Merges the discovery documents of several servers into one list, as kube-apiserver does. The list has the groups of all servers. Their
// order is the order of each server, unless the orders contradict each other.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/peers.hpp"

namespace backplane {

// `own`: this server's APIGroupDiscoveryList, as JSON. The result is an APIGroupDiscoveryList, too.
std::string with_peers(std::string_view own, const PeerDiscovery& peers);

// Returns the items of all lists, each once. If a list has all items, it is the result. Otherwise, an item that precedes another in any
// list also does in the result, and items without a defined order are sorted alphabetically. If the lists contradict each other, all items
// are sorted alphabetically.
std::vector<std::string> merge_orders(const std::vector<std::vector<std::string>>& lists);

}  // namespace backplane
