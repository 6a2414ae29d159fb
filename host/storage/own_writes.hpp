// Decoded values of recent writes, so that this process need not decode the events of these writes: an event with equal bytes belongs to
// the write.
//
// Thread-safety: every method from any thread.
// Lifetime:      a value that is not read is dropped when newer ones exceed the limits (count and bytes).
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backplane/core/bytes.hpp"

namespace backplane {

class OwnWrites {
 public:
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kMostBytes = 8 * 1024 * 1024;  // of keys, stored and decoded values

  // `stored` is about to be written under `key`; `worked` is its decoded value.
  void note(std::string_view key, SharedBytes stored, SharedBytes worked);
  // The decoded value of `stored`; a second call for the same write returns nothing.
  std::optional<SharedBytes> take(std::string_view key, const SharedBytes& stored);

 private:
  struct Write {
    std::string key;
    SharedBytes stored, worked;
    std::size_t bytes() const noexcept { return key.size() + stored.size() + worked.size(); }
  };
  using Writes = std::list<Write>;
  using ByKey = std::unordered_multimap<std::string_view, Writes::iterator>;
  SharedBytes remove(ByKey::iterator found);

  std::mutex mutex_;
  Writes writes_;  // oldest first
  ByKey by_key_;   // the keys are those of writes_
  std::size_t bytes_ = 0;
};

}  // namespace backplane
