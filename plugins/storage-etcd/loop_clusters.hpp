// Connections of a loop's own, to the servers of one cluster: what is asked and answered on one loop wakes no thread in between.
//
// Thread-safety: any thread.
// Lifetime:      borrows the shared cluster; loops outlive it.  stop() has ended every call when it returns; the connections go where they are.
// Errors:        none of its own.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backplane/io_executor.hpp"
#include "cluster.hpp"

namespace backplane::etcd {

class LoopClusters {
 public:
  LoopClusters(Settings settings, Cluster& shared) : settings_(std::move(settings)), shared_(shared) {}
  LoopClusters(const LoopClusters&) = delete;
  LoopClusters& operator=(const LoopClusters&) = delete;
  ~LoopClusters();

  // That of the loop on which this is called; the shared one where there is none.
  Cluster& here();
  Task<void> stop();

 private:
  struct Own {
    IoExecutor* loop = nullptr;
    std::shared_ptr<Cluster> cluster;
  };
  std::vector<Own> take();
  static void let_go(Own own);

  const Settings settings_;
  Cluster& shared_;
  std::mutex mutex_;
  std::vector<Own> own_;
};

}  // namespace backplane::etcd
