// The handler chain: the filters in upstream's order around the router.
//
// Thread-safety: immutable after construction. handle() may be called on any executor.
// Lifetime:      outlives the transport, and borrows the objects to which ChainConfig points.
// Errors:        every request gets a response. WithPanicRecovery catches exceptions.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/hooks.hpp"
#include "backplane/points/http.hpp"
#include "filters/filter.hpp"
#include "filters/in_flight.hpp"
#include "filters/request_metrics.hpp"
#include "filters/wait_group.hpp"
#include "security/authentication.hpp"
#include "security/authorization.hpp"
#include "security/request_header.hpp"

namespace backplane {

class AuditRegistrations;
class MeteredExchange;
class RequestSeries;
namespace tracing {
class Tracer;
}

struct ChainConfig {
  // In a running server, a pointer is null only if its comment says what null means.
  const Authentication* authentication = nullptr;
  ResumableAuthorizer* authorization = nullptr;
  const Signal* mux_and_discovery_complete = nullptr;
  const Signal* not_accepting_new_request = nullptr;
  WaitGroup* short_requests = nullptr;
  PacedWaitGroup* watches = nullptr;
  InFlightLimits* in_flight = nullptr;
  RequestGate* gate = nullptr;  // used instead of `in_flight`; null: no plugin has registered a request gate
  RequestMetrics* metrics = nullptr;
  const AuditRegistrations* audit = nullptr;  // null: requests are not audited
  const tracing::Tracer* tracer = nullptr;    // null: no spans are exported

  bool shutdown_send_retry_after = false;
  // 0: the shutdown does not wait for watches.
  std::chrono::nanoseconds shutdown_watch_termination_grace_period{};
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
  double goaway_chance = 0;
  bool offers_cbor = false;  // the value of RequestContext::offers_cbor
  // If true, an HTTP/2 connection ends after one unauthenticated request (UnauthenticatedHTTP2DOSMitigation).
  bool close_after_unauthenticated = true;
  RequestHeaderConfig request_header;     // the headers that it names are hidden from handlers
  bool constrained_impersonation = true;  // the gate ConstrainedImpersonation
  std::vector<std::string> strict_transport_security_directives;
  std::vector<std::string> cors_allowed_origins;
};

class HandlerChain final : public HttpHandler {
 public:
  HandlerChain(const ChainConfig& config, HttpHandler& inner);
  ~HandlerChain() override;

  Task<void> handle(RequestContext& context, Exchange& exchange) override;
  // Returns the names of the enabled filters, the outermost first.
  std::vector<std::string> names() const;

 private:
  friend class Rest;
  struct Row {
    std::string_view name;
    std::unique_ptr<Filter> filter;
  };
  Task<void> run(FilterCall& call, std::size_t row) const;
  static Task<void> refuse(FilterCall& call);
  static Task<void> answer_refusal(FilterCall& call);
  static void count(const FilterCall& call, const MeteredExchange& metered, RequestSeries& series);

  const bool offers_cbor_;
  std::unique_ptr<const Authentication> authentication_;  // counts the results of ChainConfig::authentication; null: there are no metrics
  std::vector<Row> rows_;
  HttpHandler& inner_;
};

}  // namespace backplane
