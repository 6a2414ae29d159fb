// Runs the root handler for the exchanges of one executor, and counts the running handlers.
//
// Thread-safety: one executor.
// Lifetime:      outlives the exchanges that it runs. running() must be 0 before the object is destroyed.
// Errors:        if the handler throws, or ends before the response is complete, the exchange is aborted and the error is logged.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>

#include "backplane/points/http.hpp"
#include "http/http_exchange.hpp"

namespace backplane {

class HandlerRunner {
 public:
  HandlerRunner(Executor& executor, HttpHandler& root, HttpLimits limits) : executor_(executor), root_(root), limits_(limits) {}
  HandlerRunner(const HandlerRunner&) = delete;
  HandlerRunner& operator=(const HandlerRunner&) = delete;

  Executor& executor() noexcept { return executor_; }
  const HttpLimits& limits() const noexcept { return limits_; }
  // From now on, the write timeout is last_write_timeout, if that is shorter.
  void shorten_write_timeouts() { limits_.write_timeout = std::min(limits_.write_timeout, limits_.last_write_timeout); }
  // Starts the handler immediately, on this executor.
  void run(std::shared_ptr<HttpExchange> exchange);
  std::size_t running() const noexcept { return running_; }
  // `callback` is called whenever running() becomes 0.
  void on_idle(std::function<void()> callback) { on_idle_ = std::move(callback); }

 private:
  Task<void> serve(std::shared_ptr<HttpExchange> exchange);
  void ended();

  Executor& executor_;
  HttpHandler& root_;
  HttpLimits limits_;
  std::size_t running_ = 0;
  std::function<void()> on_idle_;
};

}  // namespace backplane
