// Entries of committed writes, so that the writer and the pump, which both need the entry of a write at about the same time, build it once.
//
// Thread-safety: every method from any thread. While one thread builds an entry, another that needs the entry of the same write waits.
// Lifetime:      an entry is released when the second side gets it, when the pump has published it, or when a later write replaces it.
// Errors:        those of the callback, which are rethrown; nothing is retained then.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include "backplane/core/object.hpp"
#include "backplane/points/storage.hpp"

namespace backplane {

class WrittenEntries {
 public:
  // The entry that the other side has built from the same bytes at the same revision; otherwise builds it with `build`, and the other side
  // gets it.
  template <class Build>
  ObjectRef get(const KeyValue& stored, const Build& build) {
    Written released;  // freed after the lock: locals are destroyed in reverse order
    const std::lock_guard lock(mutex_of(stored.mod_revision));
    Written& place = place_of(stored.mod_revision);
    if (place.is_of(stored)) {
      std::swap(place, released);
      return std::move(released.entry);
    }
    Written built{stored.value, build()};
    ObjectRef entry = built.entry;
    std::swap(place, built);
    released = std::move(built);
    return entry;
  }
  // The other side finds the entry in the cache from now on.
  void release(const KeyValue& stored);

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kLocks = 16;
  struct Written {
    SharedBytes value;
    ObjectRef entry;
    bool is_of(const KeyValue& stored) const noexcept;
  };
  Written& place_of(Revision revision) noexcept { return written_[static_cast<std::size_t>(revision) % kMost]; }
  std::mutex& mutex_of(Revision revision) noexcept { return mutexes_[static_cast<std::size_t>(revision) % kLocks]; }

  std::array<std::mutex, kLocks> mutexes_;  // of the places with the same remainder
  std::array<Written, kMost> written_;      // by revision, modulo
};

}  // namespace backplane
