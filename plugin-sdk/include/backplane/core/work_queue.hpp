// The queue between events and the workers that act on them (client-go's workqueue): a key stands in it once however often it is added,
// is worked on by one worker at a time, and comes back later and later while it fails.
//
// Thread-safety: every method from any thread; a worker resumes on the executor it waits on.
// Lifetime:      shared by its workers and by whoever adds; timers keep nothing alive but what they need.
// Errors:        none; what a key's work has met is the worker's business.
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

// How long a key waits before it is tried again.
class RateLimiter {
 public:
  virtual ~RateLimiter();
  virtual std::chrono::nanoseconds when(const std::string& key) = 0;
  virtual void forget(const std::string& key) = 0;
  virtual int num_requeues(const std::string& key) const = 0;
};
// base, 2·base, 4·base … up to `max`, for each key.
std::unique_ptr<RateLimiter> item_exponential_failure_rate_limiter(std::chrono::nanoseconds base, std::chrono::nanoseconds max);
// `per_second` keys a second over all, `burst` at once.
std::unique_ptr<RateLimiter> bucket_rate_limiter(double per_second, int burst);
// The longest of what several say.
std::unique_ptr<RateLimiter> max_of_rate_limiter(std::vector<std::unique_ptr<RateLimiter>> limiters);
// 5 ms to 1000 s for each key, and 10 a second with 100 at once over all.
std::unique_ptr<RateLimiter> default_controller_rate_limiter();

class WorkQueue {
 public:
  // Delays run on `executor`.
  explicit WorkQueue(Executor& executor, std::unique_ptr<RateLimiter> limiter = default_controller_rate_limiter());
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // A key that is being worked on is given out again when it is done.
  void add(const std::string& key);
  // Of several delays of one key the shortest counts.
  void add_after(const std::string& key, std::chrono::nanoseconds delay);
  // After what the rate limiter says.
  void add_rate_limited(const std::string& key);
  // The key has succeeded: its next failure is its first.
  void forget(const std::string& key);
  int num_requeues(const std::string& key) const;

  // The next key, waited for; nothing when the queue was shut down, whatever is in it.  Call done() with it in the end.
  Task<std::optional<std::string>> get();
  void done(const std::string& key);

  // Keys that wait to be worked on, delayed ones not counted.
  std::size_t length() const;
  // Nothing is taken in or given out any more; waiting workers are told.
  void shut_down();
  bool shutting_down() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// What a worker does with a key: brings the world closer to what the key's object wants.  A Status that is an error, or an exception, puts
// the key back, later each time; the log names controller, key and error, at most once in ten seconds for each controller.
using Reconcile = std::function<Task<Status>(std::string key)>;
// One worker of `controller`, until the queue is shut down.  Spawn as many as may work at once.
Task<void> run_worker(std::shared_ptr<WorkQueue> queue, Reconcile reconcile, Logger& logger, std::string controller);
// `count` of them as tasks of the plugin, called `name`/0 and so on.
void spawn_workers(Host& host, const std::string& name, int count, std::shared_ptr<WorkQueue> queue, Reconcile reconcile);

}  // namespace BACKPLANE_API
