// WithImpersonation: serves a request with Impersonate-* headers as another user, if the client may act as that user.
#include <algorithm>

#include "backplane/points/audit.hpp"
#include "base/origin_executor.hpp"
#include "filters/filter_exchange.hpp"
#include "filters/filters.hpp"
#include "filters/impersonation_headers.hpp"
#include "filters/impersonation_modes.hpp"

namespace backplane {
namespace {

// Hides the impersonation headers from the inner filters and the handler, which must not depend on how the user was determined.
class WithoutImpersonation final : public FilterExchange {
 public:
  explicit WithoutImpersonation(Exchange& inner) : FilterExchange(inner) {
    for (const Header& header : inner.headers()) {
      if (!is_impersonation_header(header.first)) headers_.push_back(header);
    }
  }
  std::string_view header(std::string_view name) const noexcept override {
    return is_impersonation_header(name) ? std::string_view() : inner().header(name);
  }
  const Headers& headers() const noexcept override { return headers_; }

 private:
  Headers headers_;
};

class Impersonation final : public Filter {
 public:
  explicit Impersonation(const ChainConfig& config)
      : constrained_(config.constrained_impersonation),
        metrics_(config.metrics != nullptr ? &config.metrics->impersonation : nullptr),
        modes_(*config.authorization, constrained_, metrics_) {}

  Step enter(FilterCall& call) const override {
    for (const auto& [name, value] : call.exchange().headers()) {
      if (is_impersonation_header(name)) return Step::kAround;
    }
    return Step::kNext;
  }

  Task<void> around(FilterCall& call, Rest rest) const override {
    Result<std::optional<UserInfo>> wanted = wanted_user(call.exchange(), constrained_);
    if (wanted.ok() && !*wanted) {
      co_await rest.run(call);
      co_return;
    }
    Status status = wanted.ok() ? Status() : std::move(wanted).status();
    if (status.ok()) status = co_await impersonate(call, **wanted);
    if (!status.ok()) {
      call.exchange().set_response_header("X-Content-Type-Options", "nosniff");
      call.refusal = Refusal{std::move(status), 0, {}, false};
      co_await rest.refuse(call);
      co_return;
    }
    WithoutImpersonation stripped(call.exchange());
    const ExchangeScope exchange_scope(call.context, stripped);
    co_await rest.run(call);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Replaces the user of the request by the wanted user.
  Task<Status> impersonate(FilterCall& call, const UserInfo& wanted) const {
    const AuthorizationAttributes request = authorization_attributes(call.context);
    const OriginExecutor origin;
    const auto began = Clock::now();
    Result<ImpersonatedUser> user = co_await modes_.impersonate(wanted, request);
    co_await origin;
    const auto took = Clock::now() - began;
    if (metrics_ != nullptr && constrained_) metrics_->attempt(mode_of(user), user.ok(), took);
    call.context.latencies.impersonation += took;
    if (!user.ok()) co_return std::move(user).status();
    call.context.user = std::move(user->user);
    if (call.context.audit) call.context.audit->impersonation_constraint = std::move(user->constraint);
    co_return Status();
  }
  static std::size_t mode_of(const Result<ImpersonatedUser>& user) {
    constexpr auto& kModes = ImpersonationMetrics::kModes;
    if (!user.ok()) return ImpersonationMetrics::kNoMode;
    const std::string_view constraint = user->constraint;
    const std::string_view name = constraint.empty() ? "legacy" : constraint.substr(constraint.find(':') + 1);
    return static_cast<std::size_t>(std::find(kModes.begin(), kModes.end(), name) - kModes.begin());
  }

  const bool constrained_;
  ImpersonationMetrics* const metrics_;
  const ImpersonationModes modes_;
};

}  // namespace

FilterPtr with_impersonation(const ChainConfig& config) { return std::make_unique<Impersonation>(config); }

}  // namespace backplane
