// /healthz, /livez and /readyz. Clients can request all checks or a single check, and use the parameters "verbose" and "exclude". During a
// grace period, /livez reports startup checks as ok.
//
// Thread-safety: add(), install() and reopen() are called by one thread at a time. Checks may run on any thread. A request uses the checks
//                that were installed when it began.
// Errors:        add() returns kConflict after install().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/hooks.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/paths.hpp"

namespace backplane {

class HealthEndpoint;

class HealthRegistry {
 public:
  explicit HealthRegistry(std::chrono::nanoseconds livez_grace_period = {});

  // Adds a check. Endpoints show checks in the order in which they were added. If there is a check of this name already, add() has no
  // effect, because delegates inherit each other's checks.
  Status add(std::shared_ptr<HealthCheck> check, HealthEndpoints where);

  // Returns the routes of /healthz, /livez, /readyz and of the single checks below them. No check can be added until reopen().
  // `on_first_ready` runs once, at the first successful /readyz; only the first install() uses it.
  std::vector<PathRoute> install(std::function<void()> on_first_ready);
  // Begins a new list of checks. The next install() replaces the installed list by it.
  void reopen();

  // Runs the checks of /readyz. Returns true if all succeed.
  Task<bool> ready();

  // The results of each check, for /metrics/slis. Only requests for all checks of an endpoint count. Checks that never ran are left out.
  struct Observed {
    std::string name;
    std::string endpoint;  // "healthz", "livez" or "readyz"
    bool healthy = false;  // the last result
    std::uint64_t successes = 0;
    std::uint64_t errors = 0;
  };
  std::vector<Observed> observed() const;

 private:
  struct Entry {
    std::shared_ptr<HealthCheck> check;
    HealthEndpoints where;
  };
  std::vector<Entry> entries_;
  std::chrono::nanoseconds grace_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  bool installed_ = false;
  std::vector<std::shared_ptr<HealthEndpoint>> endpoints_;  // empty before the first install()
};

// Returns a check that calls a function.
std::shared_ptr<HealthCheck> make_health_check(std::string name, std::function<Task<Status>()> check, std::string group = {});
std::shared_ptr<HealthCheck> ping_check();

}  // namespace backplane
