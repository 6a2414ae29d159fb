// A role of exchanges over TLS: the certificate of a front proxy, whose headers may name the user.
//
// Thread-safety: as Exchange.
// Lifetime:      of the exchange.
#pragma once

#include "backplane/points/http.hpp"

namespace backplane {

class FrontProxyPeer {
 public:
  virtual ~FrontProxyPeer() = default;
  // The certificate of the peer when it is one of a front proxy (--requestheader-client-ca-file), verified now; else null.
  virtual const PeerCertificate* front_proxy_certificate() const noexcept = 0;
};

// The front proxy certificate of any exchange; null if it has none.
inline const PeerCertificate* front_proxy_certificate(const Exchange& exchange) noexcept {
  // A role of the host and not of the SDK: plugins see the user that a front proxy names, never the front proxy.
  const auto* peer = dynamic_cast<const FrontProxyPeer*>(&exchange);
  return peer != nullptr ? peer->front_proxy_certificate() : nullptr;
}

}  // namespace backplane
