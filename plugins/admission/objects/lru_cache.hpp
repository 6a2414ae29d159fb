// A map of limited size: the least recently used entry makes room for a new one (k8s.io/utils/lru).
//
// Thread-safety: none; the owner locks.
// Lifetime:      pointers to values are valid until the next put().
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace backplane::admission::objects {

template <class T>
class LruCache {
 public:
  // `most`: the number of entries, at least 1.
  explicit LruCache(std::size_t most) : most_(most) {}

  // Null if there is no such entry.
  T* find(std::string_view key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    recent_.splice(recent_.begin(), recent_, found->second);
    return &found->second->second;
  }

  T& put(std::string key, T value) {
    if (T* present = find(key)) return *present = std::move(value);
    if (places_.size() >= most_) {
      places_.erase(recent_.back().first);
      recent_.pop_back();
    }
    recent_.emplace_front(std::move(key), std::move(value));
    places_.emplace(recent_.front().first, recent_.begin());
    return recent_.front().second;
  }

  std::size_t size() const noexcept { return places_.size(); }

 private:
  using Entry = std::pair<const std::string, T>;
  const std::size_t most_;
  std::list<Entry> recent_;  // the most recently used first
  std::unordered_map<std::string_view, typename std::list<Entry>::iterator> places_;
};

}  // namespace backplane::admission::objects
