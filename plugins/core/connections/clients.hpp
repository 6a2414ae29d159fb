// A cache of clients for the targets of connections: kubelets, pods and endpoints, by address. of() makes a client at the first call with
// an address. If the cache holds kMost clients, the least recently used client is dropped.
//
// Thread-safety: any thread.
// Lifetime:      the host outlives it; a client in use may outlive its cache entry.
// Errors:        kBadRequest for an address or credentials that cannot be used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"

namespace backplane::core {

class Clients {
 public:
  static constexpr std::size_t kMost = 512;

  // `like`: the configuration of all clients, without the server.
  Clients(Host& host, ClientConfig like) : host_(host), like_(std::move(like)) {}

  // `server`: "https://host:port" or "http://host:port".
  Result<std::shared_ptr<HttpClient>> of(const std::string& server);
  const ClientConfig& config() const noexcept { return like_; }

 private:
  struct Known {
    std::shared_ptr<HttpClient> client;
    std::uint64_t used = 0;
  };

  Host& host_;
  const ClientConfig like_;
  std::mutex mutex_;  // guards the members below
  std::map<std::string, Known> known_;
  std::uint64_t uses_ = 0;
};

}  // namespace backplane::core
