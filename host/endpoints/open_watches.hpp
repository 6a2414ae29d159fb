// The set of open watches, which a draining server ends.
//
// Thread-safety: any thread.
// Lifetime:      handlers and the server share the object. The signal of end_all_on() may outlive it.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_set>

#include "backplane/rest/roles.hpp"
#include "base/signal.hpp"

namespace backplane {

class OpenWatches : public std::enable_shared_from_this<OpenWatches> {
 public:
  // When `signal` fires, ends all watches, and all that are added later. Must be called once, on an object that a shared_ptr owns.
  void end_all_on(NamedSignal& signal);

  // Adds a watch. If end_all() has been called, ends `stream` and returns false.
  bool add(const std::shared_ptr<WatchStream>& stream);
  void remove(const std::shared_ptr<WatchStream>& stream);
  void end_all();
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  bool ended_ = false;
  std::unordered_set<std::shared_ptr<WatchStream>> streams_;
};

}  // namespace backplane
