// The address of the server for the clients of a network.
//
// Thread-safety: a value.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

struct ServerAddress {
  std::string client_cidr;
  std::string address;  // "host:port"
};
// Returns the addresses for a client with this IP address, the most general address first. `client` is empty if the address is unknown.
using ServerAddresses = std::function<std::vector<ServerAddress>(std::string_view client)>;

}  // namespace backplane
