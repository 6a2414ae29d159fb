// Where a server of etcd listens.
//
// Thread-safety: values; look_up() works on a thread of its own.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "channel.hpp"

namespace backplane::etcd {

struct Channel::Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  static Address of_path(const std::string& path);
  // Nothing where `host` is a name.
  static std::optional<Address> of_number(const std::string& host, const std::string& port);
  // `done` has what was found, or why nothing was; it is called on another thread, once.  Not empty: why there is no such thread.
  static std::string look_up(std::string host, std::string port, std::function<void(std::vector<Address>, const std::string& error)> done);
  // A socket that connects; -1, and errno says why not.
  int connect() const;
};

}  // namespace backplane::etcd
