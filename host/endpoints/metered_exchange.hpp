// The exchange that HandlerChain passes to the router. It counts the bytes of the response, and stores the RequestSeries that the handler
// selects. If the handler selects none, the request is not counted.
//
// Thread-safety: like Exchange.
// Lifetime:      borrows the wrapped exchange.
#pragma once

#include <cstdint>
#include <typeinfo>

#include "backplane/net/forwarding_exchange.hpp"
#include "base/front_proxy.hpp"
#include "endpoints/request_series.hpp"

namespace backplane {

class MeteredExchange final : public ForwardingExchange, public FrontProxyPeer {
 public:
  using ForwardingExchange::ForwardingExchange;

  void count_as(RequestSeries& series) noexcept { series_ = &series; }
  RequestSeries* series() const noexcept { return series_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

  Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) override {
    add(body);
    return inner().respond(code, content_type, std::move(body));
  }
  Task<Status> write(std::vector<SharedBytes> chunks) override {
    add(chunks);
    return inner().write(std::move(chunks));
  }
  const PeerCertificate* front_proxy_certificate() const noexcept override { return backplane::front_proxy_certificate(inner()); }

 private:
  void add(const std::vector<SharedBytes>& chunks) noexcept {
    for (const SharedBytes& chunk : chunks) bytes_ += chunk.size();
  }

  RequestSeries* series_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// Returns the MeteredExchange of a request; null if the call has not passed a handler chain.
inline MeteredExchange* meter_of(Exchange& exchange) noexcept {
  return typeid(exchange) == typeid(MeteredExchange) ? static_cast<MeteredExchange*>(&exchange) : nullptr;
}

// Selects the series of a request for a document that does not belong to API resources. The labels that are not parameters are empty.
inline void count_document(const RequestContext& context, Exchange& exchange, std::string_view subresource, std::string_view component,
                           std::string_view resource = {}) {
  MeteredExchange* const meter = meter_of(exchange);
  if (meter == nullptr) return;
  RequestInfo document;
  document.query = context.info.query;
  const std::string_view verb = request_verb(document, exchange);
  meter->count_as(RequestSeries::of({verb, request_dry_run(document.query), "", "", resource, subresource, "", component}, true));
}

}  // namespace backplane
