// Decoded values of recent writes, so that this process need not decode the events of these writes: the
// bytes of an event are the write's when they are equal.
//
// Thread-safety: every method from any thread.
// Lifetime:      a value that is not taken is dropped when a newer one exceeds the bounds: count and bytes.
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
  static constexpr std::size_t kMostBytes = 8 * 1024 * 1024;  // keys and both forms

  // `stored` is about to be written under `key`; `worked` is its decoded value.
  void note(std::string_view key, SharedBytes stored, SharedBytes worked);
  // The other form of `stored`, once.
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
