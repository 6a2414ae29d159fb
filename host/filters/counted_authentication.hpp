// An Authentication that wraps another Authentication and counts its results and durations.
//
// Thread-safety: like the wrapped Authentication.
// Lifetime:      borrows the wrapped Authentication and the counts.
// Errors:        those of the wrapped Authentication.
#pragma once

#include "backplane/points/http.hpp"
#include "filters/access_metrics.hpp"
#include "security/authentication.hpp"

namespace backplane {

class CountedAuthentication final : public Authentication {
 public:
  CountedAuthentication(const Authentication& inner, AccessMetrics& access) : inner_(inner), access_(access) {}

  std::optional<Result<UserRef>> authenticate_now(RequestContext& context, Exchange& exchange) const override {
    const auto began = Clock::now();
    auto known = inner_.authenticate_now(context, exchange);
    if (known) count(*known, context, exchange, began);
    return known;
  }
  Task<Result<UserRef>> authenticate(RequestContext& context, Exchange& exchange) const override {
    const auto began = Clock::now();
    auto user = co_await inner_.authenticate(context, exchange);
    count(user, context, exchange, began);
    co_return user;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void count(const Result<UserRef>& user, RequestContext& context, const Exchange& exchange, Clock::time_point began) const {
    const auto took = Clock::now() - began;
    context.latencies.authentication += took;
    if (user.ok()) return access_.authenticated(AccessMetrics::kSuccess, took, (*user)->name);
    // A request with an invalid credential counts as "error", a request without a credential as "failure".
    const bool credential = exchange.peer_certificate_rejected() || !exchange.header("authorization").empty();
    access_.authenticated(credential ? AccessMetrics::kFailed : AccessMetrics::kFailure, took, {});
  }

  const Authentication& inner_;
  AccessMetrics& access_;
};

}  // namespace backplane
