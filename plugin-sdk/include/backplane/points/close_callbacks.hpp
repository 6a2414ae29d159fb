// The callbacks of Exchange::on_close, for classes that implement Exchange.
//
// Thread-safety: any thread. Callbacks run on the thread that calls run(), which does not hold the lock while it calls them.
// Errors:        none; callbacks must not throw.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// An ordered list of callbacks that run at most once.
class CloseCallbacks {
 public:
  // Appends a callback. Returns the id for remove(); ids are not reused. A callback that is added after run() has returned is called by the
  // next run().
  std::uint64_t add(std::function<void()> callback);
  // Destroys the callback. Without effect for an unknown id, such as that of a callback that has run or is running. Does not wait for a
  // running callback.
  void remove(std::uint64_t id) noexcept;
  // Removes and calls each callback, in order. A callback may add and remove others. Returns when no callback is left.
  void run();
  // Removes all callbacks without running them.
  void clear() noexcept;
  bool empty() const noexcept;

 private:
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::vector<std::pair<std::uint64_t, std::function<void()>>> callbacks_;
};

}  // namespace BACKPLANE_API
