// The watches that are open, so that a draining server can end them.
//
// Thread-safety: every method from any thread.
// Lifetime:      shared by handlers and the server; a signal it waits for may outlive it.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_set>

#include "backplane/rest/roles.hpp"
#include "base/signal.hpp"

namespace backplane {

class OpenWatches : public std::enable_shared_from_this<OpenWatches> {
 public:
  // Ends all watches, present and future, when `signal` fires.  Call it once, on a set that a shared_ptr holds.
  void end_all_on(NamedSignal& signal);

  // False: the set has ended, and `stream` has been ended, too.
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
