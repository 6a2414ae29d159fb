#include "kms/key_cache.hpp"

namespace backplane::encryption {

CipherRef KeyCache::find(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->cipher;
}

std::size_t KeyCache::insert(std::string key, CipherRef cipher) {
  const std::lock_guard lock(mutex_);
  if (most_ == 0) return 0;
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    found->second->cipher = std::move(cipher);
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.size();
  }
  entries_.push_front({std::move(key), std::move(cipher)});
  by_key_.emplace(entries_.front().key, entries_.begin());
  if (entries_.size() > most_) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  return entries_.size();
}

}  // namespace backplane::encryption
