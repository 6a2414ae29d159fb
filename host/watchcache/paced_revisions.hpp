// Reads the store's revision for lists and watches. Any number of readers causes at most a hundred requests to the store per second; a
// reader waits for the next one, which is short compared with a list. Reads of single objects do not use this class: the store merges their
// requests.
//
// Thread-safety: any thread.  Tasks need an executor.
// Lifetime:      a request holds its FollowedStore, and runs in the task group of that.
// Errors:        the store's; kServiceUnavailable once the task group is closed.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "backplane/points/storage.hpp"

namespace backplane {

struct FollowedStore;

// Allows one request per period on average; after an idle time, several at once.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPeriod{10};
  static constexpr int kAtOnce = 16;
  // Reserves the next request; returns how long it must wait.
  Clock::duration take(Clock::time_point now);

 private:
  Clock::time_point due_{};  // the time of the next request if a full period had passed between any two requests
};

class PacedRevisions {
 public:
  using Answer = Result<Revision>;
  // A revision that includes every commit before the call. `store`: the owner of this object.
  Task<Answer> current(std::shared_ptr<FollowedStore> store);

 private:
  static Task<void> ask(std::shared_ptr<FollowedStore> store, Pace::Clock::duration pause);
  std::vector<Promise<Answer>> take();

  std::mutex mutex_;
  std::vector<Promise<Answer>> waiting_;  // callers that wait for the next request
  Pace pace_;
};

}  // namespace backplane
