// WithWaitGroup: counts the short requests for which a shutdown waits. Requests that arrive during the wait get 503 and Retry-After.
#include "filters/filters.hpp"
#include "filters/shutting_down.hpp"

namespace backplane {
namespace {

class WithWaitGroup final : public Filter {
 public:
  WithWaitGroup(WaitGroup& group, const Signal* not_accepting) : group_(group), not_accepting_(not_accepting) {}

  Step enter(FilterCall& call) const override {
    // The connection is closed after this request, so that the client connects to another server.
    if (not_accepting_ != nullptr && not_accepting_->fired()) call.exchange().close_connection_after();
    if (call.context.long_running) return Step::kNext;
    if (group_.try_add()) return Step::kNextThenLeave;
    return exempt_from_retry_after(call) ? Step::kNext : refuse_shutting_down(call);
  }
  void leave(FilterCall&) const noexcept override { group_.done(); }

 private:
  WaitGroup& group_;
  const Signal* not_accepting_;
};

}  // namespace

FilterPtr with_wait_group(const ChainConfig& config) {
  if (config.short_requests == nullptr) return nullptr;
  return std::make_unique<WithWaitGroup>(*config.short_requests, config.not_accepting_new_request);
}

}  // namespace backplane
