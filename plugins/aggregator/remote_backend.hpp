// The server of an APIService: its current address, and pooled connections to it with the client certificate of a front proxy
// (--proxy-client-cert-file).
//
// Thread-safety: any executor.
// Lifetime:      shared by the handler, the availability check and the reading of discovery; the host outlives it.
// Errors:        resolve(): the resolver's; client(): kBadRequest for a CA bundle or a client certificate that cannot be used.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <backplane/core/meta.hpp>
#include <backplane/host.hpp>
#include <backplane/net/client.hpp>
#include <backplane/net/service_resolver.hpp>

namespace backplane {

// The settings of the server in the APIService.
struct RemoteTarget {
  GroupVersion version;
  std::string ns, service;
  int port = 443;
  std::string ca_bundle;  // PEM; empty: the system's authorities
  bool insecure = false;
  bool operator==(const RemoteTarget&) const = default;

  // `service/NAME in "NAMESPACE"`, for messages.
  std::string words() const { return "service/" + service + " in " + backplane::quoted(ns); }
  std::string service_key() const;
};
RemoteTarget remote_target(const Object& apiservice);

class RemoteBackend {
 public:
  RemoteBackend(Host& host, std::shared_ptr<ServiceResolver> resolver, RemoteTarget target)
      : host_(host), resolver_(std::move(resolver)), target_(std::move(target)) {}

  const RemoteTarget& target() const noexcept { return target_; }
  // Returns "host:port".
  Task<Result<std::string>> resolve() const;
  Result<std::shared_ptr<HttpClient>> client(const std::string& address);
  // Like client(), for forwarded requests: this client counts the flaws of the server's certificate.
  Result<std::shared_ptr<HttpClient>> counted_client(const std::string& address);
  // Drops the connections after a failed call, so that the next call opens a new one.
  void forget(const std::string& address);

 private:
  struct Known {
    std::string address;
    std::shared_ptr<HttpClient> client, counted;
  };
  ClientConfig config(const std::string& address) const;
  Result<Known> known(const std::string& address);

  Host& host_;
  const std::shared_ptr<ServiceResolver> resolver_;
  const RemoteTarget target_;
  std::mutex mutex_;
  std::vector<Known> clients_;  // the newest last
};

}  // namespace backplane
