// An Authentication that counts the results and durations of another one.
//
// Thread-safety: as the wrapped authentication.
// Lifetime:      borrows the wrapped authentication and the counts.
// Errors:        those of the wrapped authentication.
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
    // A request without a credential is not a failed attempt.
    const bool credential = exchange.peer_certificate_rejected() || !exchange.header("authorization").empty();
    access_.authenticated(credential ? AccessMetrics::kFailed : AccessMetrics::kFailure, took, {});
  }

  const Authentication& inner_;
  AccessMetrics& access_;
};

}  // namespace backplane
