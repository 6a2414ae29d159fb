// Reads namespaces for admission plugins: from the cache, and from the store if the cache is stale.
//
// Thread-safety: any thread.
// Lifetime:      the services outlive the object; the object outlives the tasks that it returns.
#pragma once

#include "objects/cached_objects.hpp"

namespace backplane::admission::objects {

class Namespaces {
 public:
  // Call it in a make function. Starts an informer for namespaces.
  explicit Namespaces(Services& services) : host_(services.host()), lister_(services.lister({"", "v1", "namespaces"})) {}

  const Lister& lister() const noexcept { return lister_; }
  // Null if the cache is not complete or has no such namespace.
  ObjectRef cached(std::string_view name) const { return lister_.has_synced() ? lister_.find("", name) : nullptr; }
  // Waits for the cache; reads the store if the cache has no such namespace.
  // Errors: 403 if the cache is never complete; those of the store, kNotFound too.
  Task<Result<ObjectRef>> find(const AdmissionAttributes& attributes) const;

 private:
  Host& host_;
  const Lister lister_;
};

}  // namespace backplane::admission::objects
