#include "storage/own_writes.hpp"

#include <iterator>
#include <utility>

namespace backplane {

void OwnWrites::note(std::string_view key, SharedBytes stored, SharedBytes worked) {
  const std::lock_guard lock(mutex_);
  writes_.push_back({std::string(key), std::move(stored), std::move(worked)});
  by_key_.emplace(writes_.back().key, std::prev(writes_.end()));
  bytes_ += writes_.back().bytes();
  while (writes_.size() > kMost || (bytes_ > kMostBytes && writes_.size() > 1)) {
    auto [found, end] = by_key_.equal_range(writes_.front().key);
    while (found != end && found->second != writes_.begin()) ++found;
    remove(found);
  }
}

std::optional<SharedBytes> OwnWrites::take(std::string_view key, const SharedBytes& stored) {
  const std::lock_guard lock(mutex_);
  const auto [first, end] = by_key_.equal_range(key);
  for (auto found = first; found != end; ++found) {
    if (found->second->stored.view() == stored.view()) return remove(found);
  }
  return std::nullopt;
}

SharedBytes OwnWrites::remove(ByKey::iterator found) {
  const Writes::iterator write = found->second;
  SharedBytes worked = std::move(write->worked);
  bytes_ -= write->key.size() + write->stored.size() + worked.size();
  by_key_.erase(found);
  writes_.erase(write);
  return worked;
}

}  // namespace backplane
