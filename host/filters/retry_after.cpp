// WithRetryAfter (--shutdown-send-retry-after): refuses requests that arrive during the drain with 429 and Retry-After. Requests in
// progress continue.
#include <algorithm>
#include <array>

#include "filters/filters.hpp"

namespace backplane {
namespace {

constexpr std::array<std::string_view, 4> kExemptPrefixes{"/readyz", "/livez", "/healthz", "/metrics"};

class RetryAfter final : public Filter {
 public:
  explicit RetryAfter(const Signal& not_accepting) : not_accepting_(not_accepting) {}

  Step enter(FilterCall& call) const override {
    if (!not_accepting_.fired() || exempt_from_retry_after(call)) return Step::kNext;
    call.exchange().set_response_header("Retry-After", "5");
    call.refusal = Refusal::plain(429, "The apiserver is shutting down, please try again later.");
    call.refusal.close_connection = true;
    return Step::kRefuse;
  }

 private:
  const Signal& not_accepting_;
};

}  // namespace

bool exempt_from_retry_after(const FilterCall& call) noexcept {
  if (call.context.user_agent.starts_with("kube-apiserver/")) return true;
  const std::string_view path = call.context.info.path;
  return std::any_of(kExemptPrefixes.begin(), kExemptPrefixes.end(), [&](std::string_view prefix) { return path.starts_with(prefix); });
}

FilterPtr with_retry_after(const ChainConfig& config) {
  if (!config.shutdown_send_retry_after || config.not_accepting_new_request == nullptr) return nullptr;
  return std::make_unique<RetryAfter>(*config.not_accepting_new_request);
}

}  // namespace backplane
