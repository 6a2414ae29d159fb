// WithMaxInFlightLimit (--max-requests-inflight, --max-mutating-requests-inflight): refuses short requests beyond the limit with 429.
// Members of system:masters are exempt, so that an administrator can inspect an overloaded server.
#include "endpoints/request_series.hpp"
#include "filters/filters.hpp"

namespace backplane {
namespace {

class MaxInFlight final : public Filter {
 public:
  explicit MaxInFlight(InFlightLimits& limits) : limits_(limits) {}

  Step enter(FilterCall& call) const override {
    if (call.context.long_running) return Step::kNext;
    if (limits_.try_enter(is_mutating(call.context.info.verb))) return Step::kNextThenLeave;
    if (is_privileged(call.context.user)) return Step::kNext;
    count_dropped(call.context.info, call.exchange());
    count_terminated(call.context.info, call.exchange(), 429);
    call.exchange().set_response_header("Retry-After", "1");
    call.refusal = Refusal::plain(429, "Too many requests, please try again later.");
    return Step::kRefuse;
  }
  void leave(FilterCall& call) const noexcept override { limits_.leave(is_mutating(call.context.info.verb)); }

 private:
  InFlightLimits& limits_;
};

}  // namespace

FilterPtr with_max_in_flight_limit(const ChainConfig& config) {
  if (config.in_flight == nullptr || config.gate != nullptr) return nullptr;
  return std::make_unique<MaxInFlight>(*config.in_flight);
}

}  // namespace backplane
