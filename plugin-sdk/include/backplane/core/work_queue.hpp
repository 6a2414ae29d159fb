// The queue between event handlers and the workers of a controller (client-go's workqueue). A key is in the queue at most once, is
// processed by one worker at a time, and is retried with growing delays while it fails.
//
// Thread-safety: every method from any thread; a worker resumes on the executor on which it waits.
// Lifetime:      shared by the workers and by the handlers that add keys; pending timers do not keep the queue alive.
// Errors:        none; the worker handles the errors of its key.
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

// The delay before a key is retried (workqueue.TypedRateLimiter).
// One limiter belongs to one queue, which serializes the calls.
class RateLimiter {
 public:
  virtual ~RateLimiter();
  // The delay before the next attempt; counts one failure of `key`.
  virtual std::chrono::nanoseconds when(const std::string& key) = 0;
  // Resets the failures of `key`.
  virtual void forget(const std::string& key) = 0;
  // The number of failures of `key` since the last forget().
  virtual int num_requeues(const std::string& key) const = 0;
};
// Per key: base, 2·base, 4·base … at most `max`.
std::unique_ptr<RateLimiter> item_exponential_failure_rate_limiter(std::chrono::nanoseconds base, std::chrono::nanoseconds max);
// Over all keys: `per_second` keys a second, with bursts of `burst` (a token bucket).
std::unique_ptr<RateLimiter> bucket_rate_limiter(double per_second, int burst);
// The longest delay that any of the limiters returns.
std::unique_ptr<RateLimiter> max_of_rate_limiter(std::vector<std::unique_ptr<RateLimiter>> limiters);
// The default of client-go's controllers: 5 ms to 1000 s per key, and 10 keys a second with a burst of 100 over all.
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

  // Queues `key`. If a worker is processing it, it is queued again after done().
  void add(const std::string& key);
  // Queues `key` after `delay`. If several delays of one key are pending, the shortest applies.
  void add_after(const std::string& key, std::chrono::nanoseconds delay);
  // Queues `key` after the delay of the rate limiter.
  void add_rate_limited(const std::string& key);
  // Call it when `key` has succeeded: the next failure counts as the first.
  void forget(const std::string& key);
  // The rate limiter's failure count of `key`.
  int num_requeues(const std::string& key) const;

  // Waits for the next key; nullopt after shut_down(), even if keys are queued. Call done() with the key after processing it.
  Task<std::optional<std::string>> get();
  // Ends the processing of `key`; if it was added in the meantime, it is queued again.
  void done(const std::string& key);

  // The number of queued keys; keys that are delayed or being processed are not counted.
  std::size_t length() const;
  // Ends the queue: add() is ignored, and every waiting get() returns nullopt.
  void shut_down();
  // True after shut_down().
  bool shutting_down() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Processes one key: changes the actual state towards the desired state of the key's object. An error Status or an exception queues the key
// again with a growing delay; a line with controller, key and error is logged, at most one in ten seconds per controller.
using Reconcile = std::function<Task<Status>(std::string key)>;
// Runs one worker until the queue is shut down. `controller` names it in log lines.
Task<void> run_worker(std::shared_ptr<WorkQueue> queue, Reconcile reconcile, Logger& logger, std::string controller);
// Runs `count` workers as tasks of the plugin, named `name`/0, `name`/1 …; see run_worker().
void spawn_workers(Host& host, const std::string& name, int count, std::shared_ptr<WorkQueue> queue, Reconcile reconcile);

}  // namespace BACKPLANE_API
