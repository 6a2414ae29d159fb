// The implementation of the SDK's Signal: fires once and resumes its waiters.
//
// Thread-safety: every method from any thread.  Callbacks run on the thread that calls fire(), without the lock.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/points/hooks.hpp"

namespace backplane {

class NamedSignal final : public Signal {
 public:
  // `on_first_fire` is called once, before any waiter resumes. The lifecycle uses it to log the signal.
  explicit NamedSignal(std::string name, std::function<void(std::string_view name)> on_first_fire = {});
  std::string_view name() const noexcept override { return name_; }
  void fire() override;
  bool fired() const noexcept override { return fired_.load(std::memory_order_acquire); }
  Task<void> wait() override;
  void on_fire(std::function<void()> callback) override;
  // As on_fire(), but the callback runs only if `owner` still exists; the signal holds `owner` during the call.  Callbacks without an owner
  // are destroyed when later callbacks are added.  For long-lived signals, because on_fire() retains a callback until the signal fires.
  void on_fire_while(std::weak_ptr<const void> owner, std::function<void()> callback);
  // The number of retained callbacks.
  std::size_t callbacks() const;

 private:
  struct Callback {
    std::function<void()> call;
    std::weak_ptr<const void> owner;
    bool owned = false;
    bool expired() const noexcept { return owned && owner.expired(); }
  };
  void add(Callback callback);

  std::string name_;
  std::function<void(std::string_view)> on_first_fire_;
  mutable std::mutex mutex_;
  std::atomic<bool> fired_{false};
  std::vector<Callback> callbacks_;
  std::size_t cleanup_size_ = 16;  // the size of callbacks_ at which callbacks without an owner are removed
};

}  // namespace backplane
