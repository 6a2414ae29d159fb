// The enabled group versions and resources, by the defaults, `--runtime-config`, and the emulated release.
//
// Thread-safety: immutable after parse.
// Errors:        parse() reports all invalid items together; the error of check() lists the group versions and resources that exist.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/host.hpp"
#include "backplane/types/api_lifecycle.hpp"

namespace backplane {

// --emulated-version and the flags that relax it.
struct EmulatedApis {
  ApiRelease release = kApiRelease;
  // A later version of a resource is on if an earlier one, not an alpha, is.
  bool forward_compatible = false;
  // Versions and resources that --runtime-config names are on, whenever they were introduced.
  bool runtime_config_forward_compatible = false;
};

class ApiEnablement {
 public:
  // "apps/v1=false,api/beta=true": comma separated, a missing value is true; later items win over earlier ones of the same key.
  // Legacy keys: v1 and api/v1 mean the core group's v1; api/legacy is ignored.
  // Errors: kBadRequest naming each item that cannot be read; api/all=false alone is refused as upstream does.
  static Result<ApiEnablement> parse(std::string_view runtime_config, const EmulatedApis& emulated = {});

  // GA versions are on, alpha and beta off, unless set: resource first, then version, then api/ga|beta|alpha, then api/all. The group
  // plugins.backplane.dev is on only if its version is set. Resources that the emulated release does not have are off.
  bool version_enabled(const GroupVersion& version) const;
  bool resource_enabled(const GroupVersionResource& resource) const;

  // Errors: kBadRequest for groups, versions or resources of the configuration that no plugin offers; the message lists those that exist.
  // For those that the emulated release does not have: upstream's text.
  Status check(const std::vector<GroupVersion>& known_versions, const std::vector<GroupVersionResource>& known_resources) const;

 private:
  bool configured(const GroupVersionResource& resource) const;
  bool named(const std::string& key) const;
  bool emulated(const GroupVersionResource& resource) const;
  bool earlier_version_enabled(const GroupVersionResource& resource) const;
  std::string too_new(const std::vector<GroupVersionResource>& known_resources) const;

  EmulatedApis emulated_;
  std::map<std::string, bool> items_;  // normalized key → value
};

}  // namespace backplane
