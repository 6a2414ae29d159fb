#include "base/signal.hpp"

#include <algorithm>
#include <iterator>

namespace backplane {

NamedSignal::NamedSignal(std::string name, std::function<void(std::string_view)> on_first_fire)
    : name_(std::move(name)), on_first_fire_(std::move(on_first_fire)) {}

void NamedSignal::fire() {
  std::vector<Callback> callbacks;
  {
    std::lock_guard lock(mutex_);
    if (fired_.load(std::memory_order_relaxed)) return;
    if (on_first_fire_) on_first_fire_(name_);
    fired_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
  }
  for (auto& callback : callbacks) {
    const auto owner = callback.owner.lock();
    if (owner || !callback.owned) callback.call();
  }
}

void NamedSignal::on_fire(std::function<void()> callback) { add({std::move(callback), {}}); }

void NamedSignal::on_fire_while(std::weak_ptr<const void> owner, std::function<void()> callback) {
  add({std::move(callback), std::move(owner), true});
}

// After a cleanup, cleanup_size_ is at least twice the number of remaining callbacks, so that the average cost of an addition is constant.
void NamedSignal::add(Callback callback) {
  std::vector<Callback> expired;  // destroyed without the lock
  {
    std::lock_guard lock(mutex_);
    if (!fired_.load(std::memory_order_relaxed)) {
      if (callbacks_.size() >= cleanup_size_) {
        const auto gone = std::stable_partition(callbacks_.begin(), callbacks_.end(), [](const auto& each) { return !each.expired(); });
        expired.assign(std::make_move_iterator(gone), std::make_move_iterator(callbacks_.end()));
        callbacks_.erase(gone, callbacks_.end());
        cleanup_size_ = std::max<std::size_t>(cleanup_size_, 2 * callbacks_.size());
      }
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  const auto owner = callback.owner.lock();
  if (owner || !callback.owned) callback.call();
}

std::size_t NamedSignal::callbacks() const {
  const std::lock_guard lock(mutex_);
  return callbacks_.size();
}

Task<void> NamedSignal::wait() {
  if (fired()) co_return;
  Promise<bool> done;
  on_fire([done] { done.set(true); });
  co_await done.future();
}

}  // namespace backplane
