#include "base/signal.hpp"

namespace backplane {

NamedSignal::NamedSignal(std::string name, std::function<void(std::string_view)> on_first_fire)
    : name_(std::move(name)), on_first_fire_(std::move(on_first_fire)) {}

void NamedSignal::fire() {
  std::vector<std::function<void()>> callbacks;
  {
    std::lock_guard lock(mutex_);
    if (fired_.load(std::memory_order_relaxed)) return;
    if (on_first_fire_) on_first_fire_(name_);
    fired_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
  }
  for (auto& callback : callbacks) callback();
}

void NamedSignal::on_fire(std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!fired_.load(std::memory_order_relaxed)) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

Task<void> NamedSignal::wait() {
  if (fired()) co_return;
  Promise<bool> done;
  on_fire([done] { done.set(true); });
  co_await done.future();
}

}  // namespace backplane
