// The store's revision, asked for by as few calls as may be: all who come while a question is under way share the next one, and questions
// are at most a hundred a second however many want to know.
//
// Thread-safety: any thread.  Tasks need an executor.
// Lifetime:      borrows the cluster.
// Errors:        the cluster's.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/storage.hpp"
#include "cluster.hpp"

namespace backplane::etcd {

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

class RevisionCalls {
 public:
  // `key`: any; it need not be there.
  RevisionCalls(Cluster& cluster, std::string key) : cluster_(cluster), key_(std::move(key)) {}
  // Everything that was committed before the call is at or below it.
  Task<Result<Revision>> current();
  // A question of its own.
  Task<Result<Revision>> ask(std::chrono::milliseconds patience);

 private:
  using Answer = Result<Revision>;
  Cluster& cluster_;
  const std::string key_;
  std::mutex mutex_;
  std::vector<Promise<Answer>> next_askers_;  // of the question that is asked when the one under way is answered
  bool asking_ = false;
  Pace pace_;
};

}  // namespace backplane::etcd
