// The implementation of the SDK's Signal: fires once and resumes its waiters.
//
// Thread-safety: every method from any thread.  Callbacks run on the thread that fires, outside the lock.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/points/hooks.hpp"

namespace backplane {

class NamedSignal final : public Signal {
 public:
  // `on_first_fire` runs once, before any waiter resumes (the lifecycle logs there).
  explicit NamedSignal(std::string name, std::function<void(std::string_view name)> on_first_fire = {});
  std::string_view name() const noexcept override { return name_; }
  void fire() override;
  bool fired() const noexcept override { return fired_.load(std::memory_order_acquire); }
  Task<void> wait() override;
  void on_fire(std::function<void()> callback) override;

 private:
  std::string name_;
  std::function<void(std::string_view)> on_first_fire_;
  std::mutex mutex_;
  std::atomic<bool> fired_{false};
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace backplane
