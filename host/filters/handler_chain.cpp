#include "filters/handler_chain.hpp"

#include "base/origin_executor.hpp"
#include "endpoints/metered_exchange.hpp"
#include "endpoints/resource_handler.hpp"
#include "filters/audited_exchange.hpp"
#include "filters/counted_authentication.hpp"
#include "filters/filter_exchange.hpp"
#include "filters/filters.hpp"
#include "security/users.hpp"
#include "tracing/request_trace.hpp"

namespace backplane {
namespace {

// The factory of upstream's filters whose work another part of the server does.
FilterPtr place(const ChainConfig&) { return nullptr; }

struct TableRow {
  std::string_view name;
  FilterPtr (*make)(const ChainConfig&);
};

// Upstream's order, the outermost filter first (apiserver/pkg/server.DefaultBuildHandlerChain).
constexpr TableRow kTable[] = {
    {"WithAuditInit", with_audit_init},
    {"WithPanicRecovery", with_panic_recovery},
    {"WithMuxAndDiscoveryComplete", with_mux_and_discovery_complete},
    {"WithRequestReceivedTimestamp", with_request_received_timestamp},
    {"WithRequestInfo", with_request_info},
    {"WithRoutine", place},          // the server runs every request in a coroutine
    {"WithLatencyTrackers", place},  // RequestContext::latencies has the times, and AuditedExchange adds them to the annotations
    {"WithHTTPLogging", with_http_logging},
    {"WithRetryAfter", with_retry_after},
    {"WithHSTS", with_hsts},
    {"WithCacheControl", with_cache_control},
    {"WithProbabilisticGoaway", with_probabilistic_goaway},
    {"WithWatchTerminationDuringShutdown", with_watch_termination_during_shutdown},
    {"WithWaitGroup", with_wait_group},
    {"WithRequestDeadline", with_request_deadline},
    {"WithTimeoutForNonLongRunningRequests", with_timeout_for_non_long_running_requests},
    {"WithWarningRecorder", place},  // RequestContext stores warnings, and the endpoint that writes the response sends them
    {"WithCORS", with_cors},
    {"WithAuthentication", with_authentication},
    {"WithTracing", with_tracing},
    {"WithAudit", with_audit},
    {"WithImpersonation", with_impersonation},
    {"WithPriorityAndFairness", with_priority_and_fairness},
    {"WithMaxInFlightLimit", with_max_in_flight_limit},  // null if a plugin has registered a request gate
    {"WithAuthorization", with_authorization},
};

// Calls leave() of the filters that returned kNextThenLeave, in reverse order, however the request ends.
class LeaveScope {
 public:
  explicit LeaveScope(FilterCall& call) : call_(call) {}
  LeaveScope(const LeaveScope&) = delete;
  LeaveScope& operator=(const LeaveScope&) = delete;
  ~LeaveScope() {
    while (count_ > 0) filters_[--count_]->leave(call_);
  }
  void add(const Filter* filter) { filters_[count_++] = filter; }

 private:
  FilterCall& call_;
  std::size_t count_ = 0;
  const Filter* filters_[std::size(kTable)];
};

// Sets the trace of a request while its chain runs.
class Traced {
 public:
  Traced(RequestContext& context, const Exchange& exchange) : context_(context), marks_(exchange) { context_.trace = &marks_; }
  ~Traced() { context_.trace = nullptr; }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

