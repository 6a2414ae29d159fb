// Watches on etcd: each a stream of its own, which is opened again where it broke off, on another server if need be.
//
// A watch reads ahead of whoever calls next() by a bounded number of bytes; then etcd has to wait.
//
// Thread-safety: any thread; one next() at a time per watch, as of every StorageWatch.
// Lifetime:      watches may outlive the Watches they came from once stop() was called.
// Errors:        kExpired when etcd has compacted what comes next, or the store stopped.  What etcd cannot serve for another reason is
// asked for again, with pauses.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "backplane/core/logger.hpp"
#include "cluster.hpp"
#include "wire_thread.hpp"

namespace backplane::etcd {

class Watches {
 public:
  // `root`: what every watched key begins with.  `fence`: a key beside the root that no range of it holds; events of it tell how far a
  // watch has come, and nothing else.  `logger` may be null.
  Watches(Cluster& cluster, WireThread& wire, Keys keys, std::string root, std::string fence, Logger* logger);
  ~Watches();

  std::unique_ptr<StorageWatch> open(std::string prefix, Revision after);
  // Every open watch asks its server how far it has come.  Only for servers of which tells_progress_truly().
  void ask_progress();
  // Whether watches include the fence: they then see the whole root, and keep what is below their prefix.
  void use_fence(bool used);
  Task<void> stop();

  struct Shared;  // what watches have in common

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace backplane::etcd
