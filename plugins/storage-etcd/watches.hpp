// Watches on etcd: each is a separate stream, which is reopened at its last revision after a failure, if necessary on another server.
//
// A watch reads ahead of next() by a limited number of bytes; then it stops reading from etcd.
//
// Thread-safety: any thread; one next() at a time per watch, as of every StorageWatch.
// Lifetime:      watches may outlive their Watches after stop() was called.
// Errors:        kExpired if etcd has compacted the next events, or the store has stopped.  After other errors the watch is reopened,
// with pauses.
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
  // `root`: the prefix of every watched key.  `fence`: a key outside the root's ranges, whose events only report the progress of a watch.
  // `executor`: reads the streams; it runs until stop() has ended.  `logger` may be null.
  Watches(Cluster& cluster, Executor& executor, Keys keys, std::string root, std::string fence, Logger* logger);
  ~Watches();

  std::unique_ptr<StorageWatch> open(std::string prefix, Revision after);
  // Every open watch requests its progress. Requires servers with tells_progress_truly().
  void ask_progress();
  // Whether watches include the fence: they then watch the whole root and filter by their prefix.
  void use_fence(bool used);
  Task<void> stop();

  struct Shared;  // the shared state of all watches

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace backplane::etcd
