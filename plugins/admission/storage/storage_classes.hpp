// The cached StorageClasses, and the class of a claim.
//
// Thread-safety: any thread.
// Lifetime:      `services` outlive the object.
// Source:        kubernetes pkg/volume/util (storageclass.go); pkg/apis/core/v1/helper.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/services.hpp"

namespace backplane::admission::storage {

class StorageClasses {
 public:
  explicit StorageClasses(Services& services);
  // False while the first list runs. Returns true before all groups are served, so that writes of startup do not wait. Returns true if the
  // server does not serve StorageClasses.
  bool ready() const;
  // Waits up to ten seconds for ready(). After that the plugins use the incomplete cache, so that a failing list does not refuse claims.
  Task<void> wait_ready() const;
  // The newest class that is marked as the default; of several equally old classes, the first by name. nullopt if there is none.
  std::optional<std::string> default_class() const;
  bool allows_expansion(std::string_view name) const;

 private:
  Host& host_;
  const Lister classes_;
};

// True if the claim names a class, which may be the empty one.
bool has_class(const Object& claim);
// Empty if the claim names no class.
std::string_view class_of(const Object& claim);

}  // namespace backplane::admission::storage
