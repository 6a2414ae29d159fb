// Connections into the cluster, as --egress-selector-config-file configures them (EgressSelectorConfiguration of apiserver.k8s.io).
//
// Supports direct connections, HTTP CONNECT proxies over a Unix socket or over TCP (with or without TLS), and konnectivity's gRPC over a
// Unix socket.
//
// Thread-safety: immutable; any thread.
// Lifetime:      shared; dial functions own what they need.
// Errors:        read(), parse(): kBadRequest with upstream's text for an invalid configuration. A dial function: kServiceUnavailable,
//                "proxy error from … while dialing …, code 403: 403 Forbidden".
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/net/client.hpp"

namespace backplane BACKPLANE_API {

class Host;

// The `name` of an egress selection: controlplane, etcd, cluster.
enum class EgressType : unsigned char { kControlPlane, kEtcd, kCluster };

// The dial functions of one configuration.
//
//   auto egress = EgressSelector::of(host);
//   if (egress.ok()) config.dial = (*egress)->dialer(EgressType::kCluster);
class EgressSelector {
 public:
  // Reads a file. An empty path: direct connections only.
  static Result<std::shared_ptr<const EgressSelector>> read(const std::string& path);
  // Reads the text of such a file, YAML or JSON.
  static Result<std::shared_ptr<const EgressSelector>> parse(std::string_view text);
  // Returns the configuration of --egress-selector-config-file. The first call reads the file.
  static Result<std::shared_ptr<const EgressSelector>> of(const Host& host);

  // Returns the dial function for ClientConfig::dial. Empty: connect directly.
  const DialFunction& dialer(EgressType type) const noexcept { return dialers_[static_cast<std::size_t>(type)]; }

 private:
  EgressSelector() = default;
  std::array<DialFunction, 3> dialers_;
};

}  // namespace BACKPLANE_API
