#include "webhook/decision_cache.hpp"

#include <openssl/evp.h>

#include <cstring>

namespace backplane::authorization {

std::size_t DecisionCache::KeyHash::operator()(const Key& key) const noexcept {
  std::size_t out = 0;
  std::memcpy(&out, key.data(), sizeof out);
  return out;
}

DecisionCache::Key DecisionCache::key_of(std::string_view question) {
  Key key{};
  EVP_Digest(question.data(), question.size(), key.data(), nullptr, EVP_sha256(), nullptr);
  return key;
}

std::optional<ReviewStatus> DecisionCache::get(std::string_view question) {
  const Key key = key_of(question);
  Shard& shard = shard_of(key);
  const auto now = now_();
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(key);
  if (found == shard.entries.end()) return std::nullopt;
  if (found->second->expires <= now) {
    shard.recent.erase(found->second);
    shard.entries.erase(found);
    return std::nullopt;
  }
  shard.recent.splice(shard.recent.begin(), shard.recent, found->second);
  return found->second->status;
}

void DecisionCache::put(std::string_view question, const ReviewStatus& status, std::chrono::nanoseconds time) {
  if (time.count() <= 0 || status.reason.size() > kLongestReason) return;
  const Key key = key_of(question);
  Shard& shard = shard_of(key);
  const auto now = now_();
  const auto expires = time > Clock::time_point::max() - now ? Clock::time_point::max() : now + time;
  const std::lock_guard lock(shard.mutex);
  if (const auto found = shard.entries.find(key); found != shard.entries.end()) {
    found->second->status = status;
    found->second->expires = expires;
    shard.recent.splice(shard.recent.begin(), shard.recent, found->second);
    return;
  }
  if (shard.entries.size() >= kMostEntries / kShards) {
    shard.entries.erase(shard.recent.back().key);
    shard.recent.pop_back();
  }
  shard.recent.push_front({key, status, expires});
  shard.entries.emplace(key, shard.recent.begin());
}

std::size_t DecisionCache::size() const {
  std::size_t out = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    out += shard.entries.size();
  }
  return out;
}

}  // namespace backplane::authorization
