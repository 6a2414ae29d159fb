// Under which address clients of a network find the server.
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
// What a client with this IP address is told, the most general first; the address is empty when it is not known.
using ServerAddresses = std::function<std::vector<ServerAddress>(std::string_view client)>;

}  // namespace backplane
