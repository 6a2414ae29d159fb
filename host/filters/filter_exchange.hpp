// An Exchange in front of another, as filters put it there: what only the host knows of a connection passes as well.
//
// Thread-safety, errors: as Exchange.
// Lifetime:      borrows the exchange behind it.
#pragma once

#include "backplane/forwarding_exchange.hpp"
#include "base/front_proxy.hpp"

namespace backplane {

class FilterExchange : public ForwardingExchange, public FrontProxyPeer {
 public:
  using ForwardingExchange::ForwardingExchange;
  const PeerCertificate* front_proxy_certificate() const noexcept override { return backplane::front_proxy_certificate(behind()); }
};

}  // namespace backplane
