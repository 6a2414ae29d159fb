// Compacts the store's history by age: each tick compacts to the revision of the previous tick.
//
// Thread-safety: start() and stop() from one thread; ticks run on the executor.
// Lifetime:      borrows the store and the executor until stop(); await stop() before the compactor is destroyed.
// Errors:        a failed compaction is logged and tried again at the next tick.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "backplane/points/storage.hpp"

namespace backplane {

// The default of --etcd-compaction-interval. History is retained for one to two intervals.
inline constexpr std::chrono::minutes kCompactionInterval{5};

class Compactor {
 public:
  Compactor(StorageBackend& storage, Executor& executor, std::chrono::nanoseconds interval = kCompactionInterval);
  ~Compactor();
  void start();
  // Ends the ticks and waits for a running compaction.
  Task<void> stop();
  // One tick: compacts to the store's revision at the previous tick.
  Task<Status> tick();
  // The last revision that a tick has compacted to: revisions before it cannot be read any more. 0: no compaction yet.
  std::shared_ptr<const std::atomic<Revision>> compacted() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace backplane
