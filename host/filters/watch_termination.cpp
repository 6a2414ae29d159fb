// WithWatchTerminationDuringShutdown (--shutdown-watch-termination-grace-period): makes the shutdown also wait for watches, which end one
// after another.
#include "filters/filter_exchange.hpp"
#include "filters/filters.hpp"
#include "filters/shutting_down.hpp"

namespace backplane {
namespace {

// Delays finish() until it is this watch's turn.
class PacedExchange final : public FilterExchange {
 public:
  PacedExchange(Exchange& inner, PacedWaitGroup& group) : FilterExchange(inner), group_(group) {}
  Task<void> finish() override {
    co_await group_.wait_turn();
    co_await inner().finish();
  }

 private:
  PacedWaitGroup& group_;
};

class WatchTermination final : public Filter {
 public:
  explicit WatchTermination(PacedWaitGroup& group) : group_(group) {}

  Step enter(FilterCall& call) const override {
    if (call.context.info.verb != "watch") return Step::kNext;
    if (group_.try_add()) return Step::kAround;
    return exempt_from_retry_after(call) ? Step::kNext : refuse_shutting_down(call);
  }

  Task<void> around(FilterCall& call, Rest rest) const override {
    struct Done {
      PacedWaitGroup& group;
      ~Done() { group.done(); }
    } done{group_};
    PacedExchange paced(call.exchange(), group_);
    const ExchangeScope exchange_scope(call.context, paced);
    co_await rest.run(call);
  }

 private:
  PacedWaitGroup& group_;
};

}  // namespace

FilterPtr with_watch_termination_during_shutdown(const ChainConfig& config) {
  if (config.watches == nullptr || config.shutdown_watch_termination_grace_period <= std::chrono::nanoseconds::zero()) return nullptr;
  return std::make_unique<WatchTermination>(*config.watches);
}

}  // namespace backplane
