// The newest version of something immutable: writers swap it, readers take a reference.
//
// Thread-safety: get() and set() from any thread.  The lock is held for the copy of one pointer, never while anybody works.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace backplane {

// std::atomic<std::shared_ptr> does the same with a spinning bit that ThreadSanitizer cannot see through in libstdc++ 12.
template <class T>
class Published {
 public:
  explicit Published(std::shared_ptr<const T> first) : value_(std::move(first)) {}
  std::shared_ptr<const T> get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }
  void set(std::shared_ptr<const T> next) {
    {
      std::lock_guard lock(mutex_);
      value_.swap(next);
    }
    // The old version, if this was its last reference, is freed here, outside the lock.
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace backplane
