// The base class of exchanges that a filter wraps around another exchange. It also forwards FrontProxyPeer, which is an interface of the
// host.
//
// Thread-safety, errors: like Exchange.
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

// Makes `front` the current exchange of a request (RequestContext::exchange) while this object exists. The destructor restores the former
// exchange, however the request ends. No other code may set RequestContext::exchange.
class ExchangeScope {
 public:
  ExchangeScope(RequestContext& context, Exchange& front) noexcept : context_(context), former_(context.exchange) {
    context_.exchange = &front;
  }
  ~ExchangeScope() { context_.exchange = former_; }
  ExchangeScope(const ExchangeScope&) = delete;
  ExchangeScope& operator=(const ExchangeScope&) = delete;

 private:
  RequestContext& context_;
  Exchange* const former_;
};

}  // namespace backplane
