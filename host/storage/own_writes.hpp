// The decoded values of this process's recent writes. When the watch returns the event of such a write (the same key and bytes), the value
// need not be decoded.
//
// Thread-safety: every method from any thread.
// Lifetime:      the oldest values are dropped when the limits (count and bytes) are exceeded.
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
  static constexpr std::size_t kMostBytes = 8 * 1024 * 1024;  // the total size of keys, stored values and decoded values

  // To be called before `stored` is written under `key`; `worked` is its decoded value.
  void note(std::string_view key, SharedBytes stored, SharedBytes worked);
  // Removes and returns the decoded value of `stored`; nullopt: it is unknown, or has been taken already.
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
  ByKey by_key_;   // the keys refer to the texts in writes_
  std::size_t bytes_ = 0;
};

}  // namespace backplane
