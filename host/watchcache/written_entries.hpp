// Entries of committed writes. The writer and the pump both need the entry of a write at about the same time; with this table, it is built
// once.
//
// Thread-safety: every method from any thread. While one thread builds an entry, another that needs the entry of the same write waits.
// Lifetime:      the table releases an entry when the second thread gets it, when the pump has published it, or when a later write replaces
//                it.
// Errors:        rethrows exceptions of `build`; then no entry is stored.
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
  // If the table has the entry of this key, revision and value, removes it from the table and returns it. Otherwise calls `build`, and
  // stores the entry for the second caller.
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
  // Removes the entry of the write: the cache has published it.
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

  std::array<std::mutex, kLocks> mutexes_;  // a write uses the mutex number (revision modulo kLocks) …
  std::array<Written, kMost> written_;      // … and the element number (revision modulo kMost)
};

}  // namespace backplane
