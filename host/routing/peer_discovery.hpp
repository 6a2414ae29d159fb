// Discovery of several servers in one list, as kube-apiserver merges it: everything that any of them has, in an order that keeps each
// server's own wherever they agree.
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

// All words of the lists, each once: one before another that it precedes in any of them, unordered ones alphabetically.
// A list that has all of them is taken as it is; where lists contradict each other, all go by the alphabet.
std::vector<std::string> merge_orders(const std::vector<std::vector<std::string>>& lists);

}  // namespace backplane
