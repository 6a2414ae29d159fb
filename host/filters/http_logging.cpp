// WithHTTPLogging: one line and one count per request, when it has ended.
#include <algorithm>
#include <cctype>
#include <new>

#include "filters/filters.hpp"
#include "filters/log.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

// As upstream's log has it: the method, but LIST and WATCH told from GET.
std::string shown_verb(const std::string& verb) {
  if (verb == "create") return "POST";
  if (verb == "update") return "PUT";
  if (verb == "deletecollection") return "DELETE";
  std::string upper = verb;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

double milliseconds(std::chrono::nanoseconds span) { return std::chrono::duration<double, std::milli>(span).count(); }

class HTTPLogging final : public Filter {
 public:
  explicit HTTPLogging(RequestMetrics* metrics) : metrics_(metrics) {}

  Step enter(FilterCall&) const override { return Step::kNextThenLeave; }

  void leave(FilterCall& call) const noexcept override {
    const RequestContext& context = call.context;
    const Exchange& exchange = *call.exchange;
    const auto took = std::chrono::steady_clock::now() - context.received;
    const int code = exchange.response_code();
    if (metrics_ != nullptr) count(context, exchange.method(), code, took);
    const auto level = level_of(context, code);
    if (!filters_log().should_log(level)) return;
    filters_log().log(level, "HTTP verb={:?} URI={:?} latency=\"{:.3f}ms\" userAgent={:?} audit-ID={:?} srcIP={:?} resp={}",
                      shown_verb(context.info.verb), exchange.target(), milliseconds(took), context.user_agent, context.audit_id,
                      exchange.remote_address(), code);
  }

 private:
  void count(const RequestContext& context, std::string_view method, int code, std::chrono::nanoseconds took) const noexcept {
    metrics_->count(context.info.verb, code, took);
    if (context.user->name != kApiServerUser) return;
    try {
      metrics_->access.self_request(context.info, method);
    } catch (const std::bad_alloc&) {
      // It is not counted.
    }
  }

  // Our failures show without being asked for; a probe that is red while the server starts or stops is not one.
  static spdlog::level::level_enum level_of(const RequestContext& context, int code) {
    const bool ours = (code == 500 || code == 504) && context.info.is_resource_request;
    return ours ? spdlog::level::warn : spdlog::level::debug;
  }

  RequestMetrics* metrics_;
};

}  // namespace

FilterPtr with_http_logging(const ChainConfig& config) { return std::make_unique<HTTPLogging>(config.metrics); }

}  // namespace backplane
