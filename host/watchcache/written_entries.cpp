#include "watchcache/written_entries.hpp"

namespace backplane {

bool WrittenEntries::Written::is_of(const KeyValue& stored) const noexcept {
  return entry && entry->revision == stored.mod_revision && entry->key() == stored.key && value.view() == stored.value.view();
}

void WrittenEntries::release(const KeyValue& stored) {
  Written released;
  const std::lock_guard lock(mutex_of(stored.mod_revision));
  Written& place = place_of(stored.mod_revision);
  if (place.entry && place.entry->revision == stored.mod_revision && place.entry->key() == stored.key) std::swap(place, released);
}

}  // namespace backplane
