#include "loop_clusters.hpp"

#include <algorithm>

#include "wire_on_loop.hpp"

namespace backplane::etcd {

LoopClusters::~LoopClusters() {
  for (Own& own : take()) let_go(std::move(own));
}

Cluster& LoopClusters::here() {
  auto* const loop = dynamic_cast<IoExecutor*>(current_executor());
  if (loop == nullptr) return shared_;
  const std::lock_guard lock(mutex_);
  if (shared_.stopping()) return shared_;
  const auto found = std::find_if(own_.begin(), own_.end(), [loop](const Own& own) { return own.loop == loop; });
  if (found != own_.end()) return *found->cluster;
  own_.push_back({loop, std::make_shared<Cluster>(settings_, std::make_shared<WireOnLoop>(*loop))});
  return *own_.back().cluster;
}

std::vector<LoopClusters::Own> LoopClusters::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(own_, {});
}

// It is looked at on its loop, and so goes there.
void LoopClusters::let_go(Own own) {
  own.loop->post([cluster = std::move(own.cluster)]() mutable { cluster.reset(); });
}

// After the shared one has been closed, so that no more are made.
Task<void> LoopClusters::stop() {
  std::vector<Own> all = take();
  for (Own& own : all) {
    auto ending = own.cluster->stop();
    co_await std::move(ending);
    let_go(std::move(own));
  }
}

}  // namespace backplane::etcd
