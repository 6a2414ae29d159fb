// Which group versions and resources are on: the defaults and `--runtime-config`.
//
// Thread-safety: immutable after parse.
// Errors:        parse() reports every bad item at once; check() names what exists.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/host.hpp"

namespace backplane {

class ApiEnablement {
 public:
  // "apps/v1=false,api/beta=true": comma separated, a missing value is true; later items win over earlier ones of the same key.
  // Legacy keys: v1 and api/v1 mean the core group's v1; api/legacy is ignored.
  // Errors: kBadRequest naming each item that cannot be read; api/all=false alone is refused as upstream does.
  static Result<ApiEnablement> parse(std::string_view runtime_config);

  // GA versions are on, alpha and beta off, unless said otherwise: resource first, then version, then api/ga|beta|alpha, then api/all.
  bool version_enabled(const GroupVersion& version) const;
  bool resource_enabled(const GroupVersionResource& resource) const;

  // Errors: kBadRequest for groups, versions or resources of the configuration that no plugin offers; the message lists those that exist.
  Status check(const std::vector<GroupVersion>& known_versions, const std::vector<GroupVersionResource>& known_resources) const;

 private:
  std::map<std::string, bool> items_;  // normalized key → value
};

}  // namespace backplane
