// The keys that an OpenID provider publishes (JWKS), cached as its Cache-Control headers allow.
//
// If no cached key verifies a token and the cache has expired, the keys are fetched again. Calls that wait for keys share one fetch. The
// rate of fetches is limited, so that invalid tokens do not cause many requests to the provider.
// Thread-safety: any executor, any number of calls at once.
// Lifetime:      shared; the host outlives it. After stop() no keys are fetched, and tokens that need a fetch fail.
// Errors:        kUnauthorized, "failed to verify id token signature"; "fetching keys …".
// Source:        github.com/coreos/go-oidc v2 (jwks.go).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/kit/jws.hpp"
#include "oidc/oidc_client.hpp"

namespace backplane::authentication {

// Returns how long a response may be cached, by s-maxage, max-age or Expires.
std::chrono::seconds cache_lifetime(const OidcReply& reply, std::chrono::system_clock::time_point now);

// A token bucket: `burst` uses at once, and one more after each `interval`.
class FetchLimit {
 public:
  FetchLimit(double burst, std::chrono::nanoseconds interval) : burst_(burst), interval_(interval), left_(burst) {}
  // Reserves a use, and returns the time to wait before it; 0: none.
  std::chrono::nanoseconds take(std::chrono::steady_clock::time_point now);

 private:
  const double burst_;
  const std::chrono::nanoseconds interval_;
  double left_;
  std::chrono::steady_clock::time_point last_{};
};

class RemoteKeys : public std::enable_shared_from_this<RemoteKeys> {
 public:
  // Called after each fetch. `key_set`: the fetched text; null if the fetch failed.
  using Observer = std::function<void(const std::string* key_set)>;
  RemoteKeys(Host& host, std::shared_ptr<OidcClient> client, std::string url, Observer observer);

  // Success if one of the keys verifies the signature. Waits for keys until `deadline`; their fetch, which other calls share, continues.
  Task<Status> verify(std::shared_ptr<const kit::Jws> jws, OidcClient::Deadline deadline);
  void stop() noexcept { stopped_ = true; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Keys {
    kit::KeySet set;
    Clock::time_point expires;
  };
  using KeysRef = std::shared_ptr<const Keys>;
  KeysRef cached() const;
  Task<Result<KeysRef>> refreshed(Clock::time_point deadline);
  Task<void> fetch(std::chrono::nanoseconds delay);
  Task<Result<KeysRef>> fetch_keys();

  Host& host_;
  const std::shared_ptr<OidcClient> client_;
  const std::string url_;
  const Observer observer_;
  std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;  // guards the members below
  KeysRef keys_;
  bool fetching_ = false;
  std::vector<Promise<Result<KeysRef>>> waiters_;
  FetchLimit limit_;
};

}  // namespace backplane::authentication
