// The versions of a cluster's servers, and the size of the store.  They are requested in the background, so no caller waits for a server
// that does not respond.
//
// Thread-safety: any thread.
// Lifetime:      borrows the cluster and the executor; Cluster::stop() ends the requests.
// Errors:        none; a request that fails is repeated in the next round.
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

  // Requests the status of every server, unless the last round was recent. A round is recent for a second, or, once the versions of all
  // servers are known, for `size_age` if that is longer.
  void look() noexcept;
  // True if every server responds to progress requests in order (reports_progress_in_order()). All servers must, because a watch may be
  // reopened on any of them.
  bool progress_is_true() const noexcept { return true_.load(); }
  // The size of the store, the largest of all servers in the last round; -1: unknown.  Starts a round if the last one is too old.
  std::int64_t size_bytes() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kCheckInterval{1};
  static constexpr std::chrono::seconds kCallTimeout{5};
  Task<void> ask(std::size_t server, std::shared_ptr<Cluster::Turn> turn);
  void note(std::size_t server, const std::string& version, std::int64_t size);
  void check_server_versions();

  Cluster& cluster_;
  Executor& executor_;
  const std::chrono::nanoseconds size_age_;
  Logger* const logger_;  // may be null
  std::atomic<bool> true_{false};
  std::mutex mutex_;
  std::vector<std::string> versions_;
  Clock::time_point checked_{};
  Clock::time_point size_known_{};
  std::int64_t size_ = -1;
  bool known_ = false;  // the versions of all servers have been read
};

}  // namespace backplane::etcd
