#include "backplane/core/work_queue.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "backplane/core/log_limit.hpp"
#include "backplane/core/logger.hpp"
#include "core/work_queue_metrics.hpp"

namespace backplane BACKPLANE_API {

RateLimiter::~RateLimiter() = default;

namespace {

using std::chrono::nanoseconds;

class ExponentialLimiter final : public RateLimiter {
 public:
  ExponentialLimiter(nanoseconds base, nanoseconds max) : base_(base), max_(max) {}
  nanoseconds when(const std::string& key) override {
    std::lock_guard lock(mutex_);
    const int failures = failures_[key]++;
    nanoseconds delay = base_;
    for (int i = 0; i < failures && delay < max_; ++i) delay *= 2;
    return std::min(delay, max_);
  }
  void forget(const std::string& key) override {
    std::lock_guard lock(mutex_);
    failures_.erase(key);
  }
  int num_requeues(const std::string& key) const override {
    std::lock_guard lock(mutex_);
    const auto found = failures_.find(key);
    return found == failures_.end() ? 0 : found->second;
  }

 private:
  const nanoseconds base_, max_;
  mutable std::mutex mutex_;
  std::map<std::string, int> failures_;
};

class BucketLimiter final : public RateLimiter {
 public:
  BucketLimiter(double per_second, int burst) : per_second_(per_second), burst_(burst), tokens_(burst) {}
  nanoseconds when(const std::string&) override {
    std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    tokens_ = std::min(burst_, tokens_ + std::chrono::duration<double>(now - last_).count() * per_second_);
    last_ = now;
    tokens_ -= 1;
    if (tokens_ >= 0) return nanoseconds::zero();
    return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(-tokens_ / per_second_));
  }
  void forget(const std::string&) override {}
  int num_requeues(const std::string&) const override { return 0; }

 private:
  const double per_second_, burst_;
  std::mutex mutex_;
  double tokens_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class LongestLimiter final : public RateLimiter {
 public:
  explicit LongestLimiter(std::vector<std::unique_ptr<RateLimiter>> limiters) : limiters_(std::move(limiters)) {}
  nanoseconds when(const std::string& key) override {
    nanoseconds longest{0};
    for (const auto& limiter : limiters_) longest = std::max(longest, limiter->when(key));
    return longest;
  }
  void forget(const std::string& key) override {
    for (const auto& limiter : limiters_) limiter->forget(key);
  }
  int num_requeues(const std::string& key) const override {
    int most = 0;
    for (const auto& limiter : limiters_) most = std::max(most, limiter->num_requeues(key));
    return most;
  }

 private:
  std::vector<std::unique_ptr<RateLimiter>> limiters_;
};

}  // namespace

std::unique_ptr<RateLimiter> item_exponential_failure_rate_limiter(nanoseconds base, nanoseconds max) {
  return std::make_unique<ExponentialLimiter>(base, max);
}
std::unique_ptr<RateLimiter> bucket_rate_limiter(double per_second, int burst) {
  return std::make_unique<BucketLimiter>(per_second, burst);
}
std::unique_ptr<RateLimiter> max_of_rate_limiter(std::vector<std::unique_ptr<RateLimiter>> limiters) {
  return std::make_unique<LongestLimiter>(std::move(limiters));
}
std::unique_ptr<RateLimiter> default_controller_rate_limiter() {
  std::vector<std::unique_ptr<RateLimiter>> both;
  both.push_back(item_exponential_failure_rate_limiter(std::chrono::milliseconds(5), std::chrono::seconds(1000)));
  both.push_back(bucket_rate_limiter(10, 100));
  return max_of_rate_limiter(std::move(both));
}

struct WorkQueue::State : std::enable_shared_from_this<WorkQueue::State> {
  struct Delay {
    std::chrono::steady_clock::time_point due;
    std::function<void()> cancel;
  };

  State(Executor& executor_in, std::unique_ptr<RateLimiter> limiter_in) : executor(executor_in), limiter(std::move(limiter_in)) {}

  void add(const std::string& key) {
    std::optional<Promise<bool>> worker;
    {
      std::lock_guard lock(mutex);
      if (shut || !dirty.insert(key).second) return;
      if (metrics) metrics->added(key);
      if (processing.contains(key)) return;
      order.push_back(key);
      worker = take_waiter();
    }
    if (worker) worker->set(true);
  }

  void done(const std::string& key) {
    std::optional<Promise<bool>> worker;
    {
      std::lock_guard lock(mutex);
      processing.erase(key);
      if (metrics) metrics->done(key);
      if (shut || !dirty.contains(key)) return;
      order.push_back(key);
      worker = take_waiter();
    }
    if (worker) worker->set(true);
  }

  void add_after(const std::string& key, nanoseconds delay) {
    const auto due = std::chrono::steady_clock::now() + delay;
    std::function<void()> cancel;
    {
      std::lock_guard lock(mutex);
      if (shut) return;
      const auto found = delays.find(key);
      if (found != delays.end() && found->second.due <= due) return;
      if (found != delays.end()) cancel = std::move(found->second.cancel);
      delays[key] = {due, executor.after(delay, [weak = weak_from_this(), key, due] {
                       if (auto state = weak.lock()) state->enqueue_delayed(key, due);
                     })};
    }
    if (cancel) cancel();
  }

