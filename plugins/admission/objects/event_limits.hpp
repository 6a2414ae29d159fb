// The limits of EventRateLimit: its configuration (eventratelimit.admission.k8s.io/v1alpha1, Configuration), and the buckets of one limit.
//
// Thread-safety: EventLimit from any thread; the rest are pure functions.
// Errors:        kBadRequest with the text of upstream's decoder or validation. Unlike upstream, unknown fields are errors.
// Source:        k8s.io/kubernetes/plugin/pkg/admission/eventratelimit.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/admission.hpp"
#include "objects/lru_cache.hpp"
#include "objects/token_bucket.hpp"

namespace backplane::admission::objects {

struct EventLimitConfig {
  std::string type;  // Server, Namespace, User or SourceAndObject
  std::int64_t per_second = 0;
  std::int64_t burst = 0;
  std::int64_t cache_size = 0;  // buckets that are remembered; 0: 4096
};

// `text`: the configuration in JSON; empty: none, which is an error, because one limit is required.
Result<std::vector<EventLimitConfig>> parse_event_limits(std::string_view text);

// The key of the limit's bucket for an event of the core group.
std::string event_limit_key(std::string_view type, const AdmissionAttributes& attributes);

// One limit with its buckets.
class EventLimit {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  EventLimit(EventLimitConfig config, Clock now);

  // Takes a token for the event. Returns the reason if there is none.
  std::optional<std::string> accept(const AdmissionAttributes& attributes);

 private:
  const EventLimitConfig config_;
  const Clock now_;
  std::mutex mutex_;
  LruCache<TokenBucket> buckets_;
};

}  // namespace backplane::admission::objects
