// Pauses that end when the server stops.
#include "backplane/points/hooks.hpp"

#include <mutex>
#include <optional>

namespace backplane BACKPLANE_API {

struct Sleeper::State {
  std::mutex mutex;
  std::optional<Promise<bool>> pause;  // of the sleep() that is in progress
  bool stopped = false;
};

Sleeper::Sleeper(Signal& stop) : state_(std::make_shared<State>()) {
  stop.on_fire([state = state_] {
    std::optional<Promise<bool>> pause;
    {
      std::lock_guard lock(state->mutex);
      state->stopped = true;
      pause.swap(state->pause);
    }
    if (pause) pause->set(false);
  });
}

Task<bool> Sleeper::sleep(std::chrono::nanoseconds time) {
  Promise<bool> pause;
  bool stopped = false;
  {
    std::lock_guard lock(state_->mutex);
    stopped = state_->stopped;
    if (!stopped) state_->pause = pause;
  }
  if (stopped) co_return false;
  auto cancel = current_executor()->after(time, [pause] { pause.set(true); });
  const bool slept = co_await pause.future();
  cancel();
  std::lock_guard lock(state_->mutex);
  state_->pause.reset();
  co_return slept;
}

Signal::~Signal() = default;
HealthCheck::~HealthCheck() = default;

}  // namespace BACKPLANE_API
