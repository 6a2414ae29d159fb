// Watches on etcd. Each watch is a separate stream. After a failure the stream is reopened after the last received revision, if necessary
// on another server.
//
// A watch reads from etcd before next() is called, until a limited number of bytes is queued.
//
// Thread-safety: any thread; one next() at a time per watch, as of every StorageWatch.
// Lifetime:      watches may outlive their Watches after stop() was called.
// Errors:        kExpired if etcd has compacted the next events, if etcd's history has gone back, or if the store has stopped.  After other
//                errors the stream is reopened, with pauses.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "backplane/core/logger.hpp"
#include "cluster.hpp"

namespace backplane::etcd {

class Watches {
 public:
  // `root`: the prefix of every watched key.  `fence`: a key that is written to make etcd report progress to old servers' watches; its
  // events are not delivered.  `executor`: reads the streams; it must run until stop() has ended.  `logger` may be null.
  Watches(Cluster& cluster, Executor& executor, Keys keys, std::string root, std::string fence, Logger* logger);
  ~Watches();

  std::unique_ptr<StorageWatch> open(std::string prefix, Revision after);
  // Sends a progress request on every open stream. Requires servers whose version fulfils reports_progress_in_order().
  void ask_progress();
  // Sets whether streams that are opened later include the fence: such a stream watches the fence and the whole root, and the watch filters
  // by its prefix.
  void use_fence(bool used);
  Task<void> stop();

  struct Shared;  // the shared state of all watches

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace backplane::etcd
