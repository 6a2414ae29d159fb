// The LimitRanges of a namespace: from the cache; if it has none, from the store, at most every 30 seconds for a namespace.
//
// Thread-safety: any thread.
// Lifetime:      the host outlives the object; the object outlives the tasks that it returns.
#pragma once

#include <chrono>
#include <mutex>

#include "common/services.hpp"
#include "objects/lru_cache.hpp"

namespace backplane::admission::pods {

class LimitRanges {
 public:
  using Items = std::vector<ObjectRef>;
  // Call it in a make function.
  explicit LimitRanges(Services& services);

  // Returns nullopt if the store must be read.
  std::optional<Items> known(const std::string& ns) const;
  // Reads the store and caches the result. Errors: those of the store.
  Task<Result<Items>> read(std::string ns) const;

 private:
  struct Read {
    std::chrono::steady_clock::time_point expires;
    Items items;
  };
  Host& host_;
  const Lister lister_;
  mutable std::mutex mutex_;
  mutable objects::LruCache<Read> reads_;
};

}  // namespace backplane::admission::pods
