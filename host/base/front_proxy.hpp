// An interface that exchanges over TLS implement: it returns the client certificate if the client is a front proxy, whose headers may
// contain the user.
//
// Thread-safety: as Exchange.
// Lifetime:      the certificate lives as long as the exchange.
#pragma once

#include "backplane/points/http.hpp"

namespace backplane {

class FrontProxyPeer {
 public:
  virtual ~FrontProxyPeer() = default;
  // Verifies the certificate of the peer with --requestheader-client-ca-file. Returns the certificate, or null if the peer is no front
  // proxy.
  virtual const PeerCertificate* front_proxy_certificate() const noexcept = 0;
};

// The front proxy certificate of any exchange; null if it has none.
inline const PeerCertificate* front_proxy_certificate(const Exchange& exchange) noexcept {
  // The interface is not in the SDK: plugins get the user that a front proxy has sent, but not the certificate of the front proxy.
  const auto* peer = dynamic_cast<const FrontProxyPeer*>(&exchange);
  return peer != nullptr ? peer->front_proxy_certificate() : nullptr;
}

}  // namespace backplane
