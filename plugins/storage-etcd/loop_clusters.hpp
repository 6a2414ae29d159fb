// Connections of a loop's own, to the servers of one cluster: what is asked and answered on one loop wakes no thread in between.
//
// Thread-safety: any thread.
// Lifetime:      borrows the shared cluster.  stop() has ended every call when it returns; the connections go where they are, or with their
// loop. Errors:        none of its own.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backplane/net/io_executor.hpp"
#include "cluster.hpp"

namespace backplane::etcd {

class LoopClusters {
 public:
  LoopClusters(Settings settings, Cluster& shared);
  LoopClusters(const LoopClusters&) = delete;
  LoopClusters& operator=(const LoopClusters&) = delete;
  ~LoopClusters();

  // That of the loop on which this is called; the shared one where there is none, somebody may block it, or its connection is not there
  // yet.
  Cluster& here();
  Task<void> stop();

 private:
  struct Own {
    IoExecutor* loop = nullptr;
    std::shared_ptr<Cluster> cluster;
  };
  // Loops that end know of it, too.
  struct All {
    std::mutex mutex;
    std::vector<Own> own;
    std::vector<Own> take();
    void loop_ends(const IoExecutor& loop);
  };
  static void let_go(Own own);
  Own make(IoExecutor& loop);

  const Settings settings_;
  Cluster& shared_;
  const std::shared_ptr<All> all_ = std::make_shared<All>();
};

}  // namespace backplane::etcd
