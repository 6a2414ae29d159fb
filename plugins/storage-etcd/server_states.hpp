// What the servers of a cluster say of themselves: their version and the size of their store.  Asked for in the background; nobody waits
// for a server that does not answer.
//
// Thread-safety: any thread.
// Lifetime:      borrows the cluster, whose stop() ends the calls.
// Errors:        a server that does not answer is asked again at the next look.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/core/logger.hpp"
#include "cluster.hpp"

namespace backplane::etcd {

class ServerStates {
 public:
  // `size_age`: how old the size may be when it is asked for.
  ServerStates(Cluster& cluster, std::chrono::nanoseconds size_age, Logger* logger)
      : cluster_(cluster), size_age_(size_age), logger_(logger), versions_(cluster.size()) {}

  // Asks every server, unless that was done a moment ago; where all have answered, unless that was within `size_age`.
  void look() noexcept;
  // Every server has said that it answers requests for progress behind what it has sent before: a watch may be opened again on any.
  bool progress_is_true() const noexcept { return true_.load(); }
  // Of the largest one as of the last look; -1: not known.  Looks again when that is too long ago.
  std::int64_t size_bytes() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kBetweenLooks{1};
  static constexpr std::chrono::seconds kPatience{5};
  void note(std::size_t server, const std::string& version, std::int64_t size);
  void judge_versions();

  Cluster& cluster_;
  const std::chrono::nanoseconds size_age_;
  Logger* const logger_;  // may be null
  std::atomic<bool> true_{false};
  std::mutex mutex_;
  std::vector<std::string> versions_;
  Clock::time_point looked_{};
  Clock::time_point size_known_{};
  std::int64_t size_ = -1;
  bool known_ = false;  // all versions are
};

}  // namespace backplane::etcd
