// WithAuthorization: refuses the request with 403 unless an authorizer allows it.
#include <algorithm>

#include "base/origin_executor.hpp"
#include "filters/filters.hpp"

namespace backplane {
namespace {

class WithAuthorization final : public Filter {
 public:
  WithAuthorization(ResumableAuthorizer& authorization, RequestMetrics* metrics) : authorization_(authorization), metrics_(metrics) {}

  Step enter(FilterCall& call) const override {
    const auto began = Clock::now();
    auto known = authorization_.begin(RequestView(call.context), call.pending_authorization);
    return known ? finish(call, std::move(*known), began) : Step::kAwait;
  }

  Task<Step> enter_slowly(FilterCall& call) const override {
    const AuthorizationAttributes attributes = authorization_attributes(call.context);
    const OriginExecutor origin;
    const auto began = Clock::now();
    auto finishing = authorization_.finish(attributes, std::move(call.pending_authorization));
    AuthorizerResult result = co_await std::move(finishing);
    co_await origin;
    co_return finish(call, std::move(result), began);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static AccessMetrics::Authorization outcome(const AuthorizerResult& result) {
    if (result.decision == Decision::kAllow) return AccessMetrics::kAllowed;
    if (!result.error.ok()) return AccessMetrics::kError;
    return result.decision == Decision::kDeny ? AccessMetrics::kDenied : AccessMetrics::kNoOpinion;
  }

  static void annotate(RequestContext& context, std::string_view decision, std::string reason) {
    if (context.audit == nullptr) return;
    if (!decision.empty()) context.annotate("authorization.k8s.io/decision", std::string(decision));
    context.annotate("authorization.k8s.io/reason", std::move(reason));
  }

  Step finish(FilterCall& call, AuthorizerResult result, Clock::time_point began) const {
    const std::chrono::nanoseconds took = Clock::now() - began;
    call.context.latencies.authorization = std::max(call.context.latencies.authorization, took);
    if (metrics_ != nullptr) metrics_->access.authorized(outcome(result), took);
    // An authorizer may report an error although another rule allows the request, so the decision is checked before the error.
    if (result.decision == Decision::kAllow) {
      annotate(call.context, "allow", std::move(result.reason));
      return Step::kNext;
    }
    if (!result.error.ok()) {
      annotate(call.context, {}, "internal error");
      call.refusal = Refusal::plain(500, "Internal Server Error: " + quoted(call.exchange().target()) + ": " + result.error.message());
      return Step::kRefuse;
    }
    annotate(call.context, "forbid", result.reason);
    call.exchange().set_response_header("X-Content-Type-Options", "nosniff");
    call.refusal = Refusal{forbidden_request(authorization_attributes(call.context), result.reason), 0, {}, false};
    return Step::kRefuse;
  }

  ResumableAuthorizer& authorization_;
  RequestMetrics* const metrics_;
};

}  // namespace

FilterPtr with_authorization(const ChainConfig& config) {
  return std::make_unique<WithAuthorization>(*config.authorization, config.metrics);
}

}  // namespace backplane
