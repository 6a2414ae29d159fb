// A KMS plugin of the configuration: the step that uses it, and its health.
//
// Thread-safety: every method from any thread that has an executor.
// Lifetime:      shared. The polling task holds no reference between two polls.
// Errors:        upstream's texts.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "backplane/core/turns.hpp"
#include "backplane/host.hpp"
#include "step.hpp"

namespace backplane::encryption {

// The result of the last health check of a plugin. A success is cached for 20 seconds, a failure for 3 seconds.
class LastHealth {
 public:
  using Clock = std::chrono::steady_clock;
  bool fresh(Clock::time_point now) const noexcept { return now < until_; }
  const Outcome<Done>& outcome() const noexcept { return outcome_; }
  Outcome<Done> set(Outcome<Done> outcome, Clock::time_point now) {
    outcome_ = std::move(outcome);
    until_ = now + (outcome_.ok() ? std::chrono::seconds(20) : std::chrono::seconds(3));
    return outcome_;
  }

 private:
  Outcome<Done> outcome_ = Done();
  Clock::time_point until_ = Clock::time_point::min();
};

class KmsProvider : public Step, public std::enable_shared_from_this<KmsProvider> {
 public:
  virtual const std::string& name() const noexcept = 0;
  // Requests the status from the plugin, unless the cached status is recent.
  Task<Outcome<Done>> check();

 private:
  // Called for one check at a time.
  virtual Task<Outcome<Done>> check_plugin() = 0;

  Turns checking_{1};
  LastHealth health_;  // guarded by checking_
};
using KmsProviderRef = std::shared_ptr<KmsProvider>;

struct KmsSettings {
  std::string name;
  std::string endpoint;
  std::chrono::nanoseconds timeout{};
  int cache_size = 0;  // v1; negative: no cache
};

Outcome<KmsProviderRef> make_kms_v1_provider(Host& host, const KmsSettings& settings);
// `server_id_hash`: a label of the metrics. The provider requests the plugin's status at once, then once a minute, or every ten seconds
// while that fails; values wait for the end of the first attempt.
Outcome<KmsProviderRef> make_kms_v2_provider(Host& host, const KmsSettings& settings, std::string server_id_hash);

}  // namespace backplane::encryption
