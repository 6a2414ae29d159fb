// The metrics workqueue_… of one queue, as client-go counts them.
//
// Thread-safety: one call at a time; the queue calls it with its lock held.
// Lifetime:      belongs to its queue; changes the values of the server on whose thread it was created.
// Errors:        none.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "backplane/core/metric_cell.hpp"

namespace backplane {
class WorkQueue;
}

namespace backplane::work_queues {

class WorkQueueMetrics {
 public:
  explicit WorkQueueMetrics(const std::string& name);

  void added(const std::string& key);
  // A worker has taken the key.
  void taken(const std::string& key);
  void done(const std::string& key);
  void retried() { count(retries_); }
  // All waiting keys have been dropped.
  void cleared();
  // Updates the durations of the keys that are being processed.
  void show_running();
  bool runs() const noexcept { return !started_.empty(); }

 private:
  using Clock = std::chrono::steady_clock;
  static void count(MetricCell* cell, double amount = 1) {
    if (cell != nullptr) cell->add(amount);
  }
  static void observe_since(MetricCell* cell, std::map<std::string, Clock::time_point>& times, const std::string& key);

  // Queues with the same name share these cells.
  MetricCell *depth_, *adds_, *waits_, *durations_, *unfinished_, *longest_, *retries_;
  std::map<std::string, Clock::time_point> waiting_, started_;  // by key, the time since when the key is waiting or being processed
  double shown_unfinished_ = 0;
};

// Sets the queue's name in the metrics, which is the name of the controller. Only its workers have this name, so they call the function. A
// queue without a name has no metrics. Only the first call has an effect.
void name_work_queue(const WorkQueue& queue, const std::string& name);

}  // namespace backplane::work_queues
