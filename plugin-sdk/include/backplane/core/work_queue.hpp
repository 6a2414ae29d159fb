// The queue between event handlers and the workers of a controller (client-go's workqueue). A key is in the queue at most once, and at most
// one worker processes it at a time. A key whose processing fails is retried, with a delay that grows with each failure.
//
// Thread-safety: every method from any thread; a worker resumes on the executor on which it waits.
// Lifetime:      shared by the workers and by the handlers that add keys. Pending timers do not own the queue.
// Errors:        none; workers handle the errors of processing a key.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class Host;
class Logger;

// Determines the delay before a key is retried (workqueue.TypedRateLimiter). One limiter belongs to one queue. A limiter may be called from
// any thread.
class RateLimiter {
 public:
  virtual ~RateLimiter();
  // Counts one failure of `key`. Returns the delay before the next attempt.
  virtual std::chrono::nanoseconds when(const std::string& key) = 0;
  // Resets the failures of `key`.
  virtual void forget(const std::string& key) = 0;
  // The number of failures of `key` since the last forget().
  virtual int num_requeues(const std::string& key) const = 0;
};
// For each key: the delays are base, 2·base, 4·base … up to `max`.
std::unique_ptr<RateLimiter> item_exponential_failure_rate_limiter(std::chrono::nanoseconds base, std::chrono::nanoseconds max);
// For all keys together: `per_second` keys a second, with bursts of `burst` keys (a token bucket).
std::unique_ptr<RateLimiter> bucket_rate_limiter(double per_second, int burst);
// Returns the longest of the delays that `limiters` return.
std::unique_ptr<RateLimiter> max_of_rate_limiter(std::vector<std::unique_ptr<RateLimiter>> limiters);
// The default of client-go's controllers: 5 ms to 1000 s for each key, and for all keys together 10 a second with bursts of 100.
std::unique_ptr<RateLimiter> default_controller_rate_limiter();

// workqueue.TypedRateLimitingInterface with string keys.
//
//   queue->add("team-a");                                          // an event handler
//   spawn_workers(host, "census", 2, queue, [census](std::string team) { return census->count(std::move(team)); });
class WorkQueue {
 public:
  // Delays are timers of `executor`, which must outlive the queue.
  explicit WorkQueue(Executor& executor, std::unique_ptr<RateLimiter> limiter = default_controller_rate_limiter());
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Queues `key`. If a worker is processing `key`, the key is queued when the worker calls done().
  void add(const std::string& key);
  // Queues `key` after `delay`. If several delays of one key are pending, the shortest applies.
  void add_after(const std::string& key, std::chrono::nanoseconds delay);
  // Queues `key` after the delay of the rate limiter.
  void add_rate_limited(const std::string& key);
  // Call it when `key` has been processed successfully: the next failure counts as the first one.
  void forget(const std::string& key);
  // The rate limiter's failure count of `key`.
  int num_requeues(const std::string& key) const;

  // Waits for the next key. Returns nullopt after shut_down(), which drops queued keys. Call done() with the key after processing it.
  Task<std::optional<std::string>> get();
  // Ends the processing of `key`. If the key was added during the processing, it is queued again.
  void done(const std::string& key);

  // The number of queued keys. Delayed keys, and keys that are being processed, are not counted.
  std::size_t length() const;
  // Drops queued and delayed keys. Later calls of add() have no effect, and every get() returns nullopt.
  void shut_down();
  // True after shut_down().
  bool shutting_down() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Processes one key: changes the actual state towards the desired state of the object that the key names. If it returns an error or throws,
// the key is queued again with a growing delay, and a line with controller, key and error is logged, at most one in ten seconds for each
// controller.
using Reconcile = std::function<Task<Status>(std::string key)>;
// Runs one worker until the queue is shut down. `controller` is the name in log lines.
Task<void> run_worker(std::shared_ptr<WorkQueue> queue, Reconcile reconcile, Logger& logger, std::string controller);
// Runs `count` workers (run_worker()) as tasks of the plugin with the names `name`/0, `name`/1 …
void spawn_workers(Host& host, const std::string& name, int count, std::shared_ptr<WorkQueue> queue, Reconcile reconcile);

}  // namespace BACKPLANE_API
