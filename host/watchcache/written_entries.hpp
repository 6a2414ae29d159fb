// Entries of writes that the pump has not seen yet, so that it need not make them again.
//
// Thread-safety: every method from any thread.
// Lifetime:      an entry that is not taken goes with the bound.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "backplane/core/object.hpp"
#include "backplane/points/storage.hpp"

namespace backplane {

class WrittenEntries {
 public:
  // `entry` was made of `stored`.
  void note(const KeyValue& stored, ObjectRef entry);
  // The entry of the same bytes at the same revision, once; null: none is noted.
  ObjectRef take(const KeyValue& stored);

 private:
  static constexpr std::size_t kMost = 64;
  struct Written {
    SharedBytes value;
    ObjectRef entry;
  };

  std::mutex mutex_;
  std::array<Written, kMost> written_;  // by revision, modulo
};

}  // namespace backplane
