// The handler chain: the filters in upstream's order around the router.
//
// Thread-safety: immutable after construction; handle() from any executor.
// Lifetime:      outlives the transport; borrows everything in ChainConfig.
// Errors:        every request gets a response; exceptions end in WithPanicRecovery.
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
  // Never null in a running server.
  const Authentication* authentication = nullptr;
  ResumableAuthorizer* authorization = nullptr;
  const Signal* mux_and_discovery_complete = nullptr;
  const Signal* not_accepting_new_request = nullptr;
  WaitGroup* short_requests = nullptr;
  PacedWaitGroup* watches = nullptr;
  InFlightLimits* in_flight = nullptr;
  RequestGate* gate = nullptr;  // replaces `in_flight`; null: no plugin has registered one
  RequestMetrics* metrics = nullptr;
  const AuditRegistrations* audit = nullptr;  // null: requests are not audited
  const tracing::Tracer* tracer = nullptr;    // null: no spans are exported

  bool shutdown_send_retry_after = false;
  // 0: watches are not waited for at shutdown.
  std::chrono::nanoseconds shutdown_watch_termination_grace_period{};
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
  double goaway_chance = 0;
  bool offers_cbor = false;  // RequestContext::offers_cbor
  // HTTP/2 connections of unauthenticated clients end after one request (UnauthenticatedHTTP2DOSMitigation).
  bool one_request_of_the_unknown = true;
  RequestHeaderConfig request_header;     // the headers it names are withheld from handlers
  bool constrained_impersonation = true;  // the gate ConstrainedImpersonation
  std::vector<std::string> strict_transport_security_directives;
  std::vector<std::string> cors_allowed_origins;
};

class HandlerChain final : public HttpHandler {
 public:
  HandlerChain(const ChainConfig& config, HttpHandler& inner);
  ~HandlerChain() override;

  Task<void> handle(RequestContext& context, Exchange& exchange) override;
  // The names of the enabled rows, outermost first.
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
  std::unique_ptr<const Authentication> authentication_;  // counts results; null: there are no metrics
  std::vector<Row> rows_;
  HttpHandler& inner_;
};

}  // namespace backplane
