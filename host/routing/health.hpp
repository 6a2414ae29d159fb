// /healthz, /livez and /readyz: named checks, single checks, verbose, exclude, and the grace period of start-up checks on /livez.
//
// Thread-safety: add(), install() and reopen() by one thread at a time; the checks may run on any thread. A request uses the checks that
// were installed when it began.
// Errors:        add() after install() and duplicate names: kAlreadyExists / kConflict.
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

  // Shown in the order added.  Checks with the same name on the same endpoint are added once (delegates inherit each other's).
  Status add(std::shared_ptr<HealthCheck> check, HealthEndpoints where);

  // Handlers for /healthz, /livez, /readyz and everything below each; no check can be added afterwards, until reopen().  `on_first_ready`
  // runs once, at the first successful /readyz.
  std::vector<PathRoute> install(std::function<void()> on_first_ready);
  // Begins a new list, which replaces the installed one, whole, with the next install().
  void reopen();

  // The result of GET /readyz, for the host.
  Task<bool> ready();

  // The last results of each check, for /metrics/slis; a check that never ran is left out. Checks requested by their own path do not count.
  struct Observed {
    std::string name;
    std::string endpoint;  // "healthz", "livez" or "readyz"
    bool healthy = false;  // the last time
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
  std::vector<std::shared_ptr<HealthEndpoint>> endpoints_;  // since the first install()
};

// A check that runs a function.
std::shared_ptr<HealthCheck> make_health_check(std::string name, std::function<Task<Status>()> check, std::string group = {});
std::shared_ptr<HealthCheck> ping_check();

}  // namespace backplane
