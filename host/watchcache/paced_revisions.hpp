// The store's revision for lists and watches: at most a hundred requests a second, for any number of readers.  A list costs more than
// the wait; reads of single objects do not use this and share the calls that the store merges.
//
// Thread-safety: any thread.  Tasks need an executor.
// Lifetime:      a question keeps the store that it was given, and runs in that store's task group.
// Errors:        the store's; kServiceUnavailable once the task group is closed.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "backplane/points/storage.hpp"

namespace backplane {

struct FollowedStore;

// One turn per period on average; some may come at once after a quiet time.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPeriod{10};
  static constexpr int kAtOnce = 16;
  // Takes a turn: how long it must be waited for.
  Clock::duration take(Clock::time_point now);

 private:
  Clock::time_point due_{};  // of the turn after the last one, if none had come early
};

class PacedRevisions {
 public:
  using Answer = Result<Revision>;
  // Everything that was committed before the call is at or below it.  `store` is the one this belongs to.
  Task<Answer> current(std::shared_ptr<FollowedStore> store);

 private:
  static Task<void> ask(std::shared_ptr<FollowedStore> store, Pace::Clock::duration pause);
  std::vector<Promise<Answer>> take();

  std::mutex mutex_;
  std::vector<Promise<Answer>> waiting_;  // for the turn that comes next
  Pace pace_;
};

}  // namespace backplane
