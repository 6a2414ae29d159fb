// The objects of a cache that cannot be read.  Lists and watches leave them out, as if they were not there; gets of them fail.
//
// Thread-safety: any thread.
// Lifetime:      the cache's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "watchcache/resource_cache.hpp"

namespace backplane {

// By key, with the reason.
using Unreadable = std::map<std::string, std::shared_ptr<const Status>, std::less<>>;

class UnreadableObjects {
 public:
  virtual ~UnreadableObjects() = default;
  // Those in the scope now.
  virtual Unreadable unreadable(const CacheScope& scope) const = 0;
  // What a list of the scope is refused with where it is not to leave them out (CacheOptions::names_unreadable); success: it may.
  virtual Status list_refusal(const CacheScope& scope) const = 0;
};

}  // namespace backplane
