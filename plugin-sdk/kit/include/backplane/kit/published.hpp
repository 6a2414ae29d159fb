// The newest version of an immutable value. Writers replace it; readers get a shared reference to it.
//
// Thread-safety: get() and set() from any thread. The lock is held while one pointer is copied.
// Lifetime:      a version lives as long as a reader refers to it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace backplane::kit {

// Uses a mutex, because libstdc++ 12 implements std::atomic<std::shared_ptr> with a spin bit, which ThreadSanitizer does not support.
template <class T>
class Published {
 public:
  Published() = default;
  explicit Published(std::shared_ptr<const T> first) : value_(std::move(first)) {}
  // Null before the first set(), unless a value was passed to the constructor.
  std::shared_ptr<const T> get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }
  void set(std::shared_ptr<const T> next) {
    {
      std::lock_guard lock(mutex_);
      value_.swap(next);
    }
    // If this was the last reference to the former version, that version is destroyed here, without the lock.
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace backplane::kit
