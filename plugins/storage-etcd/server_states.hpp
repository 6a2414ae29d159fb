// The status of a cluster's servers: version and size of the store.  Requested in the background; no caller waits for a server that does
// not respond.
//
// Thread-safety: any thread.
// Lifetime:      borrows the cluster, whose stop() ends the calls, and the executor.
// Errors:        a request to a server that does not respond is repeated in the next round.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/core/logger.hpp"
#include "cluster.hpp"

namespace backplane::etcd {

class ServerStates {
 public:
  // `size_age`: the maximum age of the size.
  ServerStates(Cluster& cluster, Executor& executor, std::chrono::nanoseconds size_age, Logger* logger)
      : cluster_(cluster), executor_(executor), size_age_(size_age), logger_(logger), versions_(cluster.size()) {}

  // Requests the status of every server, unless the last round was recent. If all servers responded in that round, it counts as recent for
  // `size_age`.
  void look() noexcept;
  // True if every server supports ordered progress requests, because a watch may be reopened on any server.
  bool progress_is_true() const noexcept { return true_.load(); }
  // The size of the largest store in the last round; -1: unknown.  Starts a round if the last one is too old.
  std::int64_t size_bytes() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kBetweenLooks{1};
  static constexpr std::chrono::seconds kPatience{5};
  Task<void> ask(std::size_t server, std::shared_ptr<Cluster::Turn> turn);
  void note(std::size_t server, const std::string& version, std::int64_t size);
  void judge_versions();

  Cluster& cluster_;
  Executor& executor_;
  const std::chrono::nanoseconds size_age_;
  Logger* const logger_;  // may be null
  std::atomic<bool> true_{false};
  std::mutex mutex_;
  std::vector<std::string> versions_;
  Clock::time_point looked_{};
  Clock::time_point size_known_{};
  std::int64_t size_ = -1;
  bool known_ = false;  // all versions are recent enough
};

}  // namespace backplane::etcd
