// An Exchange in front of another, as filters put it there: what only the host knows of a connection passes as well.
//
// Thread-safety, errors: as Exchange.
// Lifetime:      borrows the exchange behind it.
#pragma once

#include "backplane/net/forwarding_exchange.hpp"
#include "base/front_proxy.hpp"
#include "filters/filter.hpp"

namespace backplane {

class FilterExchange : public ForwardingExchange, public FrontProxyPeer {
 public:
  using ForwardingExchange::ForwardingExchange;
  const PeerCertificate* front_proxy_certificate() const noexcept override { return backplane::front_proxy_certificate(behind()); }
};

// What is behind a filter has `front` for its exchange as long as this lives.
class InFront {
 public:
  InFront(FilterCall& call, Exchange& front) : inner(call.with(front)), outer_(call.context.exchange) { inner.context.exchange = &front; }
  ~InFront() { inner.context.exchange = outer_; }
  InFront(const InFront&) = delete;
  InFront& operator=(const InFront&) = delete;
  FilterCall inner;  // to go on with

 private:
  Exchange* const outer_;
};

}  // namespace backplane