 private:
  RequestContext& context_;
  tracing::RequestMarks marks_;
};

}  // namespace

void Filter::leave(FilterCall&) const noexcept {}
Task<Step> Filter::enter_slowly(FilterCall&) const { co_return Step::kNext; }
Task<void> Filter::around(FilterCall& call, Rest rest) const { co_await rest.run(call); }

Task<void> Rest::run(FilterCall& call) const { return chain_.run(call, row_); }
Task<void> Rest::refuse(FilterCall& call) const { return HandlerChain::refuse(call); }

HandlerChain::HandlerChain(const ChainConfig& config, HttpHandler& inner) : offers_cbor_(config.offers_cbor), inner_(inner) {
  ChainConfig counted = config;
  if (config.metrics != nullptr && config.authentication != nullptr) {
    authentication_ = std::make_unique<CountedAuthentication>(*config.authentication, config.metrics->access);
    counted.authentication = authentication_.get();
  }
  for (const auto& row : kTable) {
    if (auto filter = row.make(counted)) rows_.push_back(Row{row.name, std::move(filter)});
  }
}

HandlerChain::~HandlerChain() = default;

std::vector<std::string> HandlerChain::names() const {
  std::vector<std::string> names;
  for (const auto& row : rows_) names.emplace_back(row.name);
  return names;
}

Task<void> HandlerChain::handle(RequestContext& context, Exchange& exchange) {
  context.offers_cbor = offers_cbor_;
  RequestNotes notes;
  FilterCall call{context, &notes};
  const ExchangeScope exchange_scope(context, exchange);
  const Traced traced(context, exchange);
  co_await run(call, 0);
}

Task<void> HandlerChain::run(FilterCall& call, std::size_t row) const {
  LeaveScope leave_scope(call);
  for (; row < rows_.size(); ++row) {
    const Filter& filter = *rows_[row].filter;
    Step step = filter.enter(call);
    if (step == Step::kAwait) step = co_await filter.enter_slowly(call);
    if (step == Step::kNextThenLeave) {
      leave_scope.add(&filter);
    } else if (step == Step::kAround) {
      co_await filter.around(call, Rest(*this, row + 1));
      co_return;
    } else if (step == Step::kRefuse) {
      co_await refuse(call);
      co_return;
    }
  }
  // The handler may end on any executor, but filters and exchanges must be used on the connection's executor.
  const OriginExecutor origin;
  MeteredExchange metered(call.exchange());
  const ExchangeScope exchange_scope(call.context, metered);
  std::exception_ptr error;
  try {
    co_await inner_.handle(call.context, metered);
  } catch (...) {
    error = std::current_exception();
  }
  co_await origin;
  if (RequestSeries* series = metered.series()) count(call, metered, *series);
  if (error) std::rethrow_exception(error);
}

void HandlerChain::count(const FilterCall& call, const MeteredExchange& metered, RequestSeries& series) {
  const auto took = std::chrono::steady_clock::now() - call.context.received;
  series.count({metered.response_code(), took, call.notes != nullptr ? call.notes->waited : std::chrono::nanoseconds(), metered.bytes()});
  if (call.context.user->name == kApiServerUser) series.count_own();
}

Task<void> HandlerChain::refuse(FilterCall& call) {
  const AuditRegistrations* const audit = std::exchange(call.refusal.audit, nullptr);
  if (audit == nullptr || audit->empty() || try_audit(*audit, call) != AuditBegin::kAudited) {
    co_await answer_refusal(call);
    co_return;
  }
  AuditedExchange exchange(call.exchange(), call.context, static_cast<AuditedRequest&>(*call.context.audit), true);
  const ExchangeScope exchange_scope(call.context, exchange);
  co_await answer_refusal(call);
}

Task<void> HandlerChain::answer_refusal(FilterCall& call) {
  Exchange& exchange = call.exchange();
  if (call.refusal.close_connection) exchange.close_connection_after();
  if (call.refusal.plain_code == 0) {
    co_await write_status(call.context, exchange, call.refusal.status);
    co_return;
  }
  std::vector<SharedBytes> body;
  if (!call.refusal.text.empty()) {
    exchange.set_response_header("X-Content-Type-Options", "nosniff");
    body.emplace_back(call.refusal.text + "\n");
  }
  const std::string_view type = body.empty() ? "" : "text/plain; charset=utf-8";
  co_await exchange.respond(call.refusal.plain_code, type, std::move(body));
}

}  // namespace backplane
