// Calls to a KMS plugin: unary gRPC over a Unix socket.
//
// Thread-safety: any thread that has an executor.
// Lifetime:      shared by the provider and its running calls.
// Errors:        Failure with the text and the code of the gRPC status. If the plugin does not listen, a call waits until its deadline:
//                DeadlineExceeded.
// Source:        grpc-go with WaitForReady, k8s.io/kms/pkg/util.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "outcome.hpp"

namespace backplane::encryption {

class KmsClient {
 public:
  // `provider`: a label of the metrics; empty: calls are not measured, as those of v1.
  KmsClient(std::shared_ptr<HttpClient> http, std::string socket, std::string provider, std::chrono::nanoseconds timeout)
      : http_(std::move(http)), socket_(std::move(socket)), provider_(std::move(provider)), timeout_(timeout) {}

  // Returns the bytes of the response to `request`. `method`: "/package.Service/Method".
  Task<Outcome<std::string>> call(std::string method, std::string request) const;
  const std::string& provider() const noexcept { return provider_; }

 private:
  Task<Outcome<std::string>> call_until(std::string method, std::string request, std::chrono::steady_clock::time_point deadline) const;

  const std::shared_ptr<HttpClient> http_;
  const std::string socket_;
  const std::string provider_;
  const std::chrono::nanoseconds timeout_;
};
using KmsClientRef = std::shared_ptr<const KmsClient>;

// Returns the path of an endpoint unix:///path, or "@name" for unix:///@name, a socket of Linux's abstract namespace.
std::string socket_path(std::string_view endpoint);
Outcome<KmsClientRef> make_kms_client(Host& host, std::string_view endpoint, std::string provider, std::chrono::nanoseconds timeout);

}  // namespace backplane::encryption
