// Runs the handler chain for the exchanges of one executor, and counts them.
//
// Thread-safety: one executor.
// Lifetime:      outlives the exchanges it runs; running() is 0 before it is destroyed.
// Errors:        an exception that leaves the chain, or a response left unfinished, aborts the exchange and is logged.
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
  // From now on, connections of peers that do not read are closed after last_write_timeout.
  void hurry() { limits_.write_timeout = std::min(limits_.write_timeout, limits_.last_write_timeout); }
  // Starts the handler at once, on this executor.
  void run(std::shared_ptr<HttpExchange> exchange);
  std::size_t running() const noexcept { return running_; }
  // Called whenever running() falls to 0.
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
