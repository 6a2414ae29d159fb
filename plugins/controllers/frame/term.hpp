// A term is a period during which this server runs the controllers. Each term has separate informers, queues and tasks.
//
// Thread-safety: the plugin's executor, except ended().
// Lifetime:      shared by the controllers of the term. end() removes the event handlers, so handlers and controllers may own each other
//                until then.
// Errors:        none.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backplane/controller.hpp"
#include "backplane/host.hpp"

namespace backplane::controllers {

class Term : public std::enable_shared_from_this<Term> {
 public:
  explicit Term(Host& host) : host_(host), informers_(host) {}

  // The informer of a resource, shared by the controllers of the term; start_informers() starts it.
  std::shared_ptr<SharedInformer> informer(const GroupVersionResource& resource, const std::string& ns = {}) {
    return informers_.for_resource(resource, ns);
  }
  void start_informers() { informers_.start(); }
  // Adds a handler that end() removes.
  void handle(const std::shared_ptr<SharedInformer>& informer, ResourceEventHandler handler);
  // A queue that end() shuts down.
  std::shared_ptr<WorkQueue> queue(std::unique_ptr<RateLimiter> limiter = default_controller_rate_limiter());
  // Calls `callback` inside end().
  void on_end(std::function<void()> callback) { callbacks_.push_back(std::move(callback)); }
  // Waits for `time`. Returns false if the term has ended meanwhile.
  Task<bool> sleep(std::chrono::nanoseconds time);

  // Stops informers, queues and pauses. Idempotent.
  void end();
  bool ended() const noexcept { return ended_.load(); }

 private:
  Host& host_;
  SharedInformerFactory informers_;
  std::vector<std::function<void()>> callbacks_;
  std::vector<Promise<bool>> pauses_;
  std::atomic<bool> ended_{false};
};

}  // namespace backplane::controllers
