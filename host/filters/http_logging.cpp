// WithHTTPLogging: writes one log line when a request has ended.
#include "endpoints/request_series.hpp"
#include "filters/filters.hpp"
#include "filters/log.hpp"

namespace backplane {
namespace {

double milliseconds(std::chrono::nanoseconds span) { return std::chrono::duration<double, std::milli>(span).count(); }

class HTTPLogging final : public Filter {
 public:
  Step enter(FilterCall&) const override { return Step::kNextThenLeave; }

  void leave(FilterCall& call) const noexcept override {
    const RequestContext& context = call.context;
    const Exchange& exchange = call.exchange();
    const int code = exchange.response_code();
    const auto level = level_of(context, code);
    if (!filters_log().should_log(level)) return;
    const auto took = std::chrono::steady_clock::now() - context.received;
    const std::string_view fields = call.notes != nullptr ? std::string_view(call.notes->log_fields) : std::string_view();
    // Code 101: the connection has switched to another protocol.
    const std::string ending = code == 101 ? "hijacked=true" : "resp=" + std::to_string(code);
    filters_log().log(level, "HTTP verb={:?} URI={:?} latency=\"{:.3f}ms\" userAgent={:?} audit-ID={:?} srcIP={:?}{} {}",
                      request_verb(context.info, exchange), exchange.target(), milliseconds(took), context.user_agent,
                      std::string_view(context.audit_id).substr(0, kShownAuditId), exchange.remote_address(), fields, ending);
  }

 private:
  // Upstream's GetAuditIDTruncated uses this length.
  static constexpr std::size_t kShownAuditId = 64;

  // Server errors of resource requests are warnings, so they are logged at every -v. Failed health checks are not, because they are usual
  // during startup and shutdown.
  static LogLevel level_of(const RequestContext& context, int code) {
    const bool ours = (code == 500 || code == 504) && context.info.is_resource_request;
    return ours ? LogLevel::kWarn : LogLevel::kDebug;
  }
};

}  // namespace

FilterPtr with_http_logging(const ChainConfig&) { return std::make_unique<HTTPLogging>(); }

}  // namespace backplane
