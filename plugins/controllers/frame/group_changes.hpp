// Forwards changes of the served group versions to the controllers of the current term.
//
// Thread-safety: any thread; callbacks run on the thread that makes the change.
// Lifetime:      shared by the plugin and its controllers.
// Errors:        none.
#pragma once

#include <functional>
#include <map>
#include <mutex>

namespace backplane::controllers {

class GroupChanges {
 public:
  int add(std::function<void()> callback) {
    std::lock_guard lock(mutex_);
    callbacks_.emplace(next_, std::move(callback));
    return next_++;
  }
  void remove(int number) {
    std::lock_guard lock(mutex_);
    callbacks_.erase(number);
  }
  void notify() {
    std::lock_guard lock(mutex_);
    for (const auto& [_, callback] : callbacks_) callback();
  }

 private:
  std::mutex mutex_;
  std::map<int, std::function<void()>> callbacks_;
  int next_ = 1;
};

}  // namespace backplane::controllers
