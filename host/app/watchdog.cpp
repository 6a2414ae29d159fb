#include "app/watchdog.hpp"

namespace backplane {

struct Watchdog::State : std::enable_shared_from_this<State> {
  std::vector<Executor*> executors;
  std::chrono::microseconds period{};
  std::function<void()> ping;
  std::atomic<bool> stopped{false};

  void visit(std::size_t index) {
    if (stopped.load()) return;
    if (index < executors.size()) {
      executors[index]->post([self = shared_from_this(), index] { self->visit(index + 1); });
      return;
    }
    ping();
    executors.back()->after(period, [self = shared_from_this()] { self->visit(0); });
  }
};

Watchdog::Watchdog(std::vector<Executor*> executors, std::chrono::microseconds period, std::function<void()> ping)
    : state_(std::make_shared<State>()) {
  state_->executors = std::move(executors);
  state_->period = period;
  state_->ping = std::move(ping);
}

void Watchdog::start() {
  if (!state_->executors.empty()) state_->visit(0);
}

void Watchdog::stop() { state_->stopped.store(true); }

}  // namespace backplane
