#include "watchcache/written_entries.hpp"

#include <utility>

namespace backplane {

void WrittenEntries::note(const KeyValue& stored, ObjectRef entry) {
  Written noted{stored.value, std::move(entry)};
  const std::lock_guard lock(mutex_);
  std::swap(written_[static_cast<std::size_t>(stored.mod_revision) % kMost], noted);
  // What was there is freed after the lock: locals go in reverse order.
}

ObjectRef WrittenEntries::take(const KeyValue& stored) {
  Written found;
  {
    const std::lock_guard lock(mutex_);
    Written& place = written_[static_cast<std::size_t>(stored.mod_revision) % kMost];
    if (!place.entry || place.entry->revision != stored.mod_revision || place.entry->key != stored.key) return nullptr;
    std::swap(place, found);
  }
  return found.value.view() == stored.value.view() ? std::move(found.entry) : nullptr;
}

}  // namespace backplane
