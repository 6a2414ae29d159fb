// The store's revision, asked for by as few calls as may be: one is under way at a time, and all who come meanwhile share the next one.
//
// Thread-safety: any thread.  Tasks need an executor.
// Lifetime:      borrows the cluster and the executor.
// Errors:        the cluster's.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "backplane/points/storage.hpp"
#include "cluster.hpp"
#include "loop_clusters.hpp"

namespace backplane::etcd {

class RevisionCalls {
 public:
  // `key`: any; it need not be there.  `elsewhere`: where questions are asked that are for no loop.
  RevisionCalls(const Settings& settings, Cluster& cluster, Executor& elsewhere, std::string key);
  ~RevisionCalls();
  // Everything that was committed before the call is at or below it.
  Task<Result<Revision>> current();
  // A question of its own.
  Task<Result<Revision>> ask(std::chrono::milliseconds patience);
  // After the cluster has been closed.
  Task<void> stop() { return clusters_.stop(); }

 private:
  struct Askers;
  void begin(Executor* waiter);
  Task<void> question();
  Task<void> gather();

  Cluster& cluster_;
  Executor& elsewhere_;
  LoopClusters clusters_;
  const std::string key_;
  const std::unique_ptr<Askers> askers_;
};

}  // namespace backplane::etcd
