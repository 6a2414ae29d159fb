// The base of exchanges with which filters wrap another one; it also forwards the host's own calls on a connection.
//
// Thread-safety, errors: as Exchange.
// Lifetime:      borrows the wrapped exchange.
#pragma once

#include "backplane/net/forwarding_exchange.hpp"
#include "base/front_proxy.hpp"
#include "filters/filter.hpp"

namespace backplane {

class FilterExchange : public ForwardingExchange, public FrontProxyPeer {
 public:
  using ForwardingExchange::ForwardingExchange;
  const PeerCertificate* front_proxy_certificate() const noexcept override { return backplane::front_proxy_certificate(inner()); }
};

// Makes `front` the current exchange of a request while this object lives: RequestContext::exchange is the only record of it, so nothing
// else may set it.  The destructor restores the wrapped exchange, however the request ends.
class InFront {
 public:
  InFront(RequestContext& context, Exchange& front) noexcept : context_(context), former_(context.exchange) { context_.exchange = &front; }
  ~InFront() { context_.exchange = former_; }
  InFront(const InFront&) = delete;
  InFront& operator=(const InFront&) = delete;

 private:
  RequestContext& context_;
  Exchange* const former_;
};

}  // namespace backplane
