// Reads the store's revision with as few calls as possible: one call runs at a time, and callers that arrive meanwhile share the next call.
//
// Thread-safety: any thread.  Tasks need an executor.
// Lifetime:      borrows the cluster and the executor; the cluster's stop() ends the calls.
// Errors:        the cluster's.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "backplane/points/storage.hpp"
#include "cluster.hpp"

namespace backplane::etcd {

class RevisionCalls {
 public:
  // `key`: the key that requests read; it need not exist.  `executor`: runs the requests of callers that are not on an event loop, or on
  // one that may block.
  RevisionCalls(Cluster& cluster, Executor& executor, std::string key);
  ~RevisionCalls();
  // All commits before the call are at or below the result.
  Task<Result<Revision>> current();
  // A separate request.
  Task<Result<Revision>> ask(std::chrono::milliseconds patience);

 private:
  struct Askers;
  void begin(Executor* waiter);
  Task<void> question();
  Task<void> gather();

  Cluster& cluster_;
  Executor& executor_;
  const std::string key_;
  const std::unique_ptr<Askers> askers_;
};

}  // namespace backplane::etcd
