// The newest version of an immutable value: writers replace it, readers take a reference.
//
// Thread-safety: get() and set() from any thread. The lock is held while one pointer is copied.
// Lifetime:      a version lives as long as a reader refers to it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace backplane::kit {

// libstdc++ 12 implements std::atomic<std::shared_ptr> with a spin bit, which ThreadSanitizer does not understand.
template <class T>
class Published {
 public:
  Published() = default;
  explicit Published(std::shared_ptr<const T> first) : value_(std::move(first)) {}
  // Null before the first set(), unless the constructor had a value.
  std::shared_ptr<const T> get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }
  void set(std::shared_ptr<const T> next) {
    {
      std::lock_guard lock(mutex_);
      value_.swap(next);
    }
    // The former version, if this was the last reference, is freed here, outside the lock.
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace backplane::kit
