// The keys of a resource's objects in the storage: "/registry/<prefix>/[namespace/]name".
//
// Thread-safety: immutable.
// Errors:        kBadRequest for names that cannot be a path segment, worded as registry.NamespaceKeyFunc.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "storage/object_keys.hpp"

namespace backplane::registry {

class StoreKeys {
 public:
  // `prefix` without slashes at its ends ("pods", "example.com/widgets").
  StoreKeys(std::string_view prefix, bool namespaced)
      : root_(std::string(kObjectKeyPrefix).append(prefix).append("/")), namespaced_(namespaced) {}

  const std::string& root() const noexcept { return root_; }
  bool namespaced() const noexcept { return namespaced_; }
  Result<std::string> key(std::string_view ns, std::string_view name) const;

  // The key as error texts show it. For a dry run it has no "/registry": upstream's backend adds that prefix, and a dry run does not call
  // it.
  static std::string_view shown(std::string_view key, bool dry_run) noexcept;

 private:
  std::string root_;
  bool namespaced_;
};

}  // namespace backplane::registry
