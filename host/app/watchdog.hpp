// Pings of systemd's watchdog. Each ping passes through every loop of the server. If a loop hangs, no ping is sent, and systemd restarts
// the service.
//
// Thread-safety: start() and stop() from one thread.
// Lifetime:      stop() before the loops stop.
// Errors:        a ping that is not accepted is logged once.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "backplane/core/task.hpp"

namespace backplane {

class Watchdog {
 public:
  // `executors`: a ping visits them in this order. `ping` runs on the last one.
  Watchdog(std::vector<Executor*> executors, std::chrono::microseconds period, std::function<void()> ping);
  ~Watchdog() { stop(); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void start();
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace backplane
