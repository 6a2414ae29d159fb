// Hooks and health checks: what runs after the server listens, before it stops, and when somebody asks how it is.
//
// Thread-safety: a plugin's hooks run on the plugin's own executor (Host::executor), those of different plugins at once; checks are called
//                from any thread.
// Lifetime:      a hook's stop flag is raised before the host waits for the hook to end.
// Errors:        a post-start hook that fails ends the process; pre-shutdown hook errors are aggregated and end the run with an error, as
//                does a hook that has not ended within --request-timeout, which is left behind.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/http.hpp"

namespace backplane BACKPLANE_API {

// Something that happens once; waiters are told.
class Signal {
 public:
  virtual ~Signal();
  virtual std::string_view name() const noexcept = 0;
  virtual void fire() = 0;  // idempotent
  virtual bool fired() const noexcept = 0;
  virtual Task<void> wait() = 0;
  // Calls back once, at once if it has fired.
  virtual void on_fire(std::function<void()> callback) = 0;
};

struct PostStartHookContext {
  Executor& executor;  // Host::executor()
  Signal& stop;        // fires when the server shuts down; a long-running hook ends then
};
// Pauses of a long-running task that end early when the server stops.  One task uses one Sleeper.
class Sleeper {
 public:
  explicit Sleeper(Signal& stop);
  // True after `time`; false, perhaps at once, when the signal fires.
  Task<bool> sleep(std::chrono::nanoseconds time);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Returns when its start work is done; the check poststarthook/<name> is red until then.  Long-running work goes on in a task of its
// own (Host::spawn).
using PostStartHook = std::function<Task<Status>(PostStartHookContext context)>;
using PreShutdownHook = std::function<Task<Status>()>;

class HealthCheck {
 public:
  virtual ~HealthCheck();
  virtual std::string name() const = 0;
  // Checks of one group are left out together by ?exclude=<group>; empty: no group.
  virtual std::string group() const { return {}; }
  virtual Task<Status> check() = 0;
};

// Which endpoints show a check.
struct HealthEndpoints {
  bool healthz = true;
  bool livez = true;
  bool readyz = true;
  // Green on livez until --livez-grace-period is over: for what only takes its time at the start.
  bool boot_sequence = false;
};

}  // namespace BACKPLANE_API