  // Queues `key` when its delay has ended. `due` identifies the timer: a timer that has been replaced may already be running.
  void enqueue_delayed(const std::string& key, std::chrono::steady_clock::time_point due) {
    {
      std::lock_guard lock(mutex);
      const auto found = delays.find(key);
      if (found == delays.end() || found->second.due != due) return;
      delays.erase(found);
    }
    add(key);
  }

  void note_retry() {
    std::lock_guard lock(mutex);
    if (metrics) metrics->retried();
  }

  void set_name(const std::string& name) {
    std::lock_guard lock(mutex);
    if (metrics || shut) return;
    metrics.emplace(name);
    for (const std::string& key : dirty) metrics->added(key);
  }

  // Call it with the lock held. Starts a timer that updates the durations of the keys in progress twice a second, as client-go does.
  void watch_running() {
    constexpr std::chrono::milliseconds kInterval(500);
    if (!metrics || watching) return;
    watching = true;
    executor.after(kInterval, [weak = weak_from_this()] {
      const auto state = weak.lock();
      if (!state) return;
      const std::lock_guard lock(state->mutex);
      state->watching = false;
      state->metrics->show_running();
      if (state->metrics->runs()) state->watch_running();
    });
  }

  std::optional<Promise<bool>> take_waiter() {
    if (waiters.empty()) return std::nullopt;
    std::optional<Promise<bool>> out(std::move(waiters.front()));
    waiters.pop_front();
    return out;
  }

  void shut_down() {
    std::deque<Promise<bool>> ended;
    std::map<std::string, Delay> cancelled;
    {
      std::lock_guard lock(mutex);
      shut = true;
      if (metrics) metrics->cleared();
      ended.swap(waiters);
      cancelled.swap(delays);
      order.clear();
      dirty.clear();
    }
    for (const auto& [_, delay] : cancelled) delay.cancel();
    for (const auto& waiter : ended) waiter.set(false);
  }

  Executor& executor;
  const std::unique_ptr<RateLimiter> limiter;
  mutable std::mutex mutex;
  std::deque<std::string> order;     // keys that can be taken
  std::set<std::string> dirty;       // keys in `order`, and keys that were added again while they are processed
  std::set<std::string> processing;  // keys that a worker has taken and for which done() has not been called
  std::map<std::string, Delay> delays;
  std::deque<Promise<bool>> waiters;
  bool shut = false;
  std::optional<work_queues::WorkQueueMetrics> metrics;
  bool watching = false;  // a timer of watch_running() is set
};

namespace {

// For each existing queue, the function that sets its name.
struct QueueNames {
  std::mutex mutex;
  std::map<const WorkQueue*, std::function<void(const std::string& name)>> setters;
};
QueueNames& queue_names() {
  static auto* const all = new QueueNames;
  return *all;
}

}  // namespace

WorkQueue::WorkQueue(Executor& executor, std::unique_ptr<RateLimiter> limiter)
    : state_(std::make_shared<State>(executor, std::move(limiter))) {
  const std::lock_guard lock(queue_names().mutex);
  queue_names().setters[this] = [state = state_.get()](const std::string& name) { state->set_name(name); };
}
WorkQueue::~WorkQueue() {
  state_->shut_down();
  const std::lock_guard lock(queue_names().mutex);
  queue_names().setters.erase(this);
}

void WorkQueue::add(const std::string& key) { state_->add(key); }
void WorkQueue::add_after(const std::string& key, nanoseconds delay) {
  state_->note_retry();
  if (delay <= nanoseconds::zero()) return state_->add(key);
  state_->add_after(key, delay);
}
void WorkQueue::add_rate_limited(const std::string& key) { add_after(key, state_->limiter->when(key)); }
void WorkQueue::forget(const std::string& key) { state_->limiter->forget(key); }
int WorkQueue::num_requeues(const std::string& key) const { return state_->limiter->num_requeues(key); }
void WorkQueue::done(const std::string& key) { state_->done(key); }
void WorkQueue::shut_down() { state_->shut_down(); }

Task<std::optional<std::string>> WorkQueue::get() {
  const std::shared_ptr<State> state = state_;
  while (true) {
    std::optional<Promise<bool>> woken;
    {
      std::lock_guard lock(state->mutex);
      if (state->shut) co_return std::nullopt;
      if (!state->order.empty()) {
        std::string key = std::move(state->order.front());
        state->order.pop_front();
        state->dirty.erase(key);
        state->processing.insert(key);
        if (state->metrics) state->metrics->taken(key);
        state->watch_running();
        co_return std::optional<std::string>(std::move(key));
      }
      woken.emplace();
      state->waiters.push_back(*woken);
    }
    co_await woken->future();
  }
}

std::size_t WorkQueue::length() const {
  std::lock_guard lock(state_->mutex);
  return state_->order.size();
}
bool WorkQueue::shutting_down() const {
  std::lock_guard lock(state_->mutex);
  return state_->shut;
}

}  // namespace BACKPLANE_API

namespace backplane::work_queues {

void name_work_queue(const WorkQueue& queue, const std::string& name) {
  const std::lock_guard lock(queue_names().mutex);
  const auto found = queue_names().setters.find(&queue);
  if (found != queue_names().setters.end()) found->second(name);
}

}  // namespace backplane::work_queues
