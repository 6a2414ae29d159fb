// Discovery of several servers in one list, as kube-apiserver merges it: the union of their groups, in an order that preserves the order of
// each server if they do not contradict each other.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/peers.hpp"

namespace backplane {

// `own`: this server's APIGroupDiscoveryList, as JSON; the result is one, too.
std::string with_peers(std::string_view own, const PeerDiscovery& peers);

// All items of the lists, each once. If one item precedes another in any list, it precedes it in the result; items without an order are
// sorted alphabetically. A list that has all items is the result; if lists contradict each other, all items are sorted alphabetically.
std::vector<std::string> merge_orders(const std::vector<std::vector<std::string>>& lists);

}  // namespace backplane
