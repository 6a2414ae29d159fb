#include "app/load_progress.hpp"

#include <memory>

#include "app/log.hpp"

namespace backplane {
namespace {

struct LoadReporter : std::enable_shared_from_this<LoadReporter> {
  LoadReporter(Executor& on, std::function<LoadState()> state, std::function<void(const std::string&)> more, std::chrono::milliseconds time)
      : executor(on), look(std::move(state)), also(std::move(more)), period(time) {}

  void wait() {
    executor.after(period, [self = shared_from_this()] { self->report(); });
  }
  void report() {
    const LoadState state = look();
    if (state.waiting.empty()) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun);
    app_log().info("loading objects from the store loaded={} bytes={} types-left={} next={} elapsed={}s", state.objects, state.bytes,
                   state.waiting.size(), state.waiting.front(), seconds.count());
    if (also) {
      also("loading objects: " + std::to_string(state.objects) + " loaded, " + std::to_string(state.waiting.size()) + " types left");
    }
    wait();
  }

  Executor& executor;
  const std::function<LoadState()> look;
  const std::function<void(const std::string&)> also;
  const std::chrono::milliseconds period;
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
};

}  // namespace

LoadState load_state(const TrackedCaches& caches) {
  LoadState state;
  state.waiting = caches.not_ready();
  for (const auto& [_, totals] : caches.totals()) {
    state.objects += totals.objects;
    state.bytes += totals.bytes;
  }
  return state;
}

void report_loading(Executor& executor, std::function<LoadState()> look, std::function<void(const std::string&)> also,
                    std::chrono::milliseconds period) {
  std::make_shared<LoadReporter>(executor, std::move(look), std::move(also), period)->wait();
}

}  // namespace backplane
