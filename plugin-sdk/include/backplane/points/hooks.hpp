// Lifecycle hooks, signals and health checks.
//
// Thread-safety: hooks of a plugin run on its executor (Host::executor); hooks of different plugins may run at the same time. Health checks
//                are called from any thread.
// Lifetime:      the host fires the stop signal before it waits for a hook to end.
// Errors:        if a post-start hook fails, its check poststarthook/NAME stays red. The process exits if --require-plugin names the
//                plugin, or if kube-apiserver has a hook of that name. Errors of pre-shutdown hooks, and hooks that run longer than
//                --request-timeout, are logged and make the process exit with code 1.
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

namespace backplane BACKPLANE_API {

// An event that happens at most once.
class Signal {
 public:
  virtual ~Signal();
  virtual std::string_view name() const noexcept = 0;
  virtual void fire() = 0;  // idempotent; any thread
  virtual bool fired() const noexcept = 0;
  // Resumes when the signal has fired; resumes at once if it has already fired.
  virtual Task<void> wait() = 0;
  // Calls `callback` once: inside fire(), or inside on_fire() if the signal has already fired.
  virtual void on_fire(std::function<void()> callback) = 0;
};

// Argument of a post-start hook.
struct PostStartHookContext {
  Executor& executor;  // Host::executor()
  Signal& stop;        // fires when the server shuts down; long-running work must end then
};
// Pauses of a long-running task that end early when the server stops. One task uses one Sleeper; sleep() is not called concurrently.
//
//   Sleeper sleeper(host.stop_signal());
//   while (co_await sleeper.sleep(std::chrono::minutes(1))) renew();
class Sleeper {
 public:
  explicit Sleeper(Signal& stop);
  // True after `time`; false as soon as the signal has fired.
  Task<bool> sleep(std::chrono::nanoseconds time);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Runs after the server listens. The check poststarthook/<name> is red until the hook returns success. A hook starts long-running work as a
// task (Host::spawn).
//
//   Task<Status> start_census(PostStartHookContext context);
//   return host.add_post_start_hook("census", &start_census);
using PostStartHook = std::function<Task<Status>(PostStartHookContext context)>;
// Runs when the server shuts down.
using PreShutdownHook = std::function<Task<Status>()>;

// One check of /healthz, /livez and /readyz.
//
//   class StoreCheck final : public HealthCheck {
//    public:
//     std::string name() const override { return "store"; }
//     Task<Status> check() override { co_return connected_.load() ? Status() : service_unavailable("not connected"); }
//
//    private:
//     std::atomic<bool> connected_ = false;
//   };
class HealthCheck {
 public:
  virtual ~HealthCheck();
  // The name in `?verbose` output and in the path /healthz/<name>.
  virtual std::string name() const = 0;
  // `?exclude=<group>` leaves out all checks of a group; empty: no group.
  virtual std::string group() const { return {}; }
  // Returns success, or the error to log. A response contains only "reason withheld" instead of the error. Keep the check short: it runs
  // for each request.
  virtual Task<Status> check() = 0;
};

// The endpoints that include a check.
struct HealthEndpoints {
  bool healthz = true;
  bool livez = true;
  bool readyz = true;
  // The check counts as green on /livez until --livez-grace-period has passed: for checks that are red during a slow startup.
  bool boot_sequence = false;
};

}  // namespace BACKPLANE_API
