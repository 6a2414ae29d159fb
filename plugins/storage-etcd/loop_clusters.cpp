#include "loop_clusters.hpp"

#include <algorithm>
#include <iterator>

#include "wire_on_loop.hpp"

namespace backplane::etcd {

namespace {

// Everybody's next question waits behind one that is under way here: a connection that has died is found out soon, since there is another.
Settings quick(Settings settings) {
  settings.keep_alive = settings.keep_alive_timeout = std::chrono::milliseconds(500);
  return settings;
}

}  // namespace

LoopClusters::LoopClusters(Settings settings, Cluster& shared) : settings_(quick(std::move(settings))), shared_(shared) {}

LoopClusters::~LoopClusters() {
  for (Own& own : all_->take()) let_go(std::move(own));
}

Cluster& LoopClusters::here() {
  Executor* const executor = current_executor();
  IoExecutor* const loop = executor == nullptr ? nullptr : executor->io();
  if (loop == nullptr || loop->may_block()) return shared_;
  const std::lock_guard lock(all_->mutex);
  if (shared_.stopping()) return shared_;
  auto& all = all_->own;
  auto found = std::find_if(all.begin(), all.end(), [loop](const Own& own) { return own.loop == loop; });
  if (found == all.end()) found = all.insert(found, make(*loop));
  return found->cluster->reached() ? *found->cluster : shared_;
}

LoopClusters::Own LoopClusters::make(IoExecutor& loop) {
  loop.at_end([weak = std::weak_ptr<All>(all_), &loop] {
    if (const auto all = weak.lock()) all->loop_ends(loop);
  });
  return {&loop, std::make_shared<Cluster>(settings_, std::make_shared<WireOnLoop>(loop), &shared_)};
}

std::vector<LoopClusters::Own> LoopClusters::All::take() {
  const std::lock_guard lock(mutex);
  return std::exchange(own, {});
}

void LoopClusters::All::loop_ends(const IoExecutor& loop) {
  std::vector<Own> gone;
  const std::lock_guard lock(mutex);
  const auto here = std::stable_partition(own.begin(), own.end(), [&loop](const Own& each) { return each.loop != &loop; });
  gone.assign(std::make_move_iterator(here), std::make_move_iterator(own.end()));
  own.erase(here, own.end());
}

// It is looked at on its loop, and so goes there.
void LoopClusters::let_go(Own own) {
  own.loop->post([cluster = std::move(own.cluster)]() mutable { cluster.reset(); });
}

// After the shared one has been closed, so that no more are made.
Task<void> LoopClusters::stop() {
  std::vector<Own> all = all_->take();
  for (Own& own : all) {
    auto ending = own.cluster->stop();
    co_await std::move(ending);
    let_go(std::move(own));
  }
}

}  // namespace backplane::etcd
