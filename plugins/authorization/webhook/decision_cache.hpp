// Caches the decisions of a webhook for a limited time. The least recently used decisions are evicted.
// Requests are stored as SHA-256 hashes, so that an entry's size does not depend on the client.
// Thread-safety: any thread. Each of kShards shards has a lock, which is held only during a look-up or a change.
// Source:        k8s.io/apimachinery/pkg/util/cache/lruexpirecache.go.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "webhook/access_review.hpp"

namespace backplane::authorization {

class DecisionCache {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostEntries = 8192;
  static constexpr std::size_t kLongestReason = 4096;

  explicit DecisionCache(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  std::optional<ReviewStatus> get(std::string_view question);
  // Has no effect for a time of 0 or a reason that is longer than kLongestReason.
  void put(std::string_view question, const ReviewStatus& status, std::chrono::nanoseconds time);
  std::size_t size() const;

 private:
  static constexpr std::size_t kShards = 8;
  using Key = std::array<unsigned char, 32>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Entry {
    Key key;
    ReviewStatus status;
    Clock::time_point expires;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::list<Entry> recent;  // the most recently used first
    std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> entries;
  };
  static Key key_of(std::string_view question);
  Shard& shard_of(const Key& key) { return shards_[key[31] % kShards]; }

  const std::function<Clock::time_point()> now_;
  std::array<Shard, kShards> shards_;
};

}  // namespace backplane::authorization
