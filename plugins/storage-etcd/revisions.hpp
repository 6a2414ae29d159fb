// Reads the store's revision with few requests: one request runs at a time, and callers that arrive while it runs share the next request.
//
// Thread-safety: any thread.  Tasks need an executor.
// Lifetime:      borrows the cluster and the executor; Cluster::stop() ends the requests.
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
  // `key`: the key that the requests read; it need not exist.  `executor`: runs the requests if the waiting caller is not on an event loop,
  // or is on a loop that may block.
  RevisionCalls(Cluster& cluster, Executor& executor, std::string key);
  ~RevisionCalls();
  // The store's revision; it includes all commits before the call.
  Task<Result<Revision>> current();
  // As current(), with a separate request.
  Task<Result<Revision>> ask(std::chrono::milliseconds timeout);

 private:
  struct Callers;
  void begin(Executor* waiter);
  Task<void> question();
  Task<void> gather();

  Cluster& cluster_;
  Executor& executor_;
  const std::string key_;
  const std::unique_ptr<Callers> callers_;
};

}  // namespace backplane::etcd
