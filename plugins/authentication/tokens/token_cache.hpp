// Caches the results of token look-ups by token and audiences, and shares the look-ups that are in progress.
//
// The keys are HMAC-SHA-256 values, computed with a random key of the process. So the cache contains no tokens, and the time of a look-up
// reveals nothing about them.
// Thread-safety: any thread. Each of 32 shards has a lock, which is held only while its hash tables are read or changed.
// Lifetime:      the cache outlives the tasks that get() returns.
// Errors:        if a look-up throws, all of its callers get kInternalError.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backplane/core/metric_cell.hpp"
#include "tokens/token_source.hpp"

namespace backplane::authentication {

// The result of one look-up.
struct TokenRecord {
  AuthenticationResult result = std::optional<AuthenticationResponse>();
  TokenNotes notes;
};
using TokenRecordRef = std::shared_ptr<const TokenRecord>;

class TokenCache {
 public:
  using Clock = std::chrono::steady_clock;
  using LookUp = std::function<Task<TokenRecord>(std::string token, std::vector<std::string> audiences)>;
  struct Options {
    // success_ttl: how long users are cached. failure_ttl: how long errors and unknown tokens are cached. 0: not at all.
    std::chrono::nanoseconds success_ttl, failure_ttl{0};
    bool cache_errors = true;  // false: errors are not cached, and failure_ttl applies only to unknown tokens
    std::function<Clock::time_point()> now = [] { return Clock::now(); };
  };

  TokenCache(LookUp look_up, Options options);

  // The cached result; null if there is none.
  TokenRecordRef find(std::string_view token, const std::vector<std::string>& audiences) const;
  // Returns the cached result or runs a look-up. Calls with the same token and audiences share one look-up.
  Task<TokenRecordRef> get(std::string token, std::vector<std::string> audiences);

 private:
  static constexpr std::size_t kShards = 32;
  static constexpr std::size_t kMostEntries = 4096;  // maximum for each shard; further results are not cached
  using Key = std::array<unsigned char, 32>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Cached {
    TokenRecordRef record;
    Clock::time_point expires;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<Key, Cached, KeyHash> cached;
    std::unordered_map<Key, std::vector<Promise<TokenRecordRef>>, KeyHash> waiting;  // by look-up in progress
    Clock::time_point swept{};
  };

  struct Metrics {
    struct Requests {
      MetricCell* count;
      MetricCell* duration;
    };
    Metrics();
    static void request(const Requests& of, Clock::time_point began);
    Requests hits{}, misses{};
    MetricCell* in_flight;
    MetricCell* blocked;
    MetricCell* good;
    MetricCell* bad;
  };

  Key key_of(std::string_view token, const std::vector<std::string>& audiences) const;
  Shard& shard_of(const Key& key) const { return shards_[key[0] % kShards]; }
  TokenRecordRef find(const Key& key) const;
  // Returns true if the caller has to run the look-up. Otherwise the look-up in progress sets `mine` to its result.
  bool join(const Key& key, const Promise<TokenRecordRef>& mine);
  Task<TokenRecordRef> run(std::string token, std::vector<std::string> audiences);
  void store(Shard& shard, const Key& key, const TokenRecordRef& record);
  void finish(const Key& key, const TokenRecordRef& record);

  const LookUp look_up_;
  const Options options_;
  const Metrics metrics_;
  Key secret_;
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace backplane::authentication
