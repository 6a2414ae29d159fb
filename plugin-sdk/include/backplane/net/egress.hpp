// How connections into the cluster are made: what --egress-selector-config-file says (EgressSelectorConfiguration of apiserver.k8s.io).
//
// Offered are direct connections, and, for the cluster and the control plane, proxies that are asked by HTTP CONNECT over a Unix socket or
// over TCP with TLS or without.
// Thread-safety: immutable once read; any thread.
// Lifetime:      shared; dial functions keep what they need.
// Errors:        read(): kBadRequest with upstream's words for what is no configuration, and a line of its own for what is not offered.
//                Dialing: kServiceUnavailable, "proxy error from … while dialing …, code 403: 403 Forbidden".
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

enum class EgressType : unsigned char { kControlPlane, kEtcd, kCluster };

class EgressSelector {
 public:
  // Of a file; an empty path: everything is reached directly.
  static Result<std::shared_ptr<const EgressSelector>> read(const std::string& path);
  static Result<std::shared_ptr<const EgressSelector>> parse(std::string_view text);
  // Of --egress-selector-config-file, which is read at the first call.
  static Result<std::shared_ptr<const EgressSelector>> of(const Host& host);

  // Empty: directly.
  const DialFunction& dialer(EgressType type) const noexcept { return dialers_[static_cast<std::size_t>(type)]; }

 private:
  EgressSelector() = default;
  std::array<DialFunction, 3> dialers_;
};

}  // namespace BACKPLANE_API
