// The most recently used data keys, by their encrypted form.
//
// Thread-safety: every method from any thread; one short lock for each.
// Lifetime:      a cipher that has been evicted lives as long as its users.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ciphers/cipher.hpp"

namespace backplane::encryption {

class KeyCache {
 public:
  // `most`: the maximum number of keys; 0: no key is cached.
  explicit KeyCache(std::size_t most) : most_(most) {}

  // Returns null if the key is not cached.
  CipherRef find(std::string_view key);
  // Returns the number of keys in the cache.
  std::size_t insert(std::string key, CipherRef cipher);
  std::size_t most() const noexcept { return most_; }

 private:
  struct Entry {
    std::string key;
    CipherRef cipher;
  };
  using Entries = std::list<Entry>;  // the most recently used first

  const std::size_t most_;
  std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator> by_key_;  // views of Entry::key
};

}  // namespace backplane::encryption
