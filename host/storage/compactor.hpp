// Compacts the store's history by age: each tick forgets what was older than the tick before.
//
// Thread-safety: start() and stop() from one thread; ticks run on the executor.
// Lifetime:      the store outlives stop(); await stop() before the compactor goes away.
// Errors:        a failed compaction is logged and tried again at the next tick.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "backplane/points/storage.hpp"

namespace backplane {

// --etcd-compaction-interval's default: history is kept for one to two intervals.
inline constexpr std::chrono::minutes kCompactionInterval{5};

class Compactor {
 public:
  Compactor(StorageBackend& storage, Executor& executor, std::chrono::nanoseconds interval = kCompactionInterval);
  ~Compactor();
  void start();
  // Ends the ticks and waits for a compaction that runs.
  Task<void> stop();
  // What one tick does: compacts to the revision that the tick before saw.
  Task<Status> tick();
  // The revision that ticks have compacted to: what is older is gone.  0: nothing yet.
  std::shared_ptr<const std::atomic<Revision>> compacted() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace backplane
