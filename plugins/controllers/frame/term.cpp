#include "frame/term.hpp"

#include <algorithm>

namespace backplane::controllers {

void Term::handle(const std::shared_ptr<SharedInformer>& informer, ResourceEventHandler handler) {
  const int number = informer->add_event_handler(std::move(handler));
  on_end([informer, number] { informer->remove_event_handler(number); });
}

std::shared_ptr<WorkQueue> Term::queue(std::unique_ptr<RateLimiter> limiter) {
  auto made = std::make_shared<WorkQueue>(host_.executor(), std::move(limiter));
  on_end([made] { made->shut_down(); });
  return made;
}

Task<bool> Term::sleep(std::chrono::nanoseconds time) {
  const auto self = shared_from_this();
  if (ended()) co_return false;
  Promise<bool> over;
  pauses_.push_back(over);
  const std::function<void()> cancel = host_.executor().after(time, [over] { over.set(true); });
  const bool slept = co_await over.future();
  cancel();
  std::erase_if(pauses_, [](const Promise<bool>& pause) { return pause.future().await_ready(); });
  co_return slept && !ended();
}

void Term::end() {
  if (ended_.exchange(true)) return;
  informers_.shut_down();
  for (const auto& callback : std::exchange(callbacks_, {})) callback();
  for (const auto& pause : std::exchange(pauses_, {})) pause.set(false);
}

}  // namespace backplane::controllers
